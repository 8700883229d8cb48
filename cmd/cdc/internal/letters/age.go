package letters

import (
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// forgetAfter is for how long BigQuery remembers a delete. The row of an older change
// comes back if it was deleted since.
const forgetAfter = 48 * time.Hour

// ager tells how old a message's changes are.
type ager struct{ decoder *envelope.Decoder } // nil where there is no configuration

// oldest returns when the oldest of the message's changes was committed, as far as its
// message tells, or else published: no delete of its row is older than that.
func (a *ager) oldest(m *change.Message) time.Time {
	oldest := m.PublishTime
	if a.decoder == nil {
		return oldest
	}
	events, _, err := a.decoder.Decode(*m, nil)
	if err != nil {
		return oldest
	}
	for i := range events {
		if t := events[i].CommitTime; !t.IsZero() && (oldest.IsZero() || t.Before(oldest)) {
			oldest = t
		}
	}
	return oldest
}
