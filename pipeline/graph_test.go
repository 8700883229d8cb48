package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"beamcdc/internal/graph"
)

// The graph of the demo, for each kind of runner, and those of examples that have hops
// of their own. Their transforms' names and coders are an interface: Dataflow moves the
// state of a job that is updated by them.
func TestGraph(t *testing.T) {
	for name, c := range map[string]struct {
		example          string
		runnerOwnsSource bool
	}{
		"shop_direct":      {"shop", false},
		"shop_dataflow":    {"shop", true},
		"history_dataflow": {"history", true},
	} {
		o, err := Load("../examples/" + c.example + "/pipeline.yaml")
		if err != nil {
			t.Fatal(err)
		}
		o.RunnerOwnsSource = c.runnerOwnsSource
		p, s := beam.NewPipelineWithRoot()
		Build(s, o)
		model, err := graph.Of(p)
		if err != nil {
			t.Fatal(err)
		}
		got := graph.Text(model)
		golden := filepath.Join("testdata", "graph", name+".txt")
		if *update {
			if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("the graph has changed: a job that runs with the old one may not take the new one as an update.\n"+
				"Where a transform has another name, give its old one in cmd/launch/renamed.go; where a coder or a\n"+
				"window has changed, say in the commit that jobs must be drained and started again.\n"+
				"Then: go test ./pipeline -run TestGraph -update\n%s, -golden +graph:\n%s", golden, diff)
		}
	}
}
