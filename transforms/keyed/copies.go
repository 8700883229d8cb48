package keyed

import (
	"fmt"

	"beamcdc/schemas/change"
)

// maxCopies bounds what the changes of one message carry of its data together, in
// bytes: each row goes through a shuffle with its message, for its dead letter. A
// message of 4,000 changes and 400 kB would become 1.6 GB there, and one of Pub/Sub's
// 10 MB would bring every worker down that takes it.
const maxCopies = 8 << 20

// copies says which of a message's changes carry its data, where not all of them
// may: the first dead letter of the message, and no row.
type copies struct {
	id    string // of the message that the last letter carried
	token uint64
}

func affordable(e *change.Event) bool {
	return e.Parts <= 1 || uint64(e.Parts)*uint64(len(e.Message.Data)) <= maxCopies
}

// row returns the message that the change's row carries.
func (c *copies) row(e *change.Event) change.Message {
	m := e.Message
	if !affordable(e) {
		m.Data = nil
	}
	return m
}

// letter returns the message that the change's dead letter carries, and what its
// error has to add.
func (c *copies) letter(e *change.Event) (m change.Message, note string) {
	m = e.Message
	switch {
	case affordable(e):
	case c.id == m.ID && c.token == m.Token:
		m.Data = nil
		note = fmt.Sprintf("; it is one of the message's %d changes, whose data is in the first dead letter of message %.100s", e.Parts, m.ID)
	default:
		c.id, c.token = m.ID, m.Token
	}
	return m, note
}
