package table_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/table"
)

// orders is a table without problems.
func orders() *table.Table {
	return &table.Table{
		Name: shop("orders"),
		Columns: []table.Column{
			{Name: "order_id", Type: table.Int64, Mode: table.Required},
			{Name: "status", Type: table.String},
			{Name: "total", Type: table.Numeric, Precision: 12, Scale: 2},
			{Name: "tags", Type: table.String, Mode: table.Repeated},
			{Name: "address", Type: table.Struct, Fields: []table.Column{{Name: "city", Type: table.String, Mode: table.Required}}},
			{Name: "day", Type: table.Date},
			{Name: "valid", Type: table.Range, Element: table.Date},
			{Name: "updated_at", Type: table.Timestamp},
			{Name: "naïve 列-1", Type: table.Float64},
			{Name: "_", Type: table.JSON},
			{Name: "0", Type: table.Geography},
		},
		PrimaryKey: []string{"ORDER_ID", "status"}, ClusterBy: []string{"order_id"},
		PartitionBy: &table.Partition{Column: "updated_at", Type: "DAY"}, MaxStaleness: 15 * time.Minute,
	}
}

func TestNoProblems(t *testing.T) {
	t.Parallel()
	if problems := table.Problems(orders()); len(problems) > 0 {
		t.Error(errors.Join(problems...))
	}
	wide := orders()
	for i := len(wide.Columns); i < table.MaxColumns; i++ {
		wide.Columns = append(wide.Columns, table.Column{Name: fmt.Sprintf("c%d", i), Type: table.Int64})
	}
	wide.Columns[0].Name, wide.PrimaryKey[0] = strings.Repeat("é", 300), strings.Repeat("É", 300)
	wide.ClusterBy = wide.PrimaryKey
	if problems := table.Problems(wide); len(problems) > 0 {
		t.Error(errors.Join(problems...))
	}
	deep := orders()
	deep.Columns[1] = nested(table.MaxNesting)
	deep.PrimaryKey = deep.PrimaryKey[:1]
	if problems := table.Problems(deep); len(problems) > 0 {
		t.Error(errors.Join(problems...))
	}
}

// nested returns n STRUCTs in each other.
func nested(n int) table.Column {
	c := table.Column{Name: "x", Type: table.Int64}
	for range n {
		c = table.Column{Name: "x", Type: table.Struct, Fields: []table.Column{c}}
	}
	return c
}

func TestProblems(t *testing.T) {
	t.Parallel()
	column := func(c table.Column) func(*table.Table) {
		return func(t *table.Table) { t.Columns = append(t.Columns, c) }
	}
	named := func(name string) func(*table.Table) { return column(table.Column{Name: name, Type: table.Int64}) }
	key := func(names ...string) func(*table.Table) { return func(t *table.Table) { t.PrimaryKey = names } }
	keyOf := func(c table.Column) func(*table.Table) {
		return func(t *table.Table) { t.Columns = append(t.Columns, c); t.PrimaryKey = []string{c.Name} }
	}
	many := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("k%d", i))
		}
		return names
	}
	tests := []struct {
		name   string
		change func(*table.Table)
		want   string // "" for none
	}{
		{"no key", key(), "it has no primary key, and BigQuery takes CDC rows only for tables that declare one; run ALTER TABLE `demo.shop.orders` ADD PRIMARY KEY"},
		{"16 key columns", func(t *table.Table) {
			t.PrimaryKey = many(16)
			for _, name := range t.PrimaryKey {
				t.Columns = append(t.Columns, table.Column{Name: name, Type: table.Int64})
			}
		}, ""},
		{"17 key columns", func(t *table.Table) {
			t.PrimaryKey = many(17)
			for _, name := range t.PrimaryKey {
				t.Columns = append(t.Columns, table.Column{Name: name, Type: table.Int64})
			}
		}, "its primary key has 17 columns, and BigQuery takes 16 at most"},
		{"2,001 columns", func(t *table.Table) {
			for i := len(t.Columns); i < 2001; i++ {
				named(fmt.Sprintf("c%d", i))(t)
			}
		}, "it has 2001 columns, and BigQuery takes CDC rows for 2000 at most"},
		{"no columns", func(t *table.Table) { *t = table.Table{Name: t.Name, PrimaryKey: nil} }, "it has no columns"},
		{"a key column that is not there", key("order_id", "x"), `primary key column "x": the table has no such column`},
		{"a key column that is a field", key("address.city"), `primary key column "address.city": the table has no such column`},
		{"a key column twice", key("order_id", "Order_ID"), `primary key column "Order_ID": it is named twice`},
		{"a key of FLOAT64", keyOf(table.Column{Name: "k", Type: table.Float64}), `primary key column "k": it is of type FLOAT64; BigQuery takes BOOL, INT64, NUMERIC, BIGNUMERIC, STRING, DATE, DATETIME and TIMESTAMP in a primary key`},
		{"a key of BYTES", keyOf(table.Column{Name: "k", Type: table.Bytes}), "it is of type BYTES"},
		{"a key of TIME", keyOf(table.Column{Name: "k", Type: table.Time}), "it is of type TIME"},
		{"a key of JSON", keyOf(table.Column{Name: "k", Type: table.JSON}), "it is of type JSON"},
		{"a key of GEOGRAPHY", keyOf(table.Column{Name: "k", Type: table.Geography}), "it is of type GEOGRAPHY"},
		{"a key of INTERVAL", keyOf(table.Column{Name: "k", Type: table.Interval}), "it is of type INTERVAL"},
		{"a key of RANGE", key("valid"), "it is of type RANGE"},
		{"a key of STRUCT", key("address"), "it is of type STRUCT"},
		{"a key that is REPEATED", key("tags"), "it is REPEATED"},
		{"a key of BIGNUMERIC", keyOf(table.Column{Name: "k", Type: table.BigNumeric}), ""},
		{"a key of BOOL", keyOf(table.Column{Name: "k", Type: table.Bool}), ""},
		{"a key of DATETIME", keyOf(table.Column{Name: "k", Type: table.DateTime}), ""},

		{"_CHANGE_TYPE", named("_CHANGE_TYPE"), `column "_CHANGE_TYPE": BigQuery keeps names that begin with _CHANGE_TYPE for itself; rename it`},
		{"_change_type", named("_change_type"), "begin with _CHANGE_TYPE"},
		{"_Change_Sequence_Number", named("_Change_Sequence_Number"), "begin with _CHANGE_SEQUENCE_NUMBER"},
		{"_CHANGE_TIMESTAMP2", named("_CHANGE_TIMESTAMP2"), "begin with _CHANGE_TIMESTAMP"},
		{"_TABLE_x", named("_TABLE_x"), "begin with _TABLE_"},
		{"_file_", named("_file_"), "begin with _FILE_"},
		{"_partition_day", named("_partition_day"), "begin with _PARTITION"},
		{"_PARTITIONTIME", named("_PARTITIONTIME"), "begin with _PARTITION"},
		{"_row_timestamp", named("_row_timestamp"), "begin with _ROW_TIMESTAMP"},
		{"__root__a", named("__root__a"), "begin with __ROOT__"},
		{"_colidentifier1", named("_colidentifier1"), "begin with _COLIDENTIFIER"},
		{"_TABLE", named("_TABLE"), ""},
		{"CHANGE_TYPE", named("CHANGE_TYPE"), ""},
		{"a reserved word", named("interval"), ""},
		{"an empty name", named(""), `column "": its name is empty`},
		{"a long name", named(strings.Repeat("x", 301)), "its name has 301 characters, more than 300"},
		{"a backquote", named("a`; DROP"), "its name has '`', which BigQuery doesn't take"},
		{"a point", named("a.b"), "its name has '.'"},
		{"not UTF-8", named("a\xff"), "not UTF-8"},
		{"names that differ by case", named("Status"), `column "Status": it has the name of column "status" but for case`},
		{"fields that differ by case", column(table.Column{Name: "s", Type: table.Struct, Fields: []table.Column{
			{Name: "a", Type: table.Int64}, {Name: "A", Type: table.Int64},
		}}), `column "s.A": it has the name of column "s.a" but for case`},
		{"a field's name", column(table.Column{Name: "s", Type: table.Struct, Fields: []table.Column{{Name: "a$", Type: table.Int64}}}), `column "s.a$": its name has '$'`},

		{"no type", column(table.Column{Name: "c"}), `column "c": BigQuery has no type ""`},
		{"another type", column(table.Column{Name: "c", Type: "TEXT"}), `BigQuery has no type "TEXT"`},
		{"an alias", column(table.Column{Name: "c", Type: "INTEGER"}), `BigQuery has no type "INTEGER"`},
		{"another mode", column(table.Column{Name: "c", Type: table.Int64, Mode: "OPTIONAL"}), `BigQuery has no mode "OPTIONAL"`},
		{"a STRUCT without fields", column(table.Column{Name: "c", Type: table.Struct}), "a STRUCT needs fields"},
		{"fields without a STRUCT", column(table.Column{Name: "c", Type: table.JSON, Fields: orders().Columns[:1]}), "it is of type JSON and has fields"},
		{"a RANGE of nothing", column(table.Column{Name: "c", Type: table.Range}), "a RANGE needs its elements' type"},
		{"a RANGE of INT64", column(table.Column{Name: "c", Type: table.Range, Element: table.Int64}), "a RANGE needs its elements' type"},
		{"an element without a RANGE", column(table.Column{Name: "c", Type: table.Date, Element: table.Date}), "only a RANGE has one"},
		{"a length of INT64", column(table.Column{Name: "c", Type: table.Int64, MaxLength: 1}), "INT64 has no maximum length"},
		{"a precision of FLOAT64", column(table.Column{Name: "c", Type: table.Float64, Precision: 1}), "FLOAT64 has no precision"},
		{"a negative length", column(table.Column{Name: "c", Type: table.String, MaxLength: -1}), "its maximum length is -1"},
		{"a large scale", column(table.Column{Name: "c", Type: table.Numeric, Precision: 12, Scale: 10}), "its scale is 10"},
		{"a scale alone", column(table.Column{Name: "c", Type: table.Numeric, Scale: 2}), "its precision is 0; with scale 2, NUMERIC takes 2 to 31"},
		{"16 STRUCTs in each other", column(nested(16)), "it is inside 15 STRUCTs"},
		{"a long description", column(table.Column{Name: "c", Type: table.Int64, Description: strings.Repeat("x", 1025)}), "its description has 1025 characters"},

		{"clustered by another column", func(t *table.Table) { t.ClusterBy = []string{"x"} }, `cluster_by column "x": the table has no such column`},
		{"clustered by FLOAT64", func(t *table.Table) { t.ClusterBy = []string{"naïve 列-1"} }, "it is of type FLOAT64; BigQuery clusters by"},
		{"clustered by an array", func(t *table.Table) { t.ClusterBy = []string{"tags"} }, "it is of type ARRAY<STRING>"},
		{"clustered by five", func(t *table.Table) { t.ClusterBy = []string{"order_id", "status", "total", "day", "valid"} }, "it is clustered by 5 columns"},
		{"partitioned by another column", func(t *table.Table) { t.PartitionBy.Column = "x" }, `partition_by column "x": the table has no such column`},
		{"partitioned by STRING", func(t *table.Table) { t.PartitionBy.Column = "status" }, "it is of type STRING; BigQuery partitions by"},
		{"partitioned by the hours of a DATE", func(t *table.Table) { t.PartitionBy = &table.Partition{Column: "day", Type: "HOUR"} }, "a DATE has no hours"},
		{"partitioned by the week", func(t *table.Table) { t.PartitionBy.Type = "WEEK" }, `it is partitioned by "WEEK"`},
		{"partitioned by ingestion", func(t *table.Table) { t.PartitionBy = &table.Partition{Type: "HOUR"} }, ""},
		{"a negative staleness", func(t *table.Table) { t.MaxStaleness = -time.Second }, "it can't be negative"},
		{"a staleness of a fraction", func(t *table.Table) { t.MaxStaleness = time.Millisecond }, "give whole seconds"},
		{"a description", func(t *table.Table) { t.Description = strings.Repeat("x", 16385) }, "its description has 16385 characters"},
		{"a name", func(t *table.Table) { t.Name.Dataset = "a-b" }, `dataset "a-b" has '-'`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tbl := orders()
			test.change(tbl)
			problems := table.Problems(tbl)
			if test.want == "" {
				if len(problems) > 0 {
					t.Error(errors.Join(problems...))
				}
				return
			}
			if len(problems) == 0 || !strings.Contains(errors.Join(problems...).Error(), test.want) {
				t.Fatalf("got %v, want it to say %q", errors.Join(problems...), test.want)
			}
			for _, problem := range problems {
				if !strings.HasPrefix(problem.Error(), "table "+tbl.Name.String()+": ") {
					t.Errorf("the table is not named in %v", problem)
				}
			}
		})
	}
}

func TestProblemsAllAtOnce(t *testing.T) {
	t.Parallel()
	tbl := orders()
	tbl.Columns = append(tbl.Columns, table.Column{Name: "_FILE_x", Type: "TEXT"}, table.Column{Name: "STATUS", Type: table.Struct})
	tbl.PrimaryKey = []string{"x", "tags"}
	if problems := table.Problems(tbl); len(problems) != 6 {
		t.Errorf("%d problems, want 6:\n%v", len(problems), errors.Join(problems...))
	}
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		configured []string
		want       string
	}{
		{nil, ""},
		{[]string{"order_id", "status"}, ""},
		{[]string{"Status", "ORDER_id"}, ""}, // order and case don't matter
		{[]string{"order_id"}, "table demo.shop.orders: the configured primary key is (order_id), and BigQuery declares (ORDER_ID, status)"},
		{[]string{"order_id", "status", "total"}, "is (order_id, status, total), and"},
		{[]string{"order_id", "order_id"}, "is (order_id, order_id), and"},
		{[]string{"order_id", "total"}, "is (order_id, total), and"},
	}
	for _, test := range tests {
		err := table.CheckKey(test.configured, orders())
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%v: %v", test.configured, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v: got %v, want it to say %q", test.configured, err, test.want)
		}
	}
	none := orders()
	none.PrimaryKey = nil
	if err := table.CheckKey([]string{"order_id"}, none); err == nil || !strings.Contains(err.Error(), "BigQuery declares none") {
		t.Errorf("no key: got %v", err)
	}
}

// Of a table without columns that alone is told: its key and its options name columns.
func TestProblems_noColumns(t *testing.T) {
	bare := orders()
	bare.Columns = nil
	if problems := table.Problems(bare); len(bare.PrimaryKey) == 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "it has no columns") {
		t.Errorf("problems: %v", problems)
	}
}
