package avro_test

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/avro"
)

var update = flag.Bool("update", false, "rewrite the expected JSON in testdata")

// TestGolden reads testdata/NAME.hex, a value of the schema NAME.avsc, and
// compares its JSON with NAME.txt. Each then decodes to changes.
func TestGolden(t *testing.T) {
	schemas, err := filepath.Glob("testdata/*.avsc")
	if err != nil || len(schemas) == 0 {
		t.Fatalf("found %d schemas, error %v", len(schemas), err)
	}
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	for _, file := range schemas {
		name := strings.TrimSuffix(file, ".avsc")
		t.Run(filepath.Base(name), func(t *testing.T) {
			schema := read(file)
			value, err := hex.DecodeString(strings.Join(strings.Fields(read(name+".hex")), ""))
			if err != nil {
				t.Fatal(err)
			}
			r, err := avro.New("")
			if err != nil {
				t.Fatal(err)
			}
			r.Schemas = fixedSchema(schema)
			m := change.Message{Data: registered(value)}
			if isAvro, err := r.Open(&m); !isAvro || err != nil {
				t.Fatalf("Open: %t, error %v", isAvro, err)
			}
			got, _, _, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(name+".txt", []byte(got+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(read(name+".txt"), got); diff != "" {
				t.Errorf("the JSON is not as in %s.txt (-want +got):\n%s", name, diff)
			}
			d, err := newDecoder(options{Schemas: fixedSchema(schema)})
			if err != nil {
				t.Fatal(err)
			}
			if events, control, err := d.Decode(m, nil); len(events) == 0 || control != "" || err != nil {
				t.Errorf("%d events, control %q, error %v", len(events), control, err)
			}
		})
	}
}
