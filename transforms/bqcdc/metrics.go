package bqcdc

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
)

const namespace = "bqcdc"

// The metrics of this stage. Rows are counted once, when they have come to rest:
// rows_upserted + rows_deleted + rows_rejected + rows_superseded is the number of
// changes that came in as rows (invariant 4).
var (
	rowsUpserted    = beam.NewCounter(namespace, "rows_upserted")    // acknowledged UPSERTs
	rowsDeleted     = beam.NewCounter(namespace, "rows_deleted")     // acknowledged DELETEs
	rowsRejected    = beam.NewCounter(namespace, "rows_rejected")    // made dead letters
	rowsSuperseded  = beam.NewCounter(namespace, "rows_superseded")  // changes that a row stood for besides its own
	bytesAppended   = beam.NewCounter(namespace, "bytes_appended")   // encoded bytes of acknowledged rows
	bytesSuperseded = beam.NewCounter(namespace, "bytes_superseded") // encoded bytes that were never sent
	requests        = beam.NewCounter(namespace, "requests")         // acknowledged appends

	appendLatency = beam.NewDistribution(namespace, "append_latency_ms") // from sending to acknowledgement, of the try that succeeded
	requestBytes  = beam.NewDistribution(namespace, "request_bytes")     // encoded rows of an acknowledged append
	requestRows   = beam.NewDistribution(namespace, "request_rows")

	// repeats counts appends that were sent again, by what the try came to.
	repeats = func() (counters [outcomes]beam.Counter) {
		for o, name := range outcomeNames {
			counters[o] = beam.NewCounter(namespace, "repeats_"+name)
		}
		return counters
	}()
)

// count reports a request's figures. ctx is the DoFn's.
func count(ctx context.Context, r *result) {
	var upserts, deletes, superseded, bytes, bytesSaved int64
	for _, rows := range r.acknowledged {
		for i := range rows {
			row := &rows[i]
			if row.kind == change.Delete {
				deletes++
			} else {
				upserts++
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
		{rowsUpserted, upserts},
		{rowsDeleted, deletes},
		{rowsRejected, int64(len(r.rejected))},
		{rowsSuperseded, superseded},
		{bytesAppended, bytes},
		{bytesSuperseded, bytesSaved},
		{requests, int64(len(r.appends))},
	} {
		if one.n != 0 {
			one.counter.Inc(ctx, one.n)
		}
	}
	for o, n := range r.repeats {
		if n != 0 {
			repeats[o].Inc(ctx, int64(n))
		}
	}
	for _, a := range r.appends {
		appendLatency.Update(ctx, a.latency.Milliseconds())
		requestBytes.Update(ctx, int64(a.bytes))
		requestRows.Update(ctx, int64(a.rows))
	}
}
