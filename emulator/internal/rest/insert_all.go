package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/timeline"
)

// tabledata: insertAll
//
// Behavior:
//   - A row is a JSON object; names are of any case. Numbers may come as strings, and
//     keep all their digits; BYTES are base64; a TIMESTAMP is text with a zone, or seconds
//     since the epoch; JSON is its text in a string, or the value itself; RANGE is
//     "[…, …)" or {"start", "end"}. A column that is missing gets its default value.
//   - The answer is 200 also where rows are wrong: insertErrors has their index, and
//     nothing is stored, all other rows being stopped, unless skipInvalidRows.
//     ignoreUnknownValues drops fields that the table doesn't have.
//   - A row with the insertId of one that came within a minute isn't stored again: best
//     effort, as BigQuery documents it.
//   - table$20261004 names a partition: it must be one of the last 31 days or the next
//     16, and the table partitioned; the rows aren't held against it.
//   - The rows are plain rows, like those of an INSERT; they show at once. A table that
//     takes changes by primary key takes them too.
//   - At most 50,000 rows a request, BigQuery's limit. templateSuffix is 501.

const maxInsertRows = 50_000

// insertAnswer is TableDataInsertAllResponse; Google's struct leaves index 0 out.
type insertAnswer struct {
	Kind   string        `json:"kind"`
	Errors []insertError `json:"insertErrors,omitempty"`
}

type insertError struct {
	Index  int          `json:"index"`
	Errors []rowProblem `json:"errors"`
}

type rowProblem struct {
	Reason    string `json:"reason"`
	Location  string `json:"location"`
	DebugInfo string `json:"debugInfo"`
	Message   string `json:"message"`
}

type insertRequest struct {
	Rows []struct {
		InsertID string          `json:"insertId"`
		JSON     json.RawMessage `json:"json"`
	} `json:"rows"`
	SkipInvalidRows     bool   `json:"skipInvalidRows"`
	IgnoreUnknownValues bool   `json:"ignoreUnknownValues"`
	TemplateSuffix      string `json:"templateSuffix"`
}

func (s *Service) insertAll(r *http.Request) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	ref := tableOf(r)
	table, partition, decorated := strings.Cut(ref.Table, "$")
	ref.Table = table
	answer, rows, err := s.insertRows(r.Context(), ref, body, partition, decorated)
	code := "OK"
	switch {
	case err != nil:
		code = timelineCode(err)
	case len(answer.Errors) > 0:
		code = "INVALID_ARGUMENT"
	}
	key := timeline.Key{Project: ref.Project, Dataset: ref.Dataset, Table: ref.Table, ErrorCode: code}
	s.options.Streams.Add(s.options.Now(), key, rows, int64(len(body)))
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// timelineCode is an error as STREAMING_TIMELINE counts it.
func timelineCode(err error) string {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Status
	}
	return "INTERNAL"
}

// insertRows stores a request's rows. It returns how many the request has.
func (s *Service) insertRows(ctx context.Context, ref engine.TableRef, body []byte, partition string, decorated bool) (*insertAnswer, int64, error) {
	var request insertRequest
	if err := unmarshalAsIs(body, &request); err != nil {
		return nil, 0, err
	}
	rows := int64(len(request.Rows))
	switch {
	case request.TemplateSuffix != "":
		return nil, rows, engine.Unimplemented("templateSuffix is not implemented by this emulator")
	case rows == 0:
		return nil, 0, engine.Invalid("No rows present in the request.")
	case rows > maxInsertRows:
		return nil, rows, engine.Invalid("Too many rows present in the request, limit: %d row count: %d.", maxInsertRows, rows)
	}
	for {
		t, err := s.engine.Table(ref)
		if err != nil {
			return nil, rows, err
		}
		if t.IsView() {
			return nil, rows, engine.Invalid("Cannot add rows to a table of type VIEW.")
		}
		if decorated {
			if err := checkPartition(t, partition, s.options.Now()); err != nil {
				return nil, rows, err
			}
		}
		answer, err := s.storeRows(ctx, t, &request)
		switch {
		case errors.Is(err, engine.ErrSchemaChanged): // between reading the rows and storing them
			continue
		case errors.Is(err, engine.ErrTableDropped):
			err = engine.NotFound("Not found: Table %s", ref)
		}
		return answer, rows, err
	}
}

func (s *Service) storeRows(ctx context.Context, t *engine.Table, request *insertRequest) (*insertAnswer, error) {
	schema, now := t.Schema(), s.options.Now()
	if len(schema.Columns) == 0 {
		return nil, engine.Invalid("The destination table has no schema.")
	}
	reader := &rowReader{columns: schema.Columns, ignoreUnknown: request.IgnoreUnknownValues}
	batch := s.engine.NewBatch(t, schema, false, len(request.Rows))
	answer := &insertAnswer{Kind: "bigquery#tableDataInsertAllResponse"}
	var claimed []insertID
	bad := map[int]bool{}
	stored := 0
	for i, row := range request.Rows {
		values, missing, err := reader.row(row.JSON)
		key := insertID{t.Ref(), row.InsertID}
		if err == nil && row.InsertID != "" && !s.inserted.claim(key, now) {
			continue
		}
		if err == nil {
			if row.InsertID != "" {
				claimed = append(claimed, key)
			}
			batch.UseDefaults(missing)
			err = batch.Add(values, engine.Sequence{}, false)
		}
		if err != nil {
			bad[i] = true
			answer.Errors = append(answer.Errors, insertError{i, []rowProblem{problemOf(err)}})
			continue
		}
		stored++
	}
	if len(bad) > 0 && !request.SkipInvalidRows {
		s.inserted.release(claimed)
		answer.Errors = stopped(answer.Errors, bad, len(request.Rows))
		return answer, nil
	}
	if stored == 0 {
		return answer, nil
	}
	err := s.engine.Append(ctx, batch)
	if err == nil {
		err = batch.Wait(ctx)
	}
	if err != nil {
		s.inserted.release(claimed)
		return nil, err
	}
	return answer, nil
}

// stopped adds the rows that nothing is wrong with to those that something is.
func stopped(wrong []insertError, bad map[int]bool, rows int) []insertError {
	all := make([]insertError, 0, rows)
	for i := range rows {
		if bad[i] {
			all, wrong = append(all, wrong[0]), wrong[1:]
			continue
		}
		all = append(all, insertError{i, []rowProblem{{Reason: "stopped"}}})
	}
	return all
}

func problemOf(err error) rowProblem {
	if f, ok := errors.AsType[*fieldError](err); ok {
		return rowProblem{Reason: "invalid", Location: f.path, Message: f.message}
	}
	return rowProblem{Reason: "invalid", Message: err.Error()}
}

// Streaming by a partition decorator: "the documented window is 31 days in the past to
// 16 days in the future".
const (
	partitionDaysBack  = 31
	partitionDaysAhead = 16
)

// checkPartition refuses a decorator that names no partition which may be streamed to.
func checkPartition(t *engine.Table, partition string, now time.Time) error {
	layouts := map[string]string{"HOUR": "2006010215", "DAY": "20060102", "MONTH": "200601", "YEAR": "2006"}
	p := t.Resource().TimePartitioning
	if p == nil {
		return engine.Invalid("Streaming to a partition of table %s is not allowed: it is not partitioned by time", t.Ref())
	}
	kind := cmp.Or(p.Type, "DAY")
	at, err := time.Parse(layouts[kind], partition)
	if err != nil {
		return engine.Invalid("Invalid partition of table %s: %q is no %s", t.Ref(), engine.Clip(partition), strings.ToLower(kind))
	}
	today := now.UTC().Truncate(24 * time.Hour)
	// The partition's last day, and its first, are what may be too far away.
	last := at.Truncate(24 * time.Hour)
	switch kind {
	case "MONTH":
		last = at.AddDate(0, 1, -1)
	case "YEAR":
		last = at.AddDate(1, 0, -1)
	}
	if last.Before(today.AddDate(0, 0, -partitionDaysBack)) || at.After(today.AddDate(0, 0, partitionDaysAhead+1).Add(-1)) {
		return engine.Invalid("The destination table's partition %s is outside the allowed bounds. You can only stream to partitions within %d days in the past and %d days in the future relative to the current date.",
			t.Ref().String()+"$"+engine.Clip(partition), partitionDaysBack, partitionDaysAhead)
	}
	return nil
}
