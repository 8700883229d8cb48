package pipeline

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"beamcdc/schemas/envelope"
	"beamcdc/schemas/table"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestParse_everyKey(t *testing.T) {
	o, err := Load("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	columns := []table.Column{
		{Name: "order_id", Type: table.Int64, Mode: table.Required},
		{Name: "status", Type: table.String},
		{Name: "total", Type: table.Numeric, Precision: 12, Scale: 2, From: table.FromDecimal, FromScale: 2},
		{Name: "updated_at", Type: table.Timestamp, From: table.FromMicros},
		{Name: "address", Type: table.Struct, Fields: []table.Column{{Name: "city", Type: table.String}}},
		{Name: "tags", Type: table.String, Mode: table.Repeated},
		{Name: "valid", Type: table.Range, Element: table.Date, BadValues: table.PolicyNull},
	}
	want := Options{
		Source: Source{
			Subscription: "projects/demo/subscriptions/changes", Format: "auto", Epoch: 3,
			UnavailablePlaceholder: "__debezium_unavailable_value",
		},
		CreateTables: true, UnlistedTables: "filter", Window: 2 * time.Second,
		Tables: []table.Rule{
			{
				Source: "public.orders", Destination: "shop.orders", PrimaryKey: []string{"order_id"}, Columns: columns,
				ClusterBy: []string{"order_id"}, PartitionBy: &table.Partition{Column: "updated_at", Type: "DAY"}, MaxStaleness: 15 * time.Minute,
				MissingPositions: "arrival", UnavailableValues: "reject", UnknownColumns: "ignore", BadValues: "null",
				Deletes: "hard", Tombstones: "ignore", Truncates: "reject",
			},
			{Source: "archive.orders", Destination: "other-project.shop.archived_orders", PrimaryKey: []string{"order_id"}, Columns: columns},
			{Source: "public.*", Destination: "shop.{table}", Sequence: "[lsn(data.lsn), data.ordinal]"},
		},
		DeadLetters: DeadLetters{Topic: "projects/demo/topics/changes-dead"},
		Runtime: Runtime{
			BigQueryRESTEndpoint: "http://127.0.0.1:9050", BigQueryGRPCEndpoint: "127.0.0.1:9060", BigQueryPlaintext: true,
			MaxOutstandingMessages: 1000,
		},
	}
	if diff := cmp.Diff(want, o, cmpopts.IgnoreUnexported(Options{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// Every file under testdata/findings has its findings beside it. Rewrite them
// with -update, and read the difference.
func TestValidate_findings(t *testing.T) {
	files, err := filepath.Glob("testdata/findings/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := Parse(filepath.Base(file), text)
			got := ""
			if err := o.Validate(); err != nil {
				got = err.Error() + "\n"
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got == "" {
				t.Error("nothing was found")
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A format that the design has a word for and this version does not decode is
// told apart from a word that means nothing.
func TestValidate_formats(t *testing.T) {
	for _, format := range append(envelope.Formats(), append(envelope.Formats(), "kafka")...) {
		o := Parse("formats.yaml", []byte(`
source: {subscription: projects/demo/subscriptions/changes, format: `+format+`}
tables: [{source: public.orders, destination: shop.orders}]
dead_letters: {directory: dead}
`))
		want := ""
		switch {
		case slices.Contains(envelope.Formats(), format):
		case format == "kafka":
			want = `formats.yaml:2: source.format: "kafka" is none of auto, `
		default:
			want = `formats.yaml:2: source.format: format "` + format + `" is not supported yet`
		}
		if err := o.Validate(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", format, err, want)
		}
	}
}

// A rule that no file was read for has the same words.
func TestValidate_words(t *testing.T) {
	for _, w := range RuleWords() {
		if len(w.Done) == 0 || w.Words[0] != w.Done[0] || w.Help == "" {
			t.Errorf("%s: words %v, done %v, help %q", w.Key, w.Words, w.Done, w.Help)
		}
		for _, word := range append(w.Words, "", "other") {
			o := Options{
				Source: Source{Subscription: "projects/demo/subscriptions/changes"}, DeadLetters: DeadLetters{Directory: "dead"},
				Tables: []table.Rule{{Source: "public.orders", Destination: "shop.orders"}},
			}
			if w.Key == "untyped_columns" { // it says how
				o.Tables[0].UnknownColumns = "add"
			}
			*w.field(&o.Tables[0]) = word
			want := ""
			switch {
			case word == "other":
				want = `"other" is none of ` + w.Words[0]
			case word != "" && !slices.Contains(w.Done, word):
				want = "tables[0]." + w.Key + ": " + word + " is not supported yet"
			}
			if err := o.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: got %v, want %q", w.Key, word, err, want)
			}
		}
	}
}

// Without create_tables columns may be hints to some of those that BigQuery has.
func TestValidate_hints(t *testing.T) {
	o := Parse("hints.yaml", []byte(`
source: {subscription: projects/demo/subscriptions/changes}
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id]
    columns:
      - {name: total, from: decimal, scale: 2}
      - {name: address, fields: [{name: moved_on, from: days}]}
    cluster_by: [status]
    partition_by: {column: day, type: DAY}
dead_letters: {directory: dead}
`))
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

func TestFindings_haveLines(t *testing.T) {
	files, _ := filepath.Glob("testdata/findings/*.yaml")
	for _, file := range files {
		o, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		var findings Findings
		if !errors.As(o.Validate(), &findings) {
			t.Errorf("%s: the error is no Findings", file)
		}
		last := 0
		for _, f := range findings {
			if f.Line != 0 && f.Line < last {
				t.Errorf("%s: line %d comes after line %d", file, f.Line, last)
			}
			last = max(last, f.Line)
		}
	}
}

func TestLoad_missingFile(t *testing.T) {
	if _, err := Load("testdata/none.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of a missing file: %v", err)
	}
}

// The parser would take minutes for each.
func TestParse_deepNesting(t *testing.T) {
	for _, text := range []string{"[", "{a: ", "- ", "? "} {
		o := Parse("deep.yaml", []byte("source:\n"+strings.Repeat(text, 300_000)))
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "deep.yaml:2: it is nested more than 1000 deep") {
			t.Errorf("%q nested: %v", text, err)
		}
	}
}

// A few lines of aliases stand for 3^15 columns.
func TestParse_aliasesOfAliases(t *testing.T) {
	var text strings.Builder
	text.WriteString("tables:\n  - columns: &node [")
	for i := range 3 {
		fmt.Fprintf(&text, "{name: c%d, type: STRUCT, fields: *node}, ", i)
	}
	text.WriteString("]\n")
	start := time.Now()
	o := Parse("aliases.yaml", []byte(text.String()))
	err := o.Validate()
	if err == nil || !strings.Contains(err.Error(), "the file's aliases make too much of it") {
		t.Errorf("findings: %.300v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestTheDemosConfiguration(t *testing.T) {
	o, err := Load("../examples/shop/pipeline.yaml")
	if err == nil {
		err = o.Validate()
	}
	if err != nil {
		t.Error(err)
	}
}

// FuzzParse: any text is read without a panic, and what is found has a problem
// and a line of the text.
func FuzzParse(f *testing.F) {
	for _, glob := range []string{"testdata/*.yaml", "testdata/findings/*.yaml"} {
		files, _ := filepath.Glob(glob)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := Parse("x.yaml", text)
		var findings Findings
		if err := o.Validate(); err != nil && !errors.As(err, &findings) {
			t.Fatalf("an error that is no Findings: %v", err)
		}
		lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 2
		for _, finding := range findings {
			if finding.Problem == "" || finding.Line < 0 || finding.Line > lines {
				t.Fatalf("finding %+v in a text of %d lines", finding, lines)
			}
		}
	})
}
