package table_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

func TestTable_Difference(t *testing.T) {
	column := func(name string, typ table.Type) table.Column {
		return table.Column{Name: name, Type: typ, Mode: table.Nullable}
	}
	have := func(columns ...table.Column) table.Table {
		return table.Table{Name: shop("orders"), Columns: columns, PrimaryKey: []string{"id"}, ClusterBy: []string{"id"}}
	}
	with := func(t table.Table, change func(*table.Table)) table.Table {
		change(&t)
		return t
	}
	id, text := column("id", table.Int64), column("text", table.String)
	of := func(c table.Column, change func(*table.Column)) table.Column {
		change(&c)
		return c
	}
	required := func(c *table.Column) { c.Mode = table.Required }
	for name, test := range map[string]struct {
		have, want table.Table
		statements []string
		left       []string // a part of each
	}{
		"nothing":                  {have: have(id, text), want: have(id, text)},
		"only BigQuery has it":     {have: have(id, text), want: have(id)},
		"names know no case":       {have: have(id, text), want: have(id, column("TEXT", table.String))},
		"a stricter mode":          {have: have(id, text), want: have(id, of(text, required))},
		"a wider type is there":    {have: have(id, column("n", table.BigNumeric)), want: have(id, column("n", table.Int64))},
		"a longer text is there":   {have: have(id, of(text, func(c *table.Column) { c.MaxLength = 9 })), want: have(id, of(text, func(c *table.Column) { c.MaxLength = 8 }))},
		"what isn't wanted to be":  {have: with(have(id), func(t *table.Table) { t.MaxStaleness = time.Hour; t.Description = "x" }), want: have(id)},
		"the key in another order": {have: with(have(id, text), func(t *table.Table) { t.PrimaryKey = []string{"text", "id"} }), want: with(have(id, text), func(t *table.Table) { t.PrimaryKey = []string{"ID", "text"} })},
		"columns": {
			have: have(id), want: have(id, of(text, required), of(column("s", table.Struct), func(c *table.Column) { c.Fields = []table.Column{of(text, required)} })),
			statements: []string{"ADD COLUMN `text` STRING,\n  ADD COLUMN `s` STRUCT<`text` STRING>"},
		},
		"types": {
			have: have(id, column("n", table.Int64), of(text, func(c *table.Column) { c.MaxLength = 9 }), of(column("d", table.Numeric), func(c *table.Column) { c.Precision, c.Scale = 10, 2 })),
			want: have(id, column("n", table.Numeric), text, of(column("d", table.Numeric), func(c *table.Column) { c.Precision, c.Scale = 12, 2 })),
			statements: []string{
				"ALTER COLUMN `n` SET DATA TYPE NUMERIC", "ALTER COLUMN `text` SET DATA TYPE STRING", "ALTER COLUMN `d` SET DATA TYPE NUMERIC(12, 2)",
			},
		},
		"modes and descriptions": {
			have:       have(id, of(text, required)),
			want:       have(id, of(text, func(c *table.Column) { c.Description = `"` })),
			statements: []string{"ALTER COLUMN `text` DROP NOT NULL", "ALTER COLUMN `text` SET OPTIONS (description = \"\\\"\")"},
		},
		"options and key": {
			have:       with(have(id), func(t *table.Table) { t.PrimaryKey = nil; t.MaxStaleness = time.Minute }),
			want:       with(have(id), func(t *table.Table) { t.MaxStaleness = 90 * time.Second; t.Description = "d" }),
			statements: []string{`SET OPTIONS (max_staleness = INTERVAL 90 SECOND, description = "d")`, "ADD PRIMARY KEY (`id`) NOT ENFORCED"},
		},
		"fields": {
			have: have(id, of(column("s", table.Struct), func(c *table.Column) { c.Fields = []table.Column{of(text, required)} })),
			want: have(id, of(column("s", table.Struct), func(c *table.Column) { c.Fields = []table.Column{text, column("n", table.Int64)} })),
			statements: []string{
				"ALTER COLUMN `s` SET DATA TYPE STRUCT<`text` STRING, `n` INT64>",
			},
		},
		"another type":       {have: have(id, text), want: have(id, column("text", table.Int64)), left: []string{"column text is of type STRING, and should be of type INT64"}},
		"never to a double":  {have: have(id, column("n", table.Int64)), want: have(id, column("n", table.Float64)), left: []string{"column n"}},
		"an array":           {have: have(id, text), want: have(id, of(text, func(c *table.Column) { c.Mode = table.Repeated })), left: []string{"of type ARRAY<STRING>"}},
		"a field's type":     {have: have(id, of(column("s", table.Struct), func(c *table.Column) { c.Fields = []table.Column{column("n", table.Int64)} })), want: have(id, of(column("s", table.Struct), func(c *table.Column) { c.Fields = []table.Column{column("n", table.Numeric)} })), left: []string{"column s.n"}},
		"another key":        {have: have(id, text), want: with(have(id, text), func(t *table.Table) { t.PrimaryKey = []string{"text"} }), left: []string{"its primary key is (id), and should be (text)"}},
		"another clustering": {have: have(id, text), want: with(have(id, text), func(t *table.Table) { t.ClusterBy = []string{"text"} }), left: []string{"bq update --clustering_fields=text 'demo:shop.orders'"}},
		"other partitioning": {have: have(id, column("d", table.Date)), want: with(have(id, column("d", table.Date)), func(t *table.Table) { t.PartitionBy = &table.Partition{Column: "d", Type: "DAY"} }), left: []string{"partitioned by `d`"}},
		"another bound's type": {
			have: have(id, of(column("r", table.Range), func(c *table.Column) { c.Element = table.Date })),
			want: have(id, of(column("r", table.Range), func(c *table.Column) { c.Element = table.Timestamp })), left: []string{"RANGE<TIMESTAMP>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.have.Difference(&test.want)
			var want []string
			for _, s := range test.statements {
				want = append(want, "ALTER TABLE `demo.shop.orders`\n  "+s+";\n")
			}
			if diff := cmp.Diff(want, got.Statements); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
			if len(got.Left) != len(test.left) {
				t.Fatalf("left: %q, want %q", got.Left, test.left)
			}
			for i := range test.left {
				if !strings.Contains(got.Left[i], test.left[i]) {
					t.Errorf("left: %q, want it to have %q", got.Left[i], test.left[i])
				}
			}
		})
	}
}
