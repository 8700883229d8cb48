package history

import (
	"bytes"
	"encoding/json"
	"testing"
)

type jsonMember struct{ name, value string }

// membersOf returns an object's members, their values as they are written.
func membersOf(t *testing.T, text string) []jsonMember {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var members []jsonMember
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		members = append(members, jsonMember{name.(string), string(value)})
	}
	return members
}

func unquoted(text string) string {
	var s string
	_ = json.Unmarshal([]byte(text), &s)
	return s
}
