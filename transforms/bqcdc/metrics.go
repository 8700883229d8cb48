package bqcdc

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/transforms/metric"
)

// figures are the metrics of one writer, in a namespace of its own. Rows are counted
// once, when they have come to rest: rows_upserted + rows_deleted + rows_rejected +
// rows_superseded is the number of changes that came in as CDC rows (invariant 4), and
// rows_appended + rows_rejected that of plain rows. rows_by_table is the same by table.
type figures struct {
	rowsUpserted    beam.Counter
	rowsDeleted     beam.Counter
	rowsTruncated   beam.Counter
	rowsAppended    beam.Counter
	rowsRejected    beam.Counter
	rowsHeld        beam.Counter
	rowsSuperseded  beam.Counter
	bytesAppended   beam.Counter
	bytesSuperseded beam.Counter
	requests        beam.Counter

	appendLatency    *metric.Histogram
	requestBytes     beam.Distribution
	requestRows      beam.Distribution
	publishLag       *metric.Histogram
	commitLag        *metric.Histogram
	inflightRequests beam.Distribution
	inflightBytes    beam.Distribution

	rowsByTable *metric.Counters       // by change type, what became of them, and table
	repeats     [outcomes]beam.Counter // appends that were sent again, by what the try came to
}

// inflight is what the process has sent, or waits to send again, and BigQuery has not
// acknowledged; the bytes are those that [Config.MaxInflightBytes] bounds.
var inflight struct{ requests, bytes atomic.Int64 }

// What became of rows: values of a label of rows_by_table.
const (
	rowAcknowledged = "acknowledged"
	rowRejected     = "rejected"
	rowSuperseded   = "superseded"
)

func init() {
	n := metric.In(defaultNamespace)
	n.LiveGauge("outstanding_requests", metric.Requests, "Appends of all writers that BigQuery has not answered, or that wait to be sent again.", inflight.requests.Load)
	n.LiveGauge("outstanding_bytes", metric.Bytes, "What the requests of outstanding_requests hold in memory.", inflight.bytes.Load)
	Declare(defaultNamespace)
}

// Declare declares the metrics of a writer of this namespace, so that they are known
// before there is one.
func Declare(namespace string) { newFigures(namespace) }

func newFigures(namespace string) *figures {
	n := metric.In(namespace)
	f := &figures{
		rowsUpserted:    n.Counter("rows_upserted", metric.Rows, "UPSERT rows that BigQuery acknowledged."),
		rowsDeleted:     n.Counter("rows_deleted", metric.Rows, "DELETE rows that BigQuery acknowledged, and rows that a truncate left nothing of."),
		rowsTruncated:   n.Counter("rows_truncated", metric.Rows, "Of rows_deleted, UPSERTs from before a truncate of their table."),
		rowsAppended:    n.Counter("rows_appended", metric.Rows, "Plain rows that BigQuery acknowledged."),
		rowsRejected:    n.Counter("rows_rejected", metric.Rows, "Rows that can't be written, and became dead letters."),
		rowsHeld:        n.Counter("rows_held", metric.Rows, "Rows made to wait beside their bundle, until BigQuery's writers know their table's new columns or until it takes the table's rows again; they count again when they come to rest."),
		rowsSuperseded:  n.Counter("rows_superseded", metric.Changes, "Changes that a row stood for besides its own, when it came to rest."),
		bytesAppended:   n.Counter("bytes_appended", metric.Bytes, "Encoded bytes of the rows that BigQuery acknowledged."),
		bytesSuperseded: n.Counter("bytes_superseded", metric.Bytes, "Encoded bytes of superseded rows, which were never sent."),
		requests:        n.Counter("requests", metric.Requests, "Appends that BigQuery acknowledged."),

		appendLatency:    n.Histogram("append_latency_ms", metric.Milliseconds, "From sending an append to its acknowledgement, of the try that succeeded.", metric.Latencies),
		requestBytes:     n.Distribution("request_bytes", metric.Bytes, "Encoded rows of an acknowledged append."),
		requestRows:      n.Distribution("request_rows", metric.Rows, "Rows of an acknowledged append."),
		publishLag:       n.Histogram("publish_lag_ms", metric.Milliseconds, "From the publishing of a row's message to BigQuery's acknowledgement of the row. Replayed dead letters don't count.", metric.Latencies),
		commitLag:        n.Histogram("commit_lag_ms", metric.Milliseconds, "From the source's commit to BigQuery's acknowledgement of the row, where the change tells its commit time. Replayed dead letters don't count.", metric.Latencies),
		inflightRequests: n.Distribution("inflight_requests", metric.Requests, "Appends of all writers of the process that were in flight when one was answered."),
		inflightBytes:    n.Distribution("inflight_bytes", metric.Bytes, "What the appends of inflight_requests held in memory."),

		rowsByTable: n.Counters("rows_by_table", metric.Rows, "Rows that came to rest: acknowledged, rejected, or superseded, which are changes, by the type of the row that stood for them.",
			"change_type", "outcome", "table"),
	}
	repeats := n.Counters("repeats", metric.Requests, "Appends that were sent again, by what the try before came to.", "outcome")
	for o, name := range outcomeNames {
		f.repeats[o] = repeats.With(name)
	}
	return f
}

// rowsOfTable counts rows of a change type.
type rowsOfTable struct{ acknowledged, rejected, superseded int64 }

// typeNames are the values of a label of rows_by_table.
var typeNames = [...]string{"upsert", "delete", "append"}

func typeIndex(t change.Type) int {
	switch t {
	case change.Upsert:
		return 0
	case change.Delete:
		return 1
	default:
		return 2
	}
}

// count reports a request's figures. ctx is the DoFn's.
func (f *figures) count(ctx context.Context, r *result) {
	at := r.answered
	if at.IsZero() {
		at = time.Now()
	}
	var by [len(typeNames)]rowsOfTable
	var truncated, bytes, bytesSaved int64
	var lags struct{ publish, commit metric.Tally }
	for _, rows := range r.acknowledged {
		for i := range rows {
			row := &rows[i]
			if row.fenced != nil && row.fenced.raised {
				truncated++
			}
			of := &by[typeIndex(row.kind)]
			of.acknowledged++
			bytes += int64(row.size)
			if few := row.rare; few != nil {
				of.superseded += int64(few.superseded)
				bytesSaved += int64(few.supersededBytes)
				if few.replays > 0 {
					continue
				}
			}
			// Clocks of other machines may be ahead of this one.
			if row.published != 0 {
				lags.publish.Add(ctx, f.publishLag, max(0, at.UnixNano()-row.published)/int64(time.Millisecond))
			}
			if row.committed != 0 {
				lags.commit.Add(ctx, f.commitLag, max(0, at.UnixMilli()-row.committed))
			}
		}
	}
	lags.publish.Flush(ctx, f.publishLag)
	lags.commit.Flush(ctx, f.commitLag)
	for i := range r.rejected {
		row := &r.rejected[i]
		of := &by[typeIndex(row.kind)]
		few := row.rarely()
		of.rejected++
		of.superseded += int64(few.superseded)
		bytesSaved += int64(few.supersededBytes)
	}
	var rejected, superseded int64
	for t := range by {
		of := &by[t]
		rejected += of.rejected
		superseded += of.superseded
		for _, one := range [...]struct {
			outcome string
			n       int64
		}{{rowAcknowledged, of.acknowledged}, {rowRejected, of.rejected}, {rowSuperseded, of.superseded}} {
			if one.n != 0 {
				f.rowsByTable.With(typeNames[t], one.outcome, r.table).Inc(ctx, one.n)
			}
		}
	}
	for _, one := range []struct {
		counter beam.Counter
		n       int64
	}{
		{f.rowsUpserted, by[0].acknowledged},
		{f.rowsDeleted, by[1].acknowledged},
		{f.rowsAppended, by[2].acknowledged},
		{f.rowsTruncated, truncated},
		{f.rowsRejected, rejected},
		{f.rowsSuperseded, superseded},
		{f.bytesAppended, bytes},
		{f.bytesSuperseded, bytesSaved},
		{f.requests, int64(len(r.appends))},
	} {
		if one.n != 0 {
			one.counter.Inc(ctx, one.n)
		}
	}
	for o, n := range r.repeats {
		if n != 0 {
			f.repeats[o].Inc(ctx, int64(n))
		}
	}
	for _, a := range r.appends {
		f.appendLatency.Update(ctx, a.latency.Milliseconds())
		f.requestBytes.Update(ctx, int64(a.bytes))
		f.requestRows.Update(ctx, int64(a.rows))
	}
	if len(r.appends) > 0 {
		f.inflightRequests.Update(ctx, r.inflightRequests)
		f.inflightBytes.Update(ctx, r.inflightBytes)
	}
}
