package bqcdc

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
)

// figures are the metrics of one writer, in a namespace of its own. Rows are counted
// once, when they have come to rest: rows_upserted + rows_deleted + rows_rejected +
// rows_superseded is the number of changes that came in as CDC rows (invariant 4), and
// rows_appended + rows_rejected that of plain rows.
type figures struct {
	rowsUpserted    beam.Counter // acknowledged UPSERTs
	rowsDeleted     beam.Counter // acknowledged DELETEs
	rowsTruncated   beam.Counter // of rowsDeleted, UPSERTs from before a truncate of their table
	rowsAppended    beam.Counter // acknowledged plain rows
	rowsRejected    beam.Counter // made dead letters
	rowsHeld        beam.Counter // made to wait until BigQuery's writers know their schema; they count again when they come to rest
	rowsSuperseded  beam.Counter // changes that a row stood for besides its own
	bytesAppended   beam.Counter // encoded bytes of acknowledged rows
	bytesSuperseded beam.Counter // encoded bytes that were never sent
	requests        beam.Counter // acknowledged appends

	appendLatency beam.Distribution // from sending to acknowledgement, of the try that succeeded
	requestBytes  beam.Distribution // encoded rows of an acknowledged append
	requestRows   beam.Distribution

	// repeats count appends that were sent again, by what the try came to.
	repeats [outcomes]beam.Counter
}

func newFigures(namespace string) *figures {
	f := &figures{
		rowsUpserted:    beam.NewCounter(namespace, "rows_upserted"),
		rowsDeleted:     beam.NewCounter(namespace, "rows_deleted"),
		rowsTruncated:   beam.NewCounter(namespace, "rows_truncated"),
		rowsAppended:    beam.NewCounter(namespace, "rows_appended"),
		rowsRejected:    beam.NewCounter(namespace, "rows_rejected"),
		rowsHeld:        beam.NewCounter(namespace, "rows_held"),
		rowsSuperseded:  beam.NewCounter(namespace, "rows_superseded"),
		bytesAppended:   beam.NewCounter(namespace, "bytes_appended"),
		bytesSuperseded: beam.NewCounter(namespace, "bytes_superseded"),
		requests:        beam.NewCounter(namespace, "requests"),
		appendLatency:   beam.NewDistribution(namespace, "append_latency_ms"),
		requestBytes:    beam.NewDistribution(namespace, "request_bytes"),
		requestRows:     beam.NewDistribution(namespace, "request_rows"),
	}
	for o, name := range outcomeNames {
		f.repeats[o] = beam.NewCounter(namespace, "repeats_"+name)
	}
	return f
}

// count reports a request's figures. ctx is the DoFn's.
func (f *figures) count(ctx context.Context, r *result) {
	var upserts, deletes, truncated, appends, superseded, bytes, bytesSaved int64
	for _, rows := range r.acknowledged {
		for i := range rows {
			row := &rows[i]
			switch row.kind {
			case change.Delete:
				deletes++
			case change.Upsert:
				upserts++
			default:
				appends++
			}
			if row.fenced != nil && row.fenced.raised {
				truncated++
			}
			bytes += int64(len(row.data))
			superseded += int64(row.superseded)
			bytesSaved += int64(row.supersededBytes)
		}
	}
	for i := range r.rejected {
		row := &r.rejected[i]
		superseded += int64(row.superseded)
		bytesSaved += int64(row.supersededBytes)
	}
	for _, one := range []struct {
		counter beam.Counter
		n       int64
	}{
		{f.rowsUpserted, upserts},
		{f.rowsDeleted, deletes},
		{f.rowsTruncated, truncated},
		{f.rowsAppended, appends},
		{f.rowsRejected, int64(len(r.rejected))},
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
}
