package keyed

import (
	"fmt"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// copies says which of a message's changes carry its data, where not all of them
// may: the first dead letter of the message in a bundle, which stores it for the
// others, and no row.
type copies struct {
	id    string // of the message that the last letter carried
	token uint64
}

// row returns the message that the change's row carries: without its data where the
// process holds that until the ack.
func (c *copies) row(e *change.Event) change.Message {
	m := c.change(e)
	if deadletter.Held(&m) {
		m.Data = nil
	}
	return m
}

// change returns the message that the change carries where it isn't a row yet.
func (c *copies) change(e *change.Event) change.Message {
	m := e.Message
	if !deadletter.Affordable(&m, e.Parts) {
		deadletter.Keep(&m)
		m.Data, m.DataLeftOut = nil, true
	}
	return m
}

// letter returns the message that the change's dead letter carries, whether it is
// to be stored for the message's other letters, and what its error has to add.
func (c *copies) letter(e *change.Event) (m change.Message, shared bool, note string) {
	m = e.Message
	if !m.DataLeftOut {
		if deadletter.Affordable(&m, e.Parts) {
			return m, false, ""
		}
		if shared = c.id != m.ID || c.token != m.Token; shared {
			c.id, c.token = m.ID, m.Token
		} else {
			m.Data, m.DataLeftOut = nil, true
		}
	}
	return m, shared, fmt.Sprintf("; it is one of the message's %d changes, whose data is stored by the ID of message %.100s", e.Parts, m.ID)
}
