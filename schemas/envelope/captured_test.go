package envelope_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// capturedFiles are messages that a real Debezium, wal2json and Maxwell wrote in runs of
// the tests beside them, one a line, and the format of each.
func capturedFiles(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../tests/e2e/databases/testdata/captured/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files of captured messages, error %v", len(files), err)
	}
	formats := make(map[string]string)
	for _, file := range files {
		format, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".jsonl"), "_")
		if format == "flattened" {
			format = "debezium_flat"
		}
		formats[file] = format
	}
	return formats
}

func readCaptured(t testing.TB, name string) []change.Message {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var messages []change.Message
	for lines.Scan() {
		var m struct {
			Data        jsontext.Value    `json:"data"`
			Attributes  map[string]string `json:"attributes"`
			OrderingKey string            `json:"ordering_key"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%s, line %d: %v", name, len(messages)+1, err)
		}
		messages = append(messages, change.Message{Data: m.Data, Attributes: m.Attributes, OrderingKey: m.OrderingKey})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return messages
}

// TestGolden_captured is TestGolden of captured messages, each of which is decoded
// after those before it: what comes out of a file is in testdata/captured.
func TestGolden_captured(t *testing.T) {
	for file, format := range capturedFiles(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			messages := readCaptured(t, file)
			describeAll := func(format string) string {
				d, err := envelope.New(envelope.Options{Format: format, Epoch: 7})
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				for i := range messages {
					fmt.Fprintf(&b, "# line %d\n%s", i+1, describe(d.Decode(messages[i], nil)))
				}
				return b.String()
			}
			got := describeAll(format)
			golden := filepath.Join("testdata", "captured", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("what was decoded is not as in %s (-want +got):\n%s", golden, diff)
			}
			if auto := describeAll(envelope.Auto); auto != got {
				t.Errorf("with the format auto (-configured +auto):\n%s", cmp.Diff(got, auto))
			}
		})
	}
}
