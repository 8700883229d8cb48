package emulator

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// Faults are told of in two places that their type isn't in: the comments of its
// aliases, which go doc shows, and the clients' README. Both have every field.
func TestFaults_documented(t *testing.T) {
	source, err := os.ReadFile("faults.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../examples/clients/README.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Fault]()) {
		if f.Anonymous {
			continue
		}
		key := f.Tag.Get("yaml")
		if !strings.Contains(string(source), "\n//	"+f.Name+" ") || !strings.Contains(string(source), "  // "+key+": ") {
			t.Errorf("faults.go doesn't tell of %s, whose key is %s", f.Name, key)
		}
		if !strings.Contains(string(readme), "| `"+key+"` |") {
			t.Errorf("the README's table of keys lacks %s", key)
		}
		keys++
	}
	if rows := strings.Count(string(readme), "\n| `"); rows != keys {
		t.Errorf("the README's table has %d keys, a fault %d", rows, keys)
	}
}
