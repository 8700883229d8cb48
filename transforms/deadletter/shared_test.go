package deadletter

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
)

// However its letters come, a message of many changes is stored once in a bundle,
// whole, and each letter knows where.
func TestSharing(t *testing.T) {
	data := []byte("ten megabytes")
	m := change.Message{ID: "9", Data: data, Token: 900}
	out := m
	out.Data, out.DataLeftOut = nil, true
	Keep(&m)
	defer Forget(m.Token)
	for name, letters := range map[string][]Letter{
		"of rows that BigQuery refused": {{Message: out, Stage: "write", Part: 1}, {Message: out, Stage: "write", Part: 2}},
		"of a change, then of a row":    {{Message: m, Shared: true, Stage: "encode", Part: 1}, {Message: out, Stage: "write", Part: 2}},
	} {
		for range 2 { // the second is a bundle that is tried again
			var s sharing
			var items []Letter
			for _, l := range letters {
				s.complete(&l)
				items = append(items, l.parts()...)
			}
			if len(items) != 3 || items[0].Stage != StageMessage || string(items[0].Message.Data) != string(data) || items[0].ID() != "9/message/0" {
				t.Errorf("%s: stored are %+v", name, items)
				continue
			}
			for i, l := range items[1:] {
				if l.Stage != letters[i].Stage || !l.Message.DataLeftOut || l.Message.Data != nil || l.Shared {
					t.Errorf("%s: letter %d is stored as %+v", name, i, l)
				}
			}
		}
	}
	// Where the process has no data, the letter says so.
	l := Letter{Message: out, Stage: "write"}
	l.Message.Token = 901
	new(sharing).complete(&l)
	if !l.Message.DataLeftOut || l.Shared {
		t.Errorf("a letter without data is %+v", l)
	}
}

func TestKeeper(t *testing.T) {
	var k keeper
	k.forget(1) // of a message that was never kept
	for token := range uint64(10) {
		k.keep(token, make([]byte, 10), 50)
		k.keep(token, make([]byte, 10), 50) // its other changes
	}
	for token := range uint64(10) {
		if _, ok := k.find(token); ok != (token >= 5) {
			t.Errorf("token %d is kept: %v", token, ok)
		}
	}
	if k.bytes != 50 {
		t.Errorf("%d bytes are counted, want 50", k.bytes)
	}
	for token := range uint64(100_000) {
		k.keep(1000+token, nil, 50)
		k.forget(1000 + token)
	}
	if len(k.tokens) > 2000 || len(k.data) != 5 {
		t.Errorf("%d tokens of %d messages are remembered", len(k.tokens), len(k.data))
	}
}

// A letter that refers to a message is read back with its data, from a directory.
func TestReadDirectory_shared(t *testing.T) {
	directory := t.TempDir()
	l := Letter{Message: change.Message{ID: "9", Data: []byte{0xff, 1}}, Shared: true, Stage: "encode", Part: 4}
	for _, item := range l.parts() {
		if err := writeFile(directory, &item); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadDirectory(directory)
	if err != nil {
		t.Fatal(err)
	}
	want := []Stored{{ID: "9/encode/4", Stage: "encode", MessageID: "9", Part: 4, DataBase64: []byte{0xff, 1}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
