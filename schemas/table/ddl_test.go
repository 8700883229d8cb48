package table_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/table"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func shop(name string) table.Name { return table.Name{Project: "demo", Dataset: "shop", Table: name} }

var ddlTables = map[string]table.Table{
	"orders": {
		Name: shop("orders"),
		Columns: []table.Column{
			{Name: "order_id", Type: table.Int64, Mode: table.Required},
			{Name: "status", Type: table.String, MaxLength: 20, Description: `one of "placed", 'shipped'`},
			{Name: "total", Type: table.Numeric, Precision: 12, Scale: 2},
			{Name: "weight", Type: table.BigNumeric, Precision: 40},
			{Name: "address", Type: table.Struct, Fields: []table.Column{
				{Name: "city", Type: table.String, Mode: table.Required, Description: "a city"},
				{Name: "lines", Type: table.String, Mode: table.Repeated},
			}},
			{Name: "tags", Type: table.String, Mode: table.Repeated},
			{Name: "valid", Type: table.Range, Element: table.Date},
			{Name: "updated_at", Type: table.Timestamp, From: table.FromMicros, BadValues: table.PolicyNull},
		},
		PrimaryKey: []string{"order_id"}, ClusterBy: []string{"order_id"},
		PartitionBy:  &table.Partition{Column: "updated_at", Type: "DAY"},
		MaxStaleness: 15 * time.Minute, Description: "The shop's orders.\nKept by a pipeline.",
	},
	"composite_key": {
		Name:       shop("order_lines"),
		Columns:    []table.Column{{Name: "order_id", Type: table.Int64}, {Name: "line_no", Type: table.Int64}},
		PrimaryKey: []string{"line_no", "order_id"}, ClusterBy: []string{"order_id", "line_no"}, MaxStaleness: 90 * time.Second,
	},
	"no_key": {Name: shop("history"), Columns: []table.Column{{Name: "change_id", Type: table.String}}, MaxStaleness: 2 * time.Hour},
	// Reserved words, other scripts, and what would end a quotation if it were not escaped.
	"names": {
		Name: table.Name{Project: "example.com:demo", Dataset: "shop", Table: "group"},
		Columns: []table.Column{
			{Name: "current", Type: table.Date, Mode: table.Required},
			{Name: "interval", Type: table.Interval},
			{Name: "naïve 列", Type: table.JSON},
			{Name: "`; DROP TABLE shop.orders; --", Type: table.Geography, Description: "\"; DROP TABLE shop.orders; --\\\n\x00\t\u2028\xff"},
		},
		PrimaryKey: []string{"current"}, PartitionBy: &table.Partition{Column: "CURRENT", Type: "DAY"},
		Description: `\"`,
	},
}

func TestDDL(t *testing.T) {
	t.Parallel()
	for name, tbl := range ddlTables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "ddl", name+".sql")
			got := tbl.DDL()
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDDLPartitions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		column    table.Column
		partition table.Partition
		want      string
	}{
		{table.Column{Name: "t", Type: table.Timestamp}, table.Partition{Column: "t", Type: "HOUR"}, "TIMESTAMP_TRUNC(`t`, HOUR)"},
		{table.Column{Name: "t", Type: table.DateTime}, table.Partition{Column: "t", Type: "DAY"}, "DATETIME_TRUNC(`t`, DAY)"},
		{table.Column{Name: "t", Type: table.Date}, table.Partition{Column: "t", Type: "DAY"}, "`t`"},
		{table.Column{Name: "t", Type: table.Date}, table.Partition{Column: "t", Type: "MONTH"}, "DATE_TRUNC(`t`, MONTH)"},
		{table.Column{Name: "t", Type: table.Date}, table.Partition{Type: "DAY"}, "_PARTITIONDATE"},
		{table.Column{Name: "t", Type: table.Date}, table.Partition{Type: "YEAR"}, "TIMESTAMP_TRUNC(_PARTITIONTIME, YEAR)"},
	}
	for _, test := range tests {
		tbl := table.Table{Name: shop("t"), Columns: []table.Column{test.column}, PartitionBy: &test.partition}
		if got := tbl.DDL(); !strings.Contains(got, "\nPARTITION BY "+test.want+";\n") {
			t.Errorf("%+v: got %s, want %s", test.partition, got, test.want)
		}
	}
}

// TestDDLQuotes: whatever names and descriptions hold, the statement has the
// quotation marks of one that holds plain letters. An independent reader counts.
func TestDDLQuotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a`\"'\\\n;-)\u2028é"))).Draw(t, "text")
		ddl := func(text string) string {
			tbl := table.Table{
				Name: shop(text), Columns: []table.Column{{Name: text, Type: table.Int64, Description: text + "d"}},
				PrimaryKey: []string{text}, Description: text + "d",
			}
			return tbl.DDL()
		}
		want, got := outsideQuotes(ddl("a")), outsideQuotes(ddl(text))
		if want != got {
			t.Fatalf("%q changes the statement from\n%s\nto\n%s", text, want, got)
		}
	})
}

// outsideQuotes returns the statement without what is quoted in it.
func outsideQuotes(statement string) string {
	var b strings.Builder
	var mark byte
	for i := 0; i < len(statement); i++ {
		c := statement[i]
		switch {
		case mark == 0 && (c == '`' || c == '"' || c == '\''):
			mark = c
		case mark == 0:
			b.WriteByte(c)
		case c == '\\':
			i++ // and what it escapes
		case c == mark:
			mark = 0
		case c == '\n':
			b.WriteString("(a line break inside a quotation)")
		}
	}
	return b.String()
}
