package captured

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
)

// Tombstone returns the delete that an empty message stands for. All that such a
// message has of it is its ordering key; the Reader's Source is what its
// attributes tell. The error is an *outcome.Error that names the table.
func (r *Reader) Tombstone(m *change.Message) (change.Event, error) {
	e := change.Event{
		Message: *m, Parts: 1, Table: r.Table(), Op: change.OpDelete, Tombstone: true,
		Position: "an empty message has none",
	}
	key := r.key(m.OrderingKey)
	if !key.Present {
		return change.Event{}, outcome.InTable(outcome.Errorf(outcome.MissingKey,
			"the message is empty, which deletes a row, but its ordering key is no JSON object of key columns"), e.Table)
	}
	if err := r.settle(&e, key); err != nil {
		return change.Event{}, outcome.InTable(err, e.Table)
	}
	r.keep(&e, key)
	return e, nil
}
