package deadletter

import (
	"bytes"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
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

// TestRestore_stored: a letter that is made once more when its message has ended has no
// data, and leaves alone what was stored with them.
func TestRestore_stored(t *testing.T) {
	whole := Letter{Message: change.Message{ID: "9", Token: 7, Data: []byte("as it was published")}, Stage: "encode"}
	late := Letter{Message: change.Message{ID: "9", Token: 7, DataLeftOut: true}, Stage: "encode"}
	rule := TableRule("p.d.letters")
	plan, err := rowproto.Compile(&table.Table{Name: table.Name{Project: "p", Dataset: "d", Table: "letters"}, Columns: rule.Columns, PrimaryKey: rule.PrimaryKey})
	if err != nil {
		t.Fatal(err)
	}
	sequenceOf := func(l Letter) string {
		rows, err := tableRows(&l, &protector{}, plan, time.Unix(0, 0))
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		return rows[0].Sequence.Padded()
	}
	if with, without := sequenceOf(whole), sequenceOf(late); with <= without {
		t.Errorf("the letter without data has sequence %s and replaces that with them, of %s", without, with)
	}

	for name, order := range map[string][]Letter{"first": {whole, late}, "last": {late, whole}, "alone": {late}} {
		directory := t.TempDir()
		for i := range order {
			if err := writeFile(directory, &order[i]); err != nil {
				t.Fatal(err)
			}
		}
		stored, err := ReadDirectory(directory)
		want := string(whole.Message.Data)
		if name == "alone" {
			want = ""
		}
		if err != nil || len(stored) != 1 || string(stored[0].DataBase64) != want {
			t.Errorf("with data %s: %+v, %v", name, stored, err)
		}
	}
}
