package diff

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/internal/cdctest"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

const maskKey = "0123456789abcdef"

func masked(text string) string {
	h := hmac.New(sha256.New, []byte(maskKey))
	_, _ = h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// people is a rule with each kind of step, and its table.
func people() (*table.Rule, *table.Table) {
	rule := &table.Rule{Source: "public.people", Destination: "d.people", Enrich: []table.Step{
		{Rename: []table.Renaming{{From: "id", To: "person_id"}, {From: "a", To: "b"}, {From: "b", To: "a"}}},
		{Metadata: []table.MetadataColumn{{Column: "committed", Of: table.MetadataCommitTime}, {Column: "of", Of: table.MetadataTable}}},
		{Lookup: &table.Lookup{CSV: "/none.csv", Key: []table.ColumnPair{{Column: "a", Reference: "a"}}, Columns: []table.ColumnPair{{Column: "area", Reference: "name"}}}},
		{Set: []table.Assignment{
			{Column: "twice", Expression: "row.net * 2"}, {Column: "how", Expression: "op"}, {Column: "far", Expression: "row.area + '!'"},
		}},
		{Where: "row.twice < 1000"},
		{Mask: &table.Mask{Columns: []string{"email"}, By: table.MaskSHA256, Key: &table.SecretKey{Environment: "KEY"}}},
		{Drop: []string{"note", "how"}},
		{Rename: []table.Renaming{{From: "far", To: "farther"}}},
	}}
	t := &table.Table{
		Name: table.Name{Project: cdctest.Project, Dataset: "d", Table: "people"}, PrimaryKey: []string{"person_id"},
		Columns: []table.Column{
			{Name: "person_id", Type: table.Int64, Mode: table.Required},
			{Name: "email", Type: table.String},
			{Name: "a", Type: table.String},
			{Name: "b", Type: table.String},
			{Name: "net", Type: table.Int64},
			{Name: "twice", Type: table.Int64},
			{Name: "committed", Type: table.Timestamp},
			{Name: "of", Type: table.String},
			{Name: "area", Type: table.String},
			{Name: "farther", Type: table.String},
		},
	}
	return rule, t
}

// enriched opens a file of rows as the source of the rule's table.
func enriched(t *testing.T, rule *table.Rule, destination *table.Table, key func(table.SecretKey) ([]byte, error), lines ...string) (*Table, *File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(source.Close)
	rows, err := rowproto.Compile(destination)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := NewEnrichment(rule, rows, source.Columns(), key)
	if err != nil {
		return nil, nil, err
	}
	compared, err := NewEnrichedTable(rule.Source, destination, source.Columns(), steps)
	if err == nil {
		source.Use(compared)
	}
	return compared, source, err
}

func readKey(table.SecretKey) ([]byte, error) { return []byte(maskKey), nil }

// The steps are done to the source's rows before they are compared; what they make of
// the change, and not of the row, is left out with its reason.
func TestComparer_enriched(t *testing.T) {
	w := cdctest.Start(t, time.Date(2026, 3, 9, 9, 0, 0, 0, time.UTC), "d")
	rule, destination := people()
	w.Run("%s", strings.TrimSuffix(destination.DDL(), ";\n"))
	for id, email := range []string{"zero@x", "one@x", "two@x", "other@x", "four@x"} { // 3 has another address, 4 is over where's bound
		w.Run("INSERT INTO d.people (person_id, email, a, b, net, twice, `of`, area, farther) VALUES (%[1]d, '%[2]s', 'B%[1]d', 'A%[1]d', %[1]d, %[3]d, 'public.people', 'x', 'x!')",
			id, masked(email), 2*id)
	}
	var lines []string
	for id, email := range []string{"zero@x", "one@x", "two@x", "three@x"} {
		lines = append(lines, fmt.Sprintf(`{"note":"n","b":"B%d","id":%[1]d,"email":%q,"a":"A%[1]d","net":%[1]d}`, id, email))
	}
	lines = append(lines, `{"id":4,"email":"four@x","a":"A4","b":"B4","net":5000}`, `{"id":5,"email":"five@x","a":"A5","b":"B5","net":5000}`, `{"id":6,"email":"six@x","a":"A6","b":"B6","net":6}`)
	compared, source, err := enriched(t, rule, destination, readKey, lines...)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(compared.Left)); !slices.Equal(got, []string{"area", "committed", "farther"}) {
		t.Errorf("left out are %v", compared.Left)
	}
	if len(compared.OnlySource)+len(compared.OnlyBigQuery) > 0 {
		t.Errorf("only one has %q and %q", compared.OnlySource, compared.OnlyBigQuery)
	}
	var got []string
	c := Comparer{Table: compared, Source: source, BigQuery: NewBigQuery(w.SQL, compared)}
	c.Found = func(_ context.Context, differences []Difference) error {
		for _, d := range differences {
			got = append(got, fmt.Sprint(d.Kind, " ", d.Key.Values[0].Int(), " ", strings.Join(d.Columns, ",")))
		}
		return nil
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"different 3 email", "extra 4 ", "missing 6 "}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNewEnrichment_refuses(t *testing.T) {
	row := `{"id":1,"email":"x","a":"A","b":"B","net":1}`
	for name, test := range map[string]struct {
		change func(*table.Rule)
		want   string
	}{
		"a where of the change":    {func(r *table.Rule) { r.Enrich[4].Where = "op != 'create'" }, "enrich[4].where: its expression reads op, which is the change's: which of the source's rows"},
		"a where of a lookup":      {func(r *table.Rule) { r.Enrich[4].Where = "row.area != ''" }, "reads area, of which a lookup's reference may be another by now"},
		"a masked key":             {func(r *table.Rule) { r.Enrich[5].Mask.Columns = []string{"person_id"} }, "column person_id of its primary key: it is masked"},
		"an expression that is no": {func(r *table.Rule) { r.Enrich[3].Set[0].Expression = "row.net *" }, "enrich[3].set: "},
	} {
		t.Run(name, func(t *testing.T) {
			rule, destination := people()
			destination.Columns[0].Type = table.String
			test.change(rule)
			if _, _, err := enriched(t, rule, destination, readKey, row); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	rule, destination := people()
	compared, _, err := enriched(t, rule, destination, func(table.SecretKey) ([]byte, error) { return nil, errors.New("no variable KEY") }, row)
	if err != nil || compared.Left["email"] != "the key of its mask can't be read here: no variable KEY" {
		t.Errorf("%v, left out %v", err, compared)
	}
}
