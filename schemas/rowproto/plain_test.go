package rowproto

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// A plain row has what its columns have and nothing else, and its table no key.
func TestCompilePlain(t *testing.T) {
	of := &table.Table{
		Name:    table.Name{Project: "p", Dataset: "d", Table: "t"},
		Columns: []table.Column{{Name: "a", Type: table.String, Mode: table.Required}, {Name: "b", Type: table.Int64}},
	}
	p, err := CompilePlain(of)
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.NewEncoder().AppendPlain([]byte("…"), []change.Column{{Name: "b", Value: change.Int64(1)}, {Name: "a", Value: change.String("x")}})
	if err != nil {
		t.Fatal(err)
	}
	md := messageType(t, p)
	if n := md.Fields().Len(); n != 2 {
		t.Errorf("its descriptor has %d fields", n)
	}
	if diff := cmp.Diff(map[string]any{"a": "x", "b": int64(1)}, read(t, md, data[len("…"):])); diff != "" {
		t.Error(diff)
	}
	var e *ValueError
	if _, err := p.NewEncoder().AppendPlain(nil, nil); !errors.As(err, &e) || e.Reason != ReasonNullRequired || e.Table != "p.d.t" {
		t.Errorf("a row without its REQUIRED column: %v", err)
	}
	of.PrimaryKey = []string{"a"}
	cdc, err := Compile(of)
	if err != nil {
		t.Fatal(err)
	}
	if cdc.Fingerprint() == p.Fingerprint() {
		t.Error("a table's plain rows and its CDC rows have one fingerprint")
	}
}
