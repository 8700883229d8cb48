package direct

import (
	"strings"

	"beamcdc/transforms/fill"
)

// Counts say what became of the messages of a run. Nothing vanishes (invariant
// 4), which [Counts.Balanced] checks:
//
//	messages + extra_changes + key_changes + rows_completed_again =
//	    rows_upserted + rows_deleted + superseded + filtered + control + truncates + dead_letters - history_letters + waiting
//
// A message that Pub/Sub delivers twice is two messages here.
type Counts struct {
	Messages     int64 `json:"messages"`      // deliveries that were decoded
	ExtraChanges int64 `json:"extra_changes"` // changes beyond the first of their message
	KeyChanges   int64 `json:"key_changes"`   // changes of a row's key: two rows, a DELETE and an UPSERT
	// RowsCompletedAgain are rows that were made again when more was known of what they
	// had under another key: rows without a change of their own.
	RowsCompletedAgain int64 `json:"rows_completed_again,omitzero"`

	RowsUpserted int64 `json:"rows_upserted"`      // UPSERT rows that BigQuery acknowledged
	RowsDeleted  int64 `json:"rows_deleted"`       // DELETE rows that BigQuery acknowledged
	Superseded   int64 `json:"superseded"`         // changes that a later one of their key and window, or the row that they waited for, stood for
	Filtered     int64 `json:"filtered"`           // changes that the configuration leaves out
	Control      int64 `json:"control"`            // heartbeats, transaction marks, schema notices, tombstones, …
	Truncates    int64 `json:"truncates,omitzero"` // of tables that follow them, which are done
	DeadLetters  int64 `json:"dead_letters"`

	// Waiting are changes that waited for what completes their rows (unavailable_values:
	// fill) when the run ended: their messages were given back, and come again.
	Waiting int64 `json:"waiting,omitzero"`

	HistoryRows    int64 `json:"history_rows,omitzero"`    // that BigQuery acknowledged
	HistoryLetters int64 `json:"history_letters,omitzero"` // of dead_letters, changes that their history lacks, whatever became of them in the table

	KeysDeleted     int64 `json:"keys_deleted,omitzero"` // DELETEs for truncates, no change each: not of rows_deleted
	RowsCopied      int64 `json:"rows_copied,omitzero"`  // by truncates to new tables, no change each: not of rows_upserted
	BytesAppended   int64 `json:"bytes_appended"`        // encoded bytes of the acknowledged rows
	BytesSuperseded int64 `json:"bytes_superseded"`      // encoded bytes that were never sent
	Requests        int64 `json:"requests"`              // appends that BigQuery acknowledged
	ValuesAdjusted  int64 `json:"values_adjusted"`       // values replaced by their column's policy

	// PositionsBackwards are changes committed later than others with higher
	// positions, which BigQuery will not let win: see decode's warning.
	PositionsBackwards int64 `json:"positions_backwards"`
}

// countsOf reads the counts from the graph's counters, by "namespace/name".
// lettersAreRows says that dead letters go to a table, as rows that the writer
// counts among its own.
func countsOf(counted map[string]int64, lettersAreRows bool) Counts {
	c := Counts{
		Messages:        counted["decode/messages"],
		ExtraChanges:    counted["decode/events"] - counted["decode/decoded"],
		KeyChanges:      counted["keyed/key_changes"],
		RowsUpserted:    counted["bqcdc/rows_upserted"],
		RowsDeleted:     counted["bqcdc/rows_deleted"],
		Superseded:      counted["bqcdc/rows_superseded"] + counted["fill/changes_joined"],
		Filtered:        counted["keyed/filtered"],
		Truncates:       counted["truncate/tables_emptied"] + counted["truncate/truncates_repeated"],
		DeadLetters:     counted["deadletter/letters"],
		Waiting:         fill.Waiting(counted),
		HistoryRows:     counted["history/rows_appended"],
		HistoryLetters:  counted["history/letters"] + counted["history/rows_rejected"],
		KeysDeleted:     counted["truncate/rows_deleted"],
		RowsCopied:      counted["truncate/rows_upserted"],
		BytesAppended:   counted["bqcdc/bytes_appended"],
		BytesSuperseded: counted["bqcdc/bytes_superseded"],
		Requests:        counted["bqcdc/requests"],
		ValuesAdjusted:  counted["keyed/values_adjusted"],

		RowsCompletedAgain: counted["fill/rows_repeated"],
		PositionsBackwards: counted["decode/positions_backwards"],
	}
	if lettersAreRows {
		// Of the rows that came to the writer, what was neither deleted nor refused.
		c.RowsUpserted = counted["keyed/rows_coalesced"] - c.RowsDeleted - counted["bqcdc/rows_rejected"]
	}
	for name, n := range counted {
		if strings.HasPrefix(name, "decode/control/") {
			c.Control += n
		}
	}
	return c
}

// Add adds the counts of another run.
func (c *Counts) Add(o Counts) {
	c.Messages += o.Messages
	c.ExtraChanges += o.ExtraChanges
	c.KeyChanges += o.KeyChanges
	c.RowsCompletedAgain += o.RowsCompletedAgain
	c.RowsUpserted += o.RowsUpserted
	c.RowsDeleted += o.RowsDeleted
	c.Superseded += o.Superseded
	c.Filtered += o.Filtered
	c.Control += o.Control
	c.Truncates += o.Truncates
	c.DeadLetters += o.DeadLetters
	c.Waiting += o.Waiting
	c.HistoryRows += o.HistoryRows
	c.HistoryLetters += o.HistoryLetters
	c.KeysDeleted += o.KeysDeleted
	c.RowsCopied += o.RowsCopied
	c.BytesAppended += o.BytesAppended
	c.BytesSuperseded += o.BytesSuperseded
	c.Requests += o.Requests
	c.ValuesAdjusted += o.ValuesAdjusted
	c.PositionsBackwards += o.PositionsBackwards
}

// Balanced reports whether all that came in came to rest somewhere, or waits.
func (c Counts) Balanced() bool {
	return c.Messages+c.ExtraChanges+c.KeyChanges+c.RowsCompletedAgain ==
		c.RowsUpserted+c.RowsDeleted+c.Superseded+c.Filtered+c.Control+c.Truncates+c.DeadLetters-c.HistoryLetters+c.Waiting
}
