package conformance

import (
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/bigquery"
)

// saver is a row of the streaming REST method.
type saver struct {
	insertID string
	row      map[string]bigquery.Value
}

func (s saver) Save() (row map[string]bigquery.Value, insertID string, err error) {
	return s.row, s.insertID, nil
}

func order(insertID string, id int, v string) saver {
	return saver{insertID, map[string]bigquery.Value{"id": id, "v": v}}
}

// put streams rows by REST, all of which must be taken.
func (r *run) put(table string, rows ...saver) {
	r.must(r.handle(table).Inserter().Put(r.ctx, rows), "inserting into "+table)
}

// rejected are the indexes of the rows that an insert refused, each with an error.
func (r *run) rejected(err error) []int {
	var many bigquery.PutMultiError
	if err == nil {
		return nil
	}
	if !errors.As(err, &many) {
		r.fatalf("inserting: %v", err)
	}
	var indexes []int
	for _, row := range many {
		indexes = append(indexes, row.RowIndex)
		if len(row.Errors) == 0 {
			r.errorf("row %d was refused without a reason", row.RowIndex)
		}
	}
	return indexes
}

// restCases are about tabledata.insertAll.
var restCases = []testCase{
	{
		name: "REST: rows are visible",
		cites: []string{
			"You post up to a few hundred rows per request, each optionally carrying an insertId.",
			"Streaming trades that for row-level freshness: once a write is acknowledged, a query can see the row.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			r.put("t", order("one", 1, "a"), order(bigquery.NoDedupeID, 2, "b"))
			r.want("t", "1 a", "2 b")
			var many []saver
			for i := range 300 {
				many = append(many, order(fmt.Sprint("many-", i), 3, "c"))
			}
			r.put("t", many...)
			r.wantQuery("SELECT COUNT(*) FROM {t}", "302")
		},
	},
	{
		name: "REST: the answer tells of the rows that failed",
		cites: []string{
			"The response is HTTP 200 even when some rows failed, so the first rule of using it is to read insertErrors on every response.",
			"Each entry gives the index of the failed row and a reason.",
			"The REST call returns success while some rows were rejected.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			err := r.handle("t").Inserter().Put(r.ctx, []saver{order("a", 1, "a"), {"b", map[string]bigquery.Value{"id": "no number"}}})
			if got := fmt.Sprint(r.rejected(err)); got != "[1]" && got != "[0 1]" && got != "[1 0]" {
				r.errorf("the refused rows are %s, want row 1", got)
			}
			r.want("t") // one bad row stops the others, unless they are asked to go through
		},
	},
	{
		name: "REST: skipInvalidRows",
		cites: []string{
			"Two flags, skipInvalidRows and ignoreUnknownValues, let valid rows through and drop unknown fields; both are convenient and both hide data problems.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			inserter := r.handle("t").Inserter()
			inserter.SkipInvalidRows = true
			err := inserter.Put(r.ctx, []saver{order("a", 1, "a"), {"b", map[string]bigquery.Value{"id": "no number"}}, order("c", 3, "c")})
			if got := fmt.Sprint(r.rejected(err)); got != "[1]" {
				r.errorf("the refused rows are %s, want row 1 alone", got)
			}
			r.want("t", "1 a", "3 c")
		},
	},
	{
		name: "REST: ignoreUnknownValues",
		cites: []string{
			"Two flags, skipInvalidRows and ignoreUnknownValues, let valid rows through and drop unknown fields; both are convenient and both hide data problems.",
			"A producer adds a field; with ignoreUnknownValues it is silently dropped, and without it every row fails.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			rows := []saver{{"a", map[string]bigquery.Value{"id": 1, "v": "a", "added": true}}, {"b", map[string]bigquery.Value{"id": 2, "added": 7}}}
			if got := len(r.rejected(r.handle("t").Inserter().Put(r.ctx, rows))); got != 2 {
				r.errorf("%d rows with an unknown field were refused, want every row", got)
			}
			r.want("t")
			inserter := r.handle("t").Inserter()
			inserter.IgnoreUnknownValues = true
			r.must(inserter.Put(r.ctx, rows), "inserting with ignoreUnknownValues")
			r.want("t", "1 a", "2 NULL")
		},
	},
	{
		name: "REST: an insertId drops a row's repetition for a minute",
		cites: []string{
			"The insertId is the only duplicate protection on this path.",
			"BigQuery uses it to try to drop a repeated row that arrives within about one minute of the first; the documentation is explicit that this is best-effort and duplicates may still appear.",
			"And any retry that happens more than a minute later, for example after a process restart replays a queue, will produce a duplicate.",
			"The ID must be derived from the event itself, so that a retry carries the same ID; generating a fresh UUID per attempt disables deduplication entirely.",
			"Retries become duplicates because the IDs never match.",
		},
		emulatorOnly: true, // best effort, and a clock to step
		run: func(r *run) {
			r.create("t", orderColumns)
			r.put("t", order("event-1", 1, "a"))
			r.put("t", order("event-1", 1, "a"))
			r.want("t", "1 a")
			r.put("t", order("attempt-1", 2, "b"))
			r.put("t", order("attempt-2", 2, "b"))
			r.want("t", "1 a", "2 b", "2 b")
			r.advance(2 * time.Minute)
			r.put("t", order("event-1", 1, "a"))
			r.want("t", "1 a", "1 a", "2 b", "2 b")
		},
	},
	{
		name: "REST: the partition of fresh rows isn't assigned",
		cites: []string{
			"In an ingestion-time partitioned table, freshly streamed rows show NULL in _PARTITIONTIME until BigQuery assigns them, typically within minutes and in rare cases up to 90 minutes, so a query filtered on today's partition can miss rows that a full scan sees.",
		},
		emulatorOnly: true, // when it is assigned is BigQuery's
		run: func(r *run) {
			r.createWith("t", orderColumns, &bigquery.TableMetadata{TimePartitioning: &bigquery.TimePartitioning{Type: bigquery.DayPartitioningType}})
			r.put("t", order("a", 1, "a"))
			r.wantQuery("SELECT id, _PARTITIONTIME FROM {t}", "1 NULL")
			r.advance(90 * time.Minute)
			r.wantQuery("SELECT COUNT(*) FROM {t} WHERE _PARTITIONTIME IS NOT NULL", "1")
		},
	},
	{
		name: "REST: a partition decorator's window",
		cites: []string{
			"And when you target a specific daily partition with a decorator such as events$20261004, the documented window is 31 days in the past to 16 days in the future.",
		},
		run: func(r *run) {
			r.createWith("t", orderColumns, &bigquery.TableMetadata{TimePartitioning: &bigquery.TimePartitioning{Type: bigquery.DayPartitioningType}})
			today := time.Now().UTC()
			for _, test := range []struct {
				days  int
				taken bool
			}{{0, true}, {-30, true}, {15, true}, {-33, false}, {18, false}} {
				name := r.id("t") + "$" + today.AddDate(0, 0, test.days).Format("20060102")
				err := r.bq.Dataset(r.dataset).Table(name).Inserter().Put(r.ctx, order(fmt.Sprint("id", test.days), test.days, "x"))
				if err != nil && notThere(err) {
					r.fatalf("inserting into a partition: %v", err)
				}
				if (err == nil) != test.taken {
					r.errorf("a row for the partition %d days from today: error %v, want it taken: %v", test.days, err, test.taken)
				}
			}
		},
	},
}
