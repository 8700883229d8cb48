package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResults(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"benchmarks": {
			`goos: linux
BenchmarkCodec/5_columns-2         	     100	       563.0 B/message	         1.050 allocs/message	   4410 codec-ns/message
BenchmarkCodec/graph-2 	     100	      8060 codec-ns/message
BenchmarkWrite-16 	     10	      0.0004 x
PASS
ok  	beamcdc/tests/bench	1.0s
`, `| Codec | B/message | allocs/message | codec-ns/message |
|---|---|---|---|
| 5_columns | 563 | 1.05 | 4410 |
| graph |  |  | 8060 |

| Write | x |
|---|---|
|  | 0.0004 |

`,
		},
		"a benchmark that ran three times": {
			"BenchmarkRow 1 3 ns/op\nBenchmarkRow 1 1 ns/op\nBenchmarkRow 1 2 ns/op\n",
			"| Row | ns/op |\n|---|---|\n|  | 2 |\n\n",
		},
		"benchmarks that ran together": {
			"BenchmarkCoalesce/zipf-2 10 64.3 %rows-saved@5000_changes 75.0 %rows-saved@25000_changes 33 %apply-saved@5000_changes\n",
			"| Coalesce | %rows-saved | %apply-saved |\n|---|---|---|\n| zipf/5000_changes | 64.3 | 33 |\n| zipf/25000_changes | 75 |  |\n\n",
		},
		"a table": {
			"building ours\n\n2 rounds of turns of 10 messages; medians (least to most)\n\n| | rate |\n|---|---|\n| ours | 1 |\nbye\n",
			"2 rounds of turns of 10 messages; medians (least to most)\n\n| | rate |\n|---|---|\n| ours | 1 |\n\n",
		},
		"the gate": {
			"=== RUN   TestGate\n=== RUN   TestGate/codec/30_columns\n    gate_test.go:76: 2.23 times (at most 2.9), 1.25 allocations a change (at most 1.4), 825 turns\n" +
				"=== RUN   TestGate/write/30_columns\n    gate_test.go:76: 1.85 times (at most 2.4), 0.02 allocations a change (at most 0), 76 turns\n",
			"| | measured | limit | allocations | limit |\n|---|---|---|---|---|\n| codec/30_columns | 2.23 | 2.9 | 1.25 | 1.4 |\n| write/30_columns | 1.85 | 2.4 |  |  |\n\n",
		},
		"nothing that is known": {"it is broken", "```\nit is broken\n```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, results(c.output)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Words have no blanks or quotes in them, since nothing would take those off.
func TestSections(t *testing.T) {
	for _, s := range sections {
		for _, c := range s.commands {
			for _, text := range []string{c.full, c.short} {
				if strings.ContainsAny(text, `'"`) {
					t.Errorf("%s: %s has quotes", s.name, text)
				}
			}
		}
	}
}

func TestChart(t *testing.T) {
	const table = "building\n\n| | messages/s | processor time a message |\n|---|---|---|\n| ours | 10 | 51.5 µs |\n| java | 1 | 573.0 µs |\n\n| other | 1 |\n"
	if diff := cmp.Diff([]bar{{"ours", 51.5}, {"java", 573}}, column(table, "processor time a message"), cmp.AllowUnexported(bar{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	const benchmarks = "BenchmarkWorker/5_columns-2 10 1.9 tokenize-times\nBenchmarkWorker/a<b-2 10 4 tokenize-times\nBenchmarkOther/5_columns-2 10 3 tokenize-times\n"
	directory := t.TempDir()
	for output, c := range map[string]chart{
		table:      {file: "peers.svg", column: "processor time a message"},
		benchmarks: {file: "worker.svg", function: "Worker", column: "tokenize-times", target: 2, targetText: "target: 2"},
	} {
		if err := c.draw(directory, output); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(directory, c.file))
		if err != nil {
			t.Fatal(err)
		}
		var elements struct {
			Rects []struct {
				Width float64 `xml:"width,attr"`
			} `xml:"rect"`
		}
		if err := xml.Unmarshal(text, &elements); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if bars := elements.Rects[1:]; len(bars) != 2 || max(bars[0].Width, bars[1].Width) != plotWidth || min(bars[0].Width, bars[1].Width) < plotWidth/20 {
			t.Errorf("%s: the bars are %v", c.file, bars)
		}
	}
	if err := (&chart{file: "none.svg", function: "Worker", column: "times"}).draw(directory, benchmarks); err == nil {
		t.Error("a chart of nothing was drawn")
	}
}
