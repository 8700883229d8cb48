package envelope_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

var update = flag.Bool("update", false, "rewrite the expected events in testdata")

// TestGolden decodes testdata/<format>/<name>.json, a message, and compares
// what comes out with <name>.txt, both with the format configured and with
// the format told by the message.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files, error %v", len(files), err)
	}
	for _, file := range files {
		format := filepath.Base(filepath.Dir(file))
		t.Run(format+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			m := readMessage(t, file)
			got := describe(decode(t, envelope.Options{Format: format, Epoch: 7}, m))
			golden := strings.TrimSuffix(file, ".json") + ".txt"
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
			if auto := describe(decode(t, envelope.Options{Epoch: 7}, m)); auto != got {
				t.Errorf("with the format auto (-configured +auto):\n%s", cmp.Diff(got, auto))
			}
		})
	}
}

// readMessage reads a message in the form of cmd/local's: data is the exact
// bytes of its value.
func readMessage(t testing.TB, file string) change.Message {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Data        jsontext.Value    `json:"data"`
		Attributes  map[string]string `json:"attributes"`
		OrderingKey string            `json:"ordering_key"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	return change.Message{Data: m.Data, Attributes: m.Attributes, OrderingKey: m.OrderingKey}
}

// describe writes what decoding came to, for people to read.
func describe(events []change.Event, control envelope.Control, err error) string {
	var b strings.Builder
	if control != "" {
		fmt.Fprintf(&b, "control %s\n", control)
	}
	if err != nil {
		e := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
		fmt.Fprintf(&b, "error %s\n  %v\n", e.Reason, err)
	}
	for i := range events {
		e := &events[i]
		fmt.Fprintf(&b, "%s of %q, part %d of %d\n", e.Op, e.Table, e.Part, e.Parts)
		fmt.Fprintf(&b, "sequence %q at %q\n", e.Sequence, e.Position)
		if !e.CommitTime.IsZero() {
			fmt.Fprintf(&b, "committed %s\n", e.CommitTime.Format(time.RFC3339Nano))
		}
		if e.Transaction != "" {
			fmt.Fprintf(&b, "transaction %q\n", e.Transaction)
		}
		describeImage(&b, "key", e.Key)
		describeImage(&b, "before", e.Before)
		describeImage(&b, "after", e.After)
		if e.BeforeComplete || e.AbsentUnavailable {
			fmt.Fprintf(&b, "before complete %t, absent unavailable %t\n", e.BeforeComplete, e.AbsentUnavailable)
		}
	}
	return b.String()
}

func describeImage(b *strings.Builder, which string, columns []change.Column) {
	if columns == nil {
		return
	}
	fmt.Fprintf(b, "%s\n", which)
	for _, c := range columns {
		fmt.Fprintf(b, "  %s = %s\n", c.Name, describeValue(c.Value))
	}
}

func describeValue(v change.Value) string {
	var content string
	switch v.Kind() {
	case change.KindNull, change.KindUnavailable, change.KindInvalid:
		return v.Kind().String()
	case change.KindBool:
		content = strconv.FormatBool(v.Bool())
	case change.KindUint64:
		content = strconv.FormatUint(v.Uint(), 10)
	case change.KindFloat64:
		content = strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case change.KindInt64:
		content = strconv.FormatInt(v.Int(), 10)
	case change.KindDate:
		content = strconv.FormatInt(v.Int(), 10)
		if d := time.Unix(v.Int()*86400, 0).UTC(); d.Year() > 0 && d.Year() < 10000 {
			content = d.Format(time.DateOnly)
		}
	case change.KindTime:
		content = strconv.FormatInt(v.Int(), 10)
		if v.Int() >= 0 && v.Int() < 86_400_000_000 {
			content = time.UnixMicro(v.Int()).UTC().Format("15:04:05.000000")
		}
	case change.KindDateTime, change.KindTimestamp:
		content = strconv.FormatInt(v.Int(), 10)
		if d := time.UnixMicro(v.Int()).UTC(); d.Year() > 0 && d.Year() < 10000 {
			content = d.Format("2006-01-02 15:04:05.000000")
		}
	case change.KindArray, change.KindStruct:
		var parts []string
		for _, c := range v.Elems() {
			part := describeValue(c.Value)
			if c.Name != "" {
				part = c.Name + " = " + part
			}
			parts = append(parts, part)
		}
		content = "(" + strings.Join(parts, ", ") + ")"
	case change.KindBytes:
		content = fmt.Sprintf("%x", v.Text())
	case change.KindString, change.KindText:
		content = strconv.Quote(v.Text())
	default:
		content = v.Text()
	}
	return v.Kind().String() + " " + content
}
