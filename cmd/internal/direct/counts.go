package direct

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
)

// Counts say what became of the messages of a run. Nothing vanishes (invariant
// 4), which [Counts.Balanced] checks:
//
//	messages + extra_changes + key_changes =
//	    rows_upserted + rows_deleted + superseded + filtered + control + dead_letters
//
// A message that Pub/Sub delivers twice is two messages here.
type Counts struct {
	Messages     int64 `json:"messages"`      // deliveries that were decoded
	ExtraChanges int64 `json:"extra_changes"` // changes beyond the first of their message
	KeyChanges   int64 `json:"key_changes"`   // changes of a row's key: two rows, a DELETE and an UPSERT

	RowsUpserted int64 `json:"rows_upserted"` // UPSERT rows that BigQuery acknowledged
	RowsDeleted  int64 `json:"rows_deleted"`  // DELETE rows that BigQuery acknowledged
	Superseded   int64 `json:"superseded"`    // changes that a later one of their key and window stood for
	Filtered     int64 `json:"filtered"`      // changes that the configuration leaves out
	Control      int64 `json:"control"`       // heartbeats, transaction marks, schema notices, tombstones, …
	DeadLetters  int64 `json:"dead_letters"`

	BytesAppended   int64 `json:"bytes_appended"`   // encoded bytes of the acknowledged rows
	BytesSuperseded int64 `json:"bytes_superseded"` // encoded bytes that were never sent
	Requests        int64 `json:"requests"`         // appends that BigQuery acknowledged
	ValuesAdjusted  int64 `json:"values_adjusted"`  // values replaced by their column's policy
}

// countsOf reads the counts from a job's metrics.
func countsOf(results metrics.QueryResults) Counts {
	var c Counts
	var decoded, events int64
	for _, counter := range results.Counters() {
		switch name := counter.Key.Namespace + "." + counter.Key.Name; name {
		case "decode.messages":
			c.Messages += counter.Committed
		case "decode.decoded":
			decoded += counter.Committed
		case "decode.events":
			events += counter.Committed
		case "keyed.key_changes":
			c.KeyChanges += counter.Committed
		case "keyed.filtered":
			c.Filtered += counter.Committed
		case "keyed.values_adjusted":
			c.ValuesAdjusted += counter.Committed
		case "bqcdc.rows_upserted":
			c.RowsUpserted += counter.Committed
		case "bqcdc.rows_deleted":
			c.RowsDeleted += counter.Committed
		case "bqcdc.rows_superseded":
			c.Superseded += counter.Committed
		case "bqcdc.bytes_appended":
			c.BytesAppended += counter.Committed
		case "bqcdc.bytes_superseded":
			c.BytesSuperseded += counter.Committed
		case "bqcdc.requests":
			c.Requests += counter.Committed
		case "deadletter.letters":
			c.DeadLetters += counter.Committed
		default:
			if isControl(name) {
				c.Control += counter.Committed
			}
		}
	}
	c.ExtraChanges = events - decoded
	return c
}

func isControl(name string) bool {
	const prefix = "decode.control_"
	return len(name) > len(prefix) && name[:len(prefix)] == prefix
}

// Add adds the counts of another run.
func (c *Counts) Add(o Counts) {
	c.Messages += o.Messages
	c.ExtraChanges += o.ExtraChanges
	c.KeyChanges += o.KeyChanges
	c.RowsUpserted += o.RowsUpserted
	c.RowsDeleted += o.RowsDeleted
	c.Superseded += o.Superseded
	c.Filtered += o.Filtered
	c.Control += o.Control
	c.DeadLetters += o.DeadLetters
	c.BytesAppended += o.BytesAppended
	c.BytesSuperseded += o.BytesSuperseded
	c.Requests += o.Requests
	c.ValuesAdjusted += o.ValuesAdjusted
}

// Balanced reports whether all that came in came to rest somewhere.
func (c Counts) Balanced() bool {
	return c.Messages+c.ExtraChanges+c.KeyChanges ==
		c.RowsUpserted+c.RowsDeleted+c.Superseded+c.Filtered+c.Control+c.DeadLetters
}
