package deadletter

import (
	"bytes"
	"testing"

	"beamcdc/schemas/change"
)

// Not parallel: the holder is the process's.
func TestHeld(t *testing.T) {
	before := holder.Load()
	defer holder.Store(before)
	holder.Store(nil)
	data := []byte("as it was published")
	m := change.Message{ID: "1", Token: 7, Data: data}
	if Held(&m) {
		t.Error("it is held where nothing holds anything")
	}
	HoldBy(func(token uint64) ([]byte, bool) { return data, token == 7 })
	if !Held(&m) {
		t.Error("what the source holds is not held")
	}
	for name, m := range map[string]change.Message{
		"another delivery":    {ID: "1", Token: 8, Data: data},
		"the runner acks":     {ID: "1", Data: data},
		"other bytes":         {ID: "1", Token: 7, Data: bytes.Clone(data)},
		"a part of the bytes": {ID: "1", Token: 7, Data: data[:4]},
		"no data":             {ID: "1", Token: 7},
	} {
		if Held(&m) {
			t.Errorf("%s: it is held", name)
		}
	}

	for _, c := range []struct {
		name  string
		token uint64
		want  string
		out   bool
	}{
		{"held", 7, string(data), false},
		{"given back", 8, "", true},
		{"the runner acks", 0, "", false}, // a message without data
	} {
		l := Letter{Message: change.Message{ID: "1", Token: c.token}}
		new(sharing).complete(&l)
		if string(l.Message.Data) != c.want || l.Message.DataLeftOut != c.out || l.Shared {
			t.Errorf("%s: the letter has %q, left out: %v, shared: %v", c.name, l.Message.Data, l.Message.DataLeftOut, l.Shared)
		}
	}
}
