package keyed

import (
	"errors"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// TestCopies: the rows and dead letters of a message with many changes don't
// multiply its data, and the data is still in one dead letter of each such message.
func TestCopies(t *testing.T) {
	const parts = 10_000
	large, small := make([]byte, 1<<20), make([]byte, (8<<20)/parts)
	for _, test := range []struct {
		what         string
		parts        uint32
		data         []byte
		rows, letter int // bytes that all of them carry
	}{
		{"one change", 1, large, len(large), len(large)},
		{"few bytes", parts, small, parts * len(small), parts * len(small)},
		{"many changes", parts, large, 0, len(large)},
	} {
		f := &maker{}
		for _, id := range []string{"1", "2"} {
			rows, letters, noted := 0, 0, 0
			for part := range test.parts {
				e := change.Event{Message: change.Message{ID: id, Data: test.data}, Part: part, Parts: test.parts}
				m := f.copies.row(&e)
				rows += len(m.Data)
				l := f.letter(&e, &refusal{StageKey, ReasonUnlistedTable, errors.New("no rule")}, nil)
				letters += len(l.Message.Data)
				if m.ID != id || l.Message.ID != id || l.Part != part {
					t.Fatalf("%s: row of message %s, letter of %s, part %d, want %s, part %d", test.what, m.ID, l.Message.ID, l.Part, id, part)
				}
				if strings.Contains(l.Error, "stored by the ID of message "+id) {
					noted++
				}
			}
			if rows != test.rows || letters != test.letter {
				t.Errorf("%s: rows carry %d bytes and letters %d, want %d and %d", test.what, rows, letters, test.rows, test.letter)
			}
			if test.rows > 0 && noted > 0 {
				t.Errorf("%s: %d letters refer to another", test.what, noted)
			} else if test.rows == 0 && noted != parts {
				t.Errorf("%s: %d letters say where, want %d", test.what, noted, parts)
			}
		}
	}
}

// A row goes without the data that the source holds, and what isn't a row yet with it.
func TestRowWithoutHeldData(t *testing.T) {
	data := []byte("as it was published")
	deadletter.HoldBy(func(token uint64) ([]byte, bool) { return data, token == 7 })
	defer deadletter.HoldBy(func(uint64) ([]byte, bool) { return nil, false })
	var c copies
	e := change.Event{Message: change.Message{ID: "1", Token: 7, Data: data}, Parts: 1}
	if m := c.row(&e); m.Data != nil || m.DataLeftOut || m.ID != "1" {
		t.Errorf("a row carries %+v", m)
	}
	if m := c.change(&e); string(m.Data) != string(data) {
		t.Errorf("a change carries %+v", m)
	}
	if string(e.Message.Data) != string(data) {
		t.Error("the event has lost its data")
	}
	e.Message.Token = 8
	if m := c.row(&e); string(m.Data) != string(data) {
		t.Errorf("a row of a message that nothing holds carries %+v", m)
	}
}
