package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/internal/graph"
	"beamcdc/pipeline"
)

const (
	namesFile   = "testdata/names.txt"
	namesAdvice = "a job that is updated finds its transforms' state by their names.\n" +
		"Where a transform has another name now, write in renamed.go that it had this one, and a job with the old one\n" +
		"can be updated; where it is gone, write that jobs with it must be drained, into templates/README.md, and take\n" +
		"its name out of " + namesFile + ". New names are added by: go test ./cmd/launch -run TestRenamed -update"
)

// Transforms' names are an interface. testdata/names.txt has those of every version;
// each must be in the graph of today, or have a new name in renamed that is.
func TestRenamed(t *testing.T) {
	var today []string
	for _, dead := range []string{"{topic: projects/demo/topics/dead}", "{table: ops.dead_letters}"} {
		today = append(today, jobNames(t, dead)...)
	}
	slices.Sort(today)
	today = slices.Compact(today)

	update := valueOf(flag.CommandLine, "update") == "true" // Beam's flag has that name
	data, err := os.ReadFile(namesFile)
	if err != nil && !update {
		t.Fatal(err)
	}
	ever := strings.Fields(string(data))
	if update {
		ever = append(ever, today...)
		slices.Sort(ever)
		ever = slices.Compact(ever)
		if err := os.MkdirAll(filepath.Dir(namesFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(namesFile, []byte(strings.Join(ever, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range ever {
		now := name
		if to, ok := renamed[name]; ok {
			now = to
		}
		if !slices.Contains(today, now) {
			t.Errorf("no transform has the name %s: %s", now, namesAdvice)
		}
	}
	for _, name := range today {
		if !slices.Contains(ever, name) {
			t.Errorf("%s is a new name: %s", name, namesAdvice)
		}
	}
	for old := range renamed {
		if slices.Contains(today, old) {
			t.Errorf("renamed has %s, which is a transform's name today", old)
		}
		if !slices.Contains(ever, old) {
			t.Errorf("renamed has %s, which no version had", old)
		}
	}
}

// jobNames returns the names of a Dataflow job's transforms.
func jobNames(t *testing.T, deadLetters string) []string {
	t.Helper()
	o := pipeline.Parse("names.yaml", []byte(`
source: {subscription: projects/demo/subscriptions/changes}
tables: [{source: public.orders, destination: shop.orders}]
dead_letters: `+deadLetters))
	o.RunnerOwnsSource = true
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, o)
	model, err := graph.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	return graph.Names(model)
}
