package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// What only BigQuery's table tells to be wrong with a column's settings is told
// with the line that they are in, as other findings are.
func TestLocated(t *testing.T) {
	o := Parse("check.yaml", []byte(`
source: {subscription: projects/demo/subscriptions/changes}
tables:
  - {source: public.other, destination: "shop.{table}"}
  - source: public.orders
    destination: shop.orders
    columns:
      - name: note
        bad_values: clamp
      - name: paid
        from: micros
      - name: address
        fields:
          - {name: color}
      - name: id
        bad_values: "null"
dead_letters: {directory: dead}
`))
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	name := table.Name{Project: "demo", Dataset: "shop", Table: "orders"}
	_, err := table.WithHints(&table.Table{
		Name: name, PrimaryKey: []string{"id"},
		Columns: []table.Column{
			{Name: "id", Type: table.Int64},
			{Name: "note", Type: table.String},
			{Name: "paid", Type: table.Bool},
			{Name: "address", Type: table.Struct, Fields: []table.Column{{Name: "city", Type: table.String}}},
		},
	}, &o.Tables[1])
	var got []string
	for _, err := range o.located(&catalog.Error{Table: name, Permanent: true, Err: err}) {
		place, _, _ := strings.Cut(err.Error(), ": table demo.shop.orders: configured column ")
		got = append(got, place)
	}
	want := []string{
		"check.yaml:9: tables[1].columns[0].bad_values",
		"check.yaml:11: tables[1].columns[1].from",
		"check.yaml:14: tables[1].columns[2].fields[0].name",
		"check.yaml:16: tables[1].columns[3].bad_values",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	missing := errors.New("table demo.shop.orders: it does not exist")
	want = []string{"check.yaml:5: tables[1]: " + missing.Error()}
	if got := o.located(&catalog.Error{Table: name, Permanent: true, Err: missing}); len(got) != 1 || got[0].Error() != want[0] {
		t.Errorf("findings %v, want %v", got, want)
	}
	for _, err := range []error{errors.New("unreachable"), &catalog.Error{Table: name, Err: errors.New("unreachable")}} {
		if got := o.located(err); len(got) != 1 || !errors.Is(got[0], err) || got[0].Error() != err.Error() {
			t.Errorf("%v became %v", err, got)
		}
	}
}
