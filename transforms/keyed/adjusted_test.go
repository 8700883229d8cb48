package keyed

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// What a policy does is counted by table, column and policy; a refused row's is not.
func TestRows_policies(t *testing.T) {
	config := newCatalog(t)
	config.Rules = []table.Rule{{
		Source: "public.orders", Destination: "shop.orders", PrimaryKey: []string{"id"}, BadValues: "null",
		Columns: []table.Column{
			{Name: "id", Type: table.Int64, Mode: table.Required},
			{Name: "n", Type: table.Int64, BadValues: table.PolicyClamp},
			{Name: "day", Type: table.Date},
			{Name: "must", Type: table.Int64, Mode: table.Required},
		},
	}}
	order := func(message string, columns ...change.Column) change.Event {
		e := event(message, "public.orders", change.OpCreate, "id="+message)
		e.After = append(e.After, columns...)
		return e
	}
	column := func(name, number string) change.Column {
		return change.Column{Name: name, Value: change.Number(number)}
	}
	must := column("must", "1")
	events := []change.Event{
		order("1", column("n", "1e30"), column("day", "1e30"), must),
		order("2", column("n", "1"), column("day", "1"), must),
		order("3", column("n", "-1e30"), column("day", "1"), must),
		order("4", column("n", "1e30"), column("day", "1e30"), column("must", "1e30")),
	}
	p, s := beam.NewPipelineWithRoot()
	_, _, _, _, receipts, letters := Rows(s, config, RowsConfig{}, beam.CreateList(s, events))
	passert.Equals(s, beam.ParDo(s, showLetter, letters), "4 public.orders encode bad_value part 0 [{1 0 1}]")
	passert.Empty(s, receipts)
	got := make(map[string]int64)
	for _, c := range ptest.RunAndValidate(t, p).Metrics().AllMetrics().Counters() {
		if c.Namespace() == Namespace {
			got[c.Name()] += c.Result()
		}
	}
	want := map[string]int64{
		"events": 4, "upserts": 3, "letters": 1, "values_adjusted": 3,
		"values_adjusted_by_column/clamp/demo.shop.orders.n": 2, "values_adjusted_by_column/null/demo.shop.orders.day": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}
