package googlesql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// parsed parses one statement without its positions and expressions.
func parsed(t *testing.T, text string) Statement {
	t.Helper()
	statements, err := Parse(text)
	if err != nil || len(statements) != 1 {
		t.Fatalf("%s: %d statements, error %v", text, len(statements), err)
	}
	return statements[0]
}

func table(path ...string) *TableRef { return &TableRef{Path: path} }

func TestStatements(t *testing.T) {
	str, num := Of(String), Of(Int64)
	for text, want := range map[string]Statement{
		"CREATE OR REPLACE TABLE p.d.t (id INT64 NOT NULL OPTIONS (description = 'x'), l ARRAY<STRUCT<a INT64 NOT NULL, b STRING(3)>>, n NUMERIC(5, 2) DEFAULT 1 + 1, r RANGE<DATE>, PRIMARY KEY (id, n) NOT ENFORCED) PARTITION BY DATE_TRUNC(day, MONTH) CLUSTER BY id, n": &CreateTable{
			Table: table("p", "d", "t"), OrReplace: true,
			Columns: []ColumnDefinition{
				{Name: "id", Type: num, NotNull: true, Options: []Option{{Name: "description", Text: "'x'"}}},
				{Name: "l", Type: ArrayOf(&Type{Kind: Struct, Fields: []Field{{Name: "a", Type: num, NotNull: true}, {Name: "b", Type: &Type{Kind: String, Length: 3}}}})},
				{Name: "n", Type: &Type{Kind: Numeric, Precision: 5, Scale: 2}, Default: "1 + 1"},
				{Name: "r", Type: &Type{Kind: Range, Elem: Of(Date)}},
			},
			PrimaryKey: &PrimaryKey{[]string{"id", "n"}}, PartitionBy: "DATE_TRUNC(day, MONTH)", Partitioning: &Partitioning{Column: "day", Unit: "MONTH"}, ClusterBy: []string{"id", "n"},
		},
		"CREATE TABLE IF NOT EXISTS t (id INT64) PARTITION BY RANGE_BUCKET(id, GENERATE_ARRAY(0, 100, 10))": &CreateTable{
			Table: table("t"), IfNotExists: true, Columns: []ColumnDefinition{{Name: "id", Type: num}},
			PartitionBy: "RANGE_BUCKET(id, GENERATE_ARRAY(0, 100, 10))", Partitioning: &Partitioning{Column: "id", End: 100, Interval: 10},
		},
		"CREATE TEMP TABLE t LIKE d.u":                                     &CreateTable{Table: table("t"), Temporary: true, Like: table("d", "u")},
		"CREATE TABLE d.t COPY d.u":                                        &CreateTable{Table: table("d", "t"), Copy: table("d", "u")},
		"CREATE TABLE d.t CLONE d.u":                                       &CreateTable{Table: table("d", "t"), Clone: table("d", "u")},
		"CREATE SNAPSHOT TABLE d.t CLONE d.u":                              &CreateTable{Table: table("d", "t"), Snapshot: true, Clone: table("d", "u")},
		"CREATE SCHEMA IF NOT EXISTS `p-1`.d":                              &CreateSchema{Name: table("p-1", "d"), IfNotExists: true},
		"DROP SCHEMA d CASCADE":                                            &Drop{Kind: "SCHEMA", Name: table("d"), Cascade: true},
		"DROP TABLE IF EXISTS my-project.d.t":                              &Drop{Kind: "TABLE", Name: table("my-project", "d", "t"), IfExists: true},
		"DROP VIEW project-123.d.v":                                        &Drop{Kind: "VIEW", Name: table("project-123", "d", "v")},
		"DROP SNAPSHOT TABLE d.s":                                          &Drop{Kind: "SNAPSHOT TABLE", Name: table("d", "s")},
		"DROP SEARCH INDEX i ON d.t":                                       &Drop{Kind: "SEARCH INDEX", Name: table("i"), On: table("d", "t")},
		"TRUNCATE TABLE d.t":                                               &Truncate{Table: table("d", "t")},
		"CREATE SEARCH INDEX i ON t (a, b)":                                &CreateSearchIndex{Name: "i", Table: table("t"), Columns: []string{"a", "b"}},
		"CREATE SEARCH INDEX i ON t(ALL COLUMNS)":                          &CreateSearchIndex{Name: "i", Table: table("t")},
		"CREATE RESERVATION `p.region-us.r` OPTIONS (slot_capacity = 100)": &CreateReservation{Kind: "RESERVATION", Name: table("p", "region-us", "r"), Options: []Option{{Name: "slot_capacity", Text: "100"}}},
		"ALTER SCHEMA d SET OPTIONS (description = NULL)":                  &AlterSchema{Name: table("d"), Options: []Option{{Name: "description", Text: "NULL"}}},
		"ALTER VIEW d.v SET OPTIONS (description = 'x')":                   &AlterTable{Table: table("d", "v"), View: true, Actions: []AlterAction{{Kind: "SET OPTIONS", Options: []Option{{Name: "description", Text: "'x'"}}}}},
		"ALTER TABLE IF EXISTS t ADD COLUMN IF NOT EXISTS a STRING DEFAULT 'x', DROP COLUMN IF EXISTS b, RENAME COLUMN c TO d, RENAME TO u, ALTER COLUMN e SET DEFAULT 1, ALTER COLUMN e DROP DEFAULT, ALTER COLUMN f DROP NOT NULL, ALTER COLUMN g SET DATA TYPE STRING, ALTER COLUMN h SET OPTIONS (description = 'y'), ADD PRIMARY KEY (i) NOT ENFORCED, DROP PRIMARY KEY IF EXISTS": &AlterTable{
			Table: table("t"), IfExists: true, Actions: []AlterAction{
				{Kind: "ADD COLUMN", IfNotExists: true, Definition: ColumnDefinition{Name: "a", Type: str, Default: "'x'"}},
				{Kind: "DROP COLUMN", IfExists: true, Column: "b"},
				{Kind: "RENAME COLUMN", Column: "c", To: "d"},
				{Kind: "RENAME TO", To: "u"},
				{Kind: "SET DEFAULT", Column: "e", Definition: ColumnDefinition{Default: "1"}},
				{Kind: "DROP DEFAULT", Column: "e"},
				{Kind: "DROP NOT NULL", Column: "f"},
				{Kind: "SET DATA TYPE", Column: "g", Definition: ColumnDefinition{Type: str}},
				{Kind: "COLUMN SET OPTIONS", Column: "h", Options: []Option{{Name: "description", Text: "'y'"}}},
				{Kind: "ADD PRIMARY KEY", PrimaryKey: &PrimaryKey{[]string{"i"}}},
				{Kind: "DROP PRIMARY KEY", IfExists: true},
			},
		},
	} {
		got := parsed(t, text)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(TableRef{}, Option{}, Query{})); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

func TestStatementTypes(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "SELECT", "INSERT t VALUES (1)": "INSERT", "UPDATE t SET a = 1 WHERE TRUE": "UPDATE", "DELETE t WHERE TRUE": "DELETE",
		"MERGE t USING u ON TRUE WHEN MATCHED THEN DELETE": "MERGE", "CREATE TABLE t (a INT64)": "CREATE_TABLE", "CREATE TABLE t AS SELECT 1 AS a": "CREATE_TABLE_AS_SELECT",
		"CREATE SNAPSHOT TABLE t CLONE u": "CREATE_SNAPSHOT_TABLE", "CREATE VIEW v AS SELECT 1 AS a": "CREATE_VIEW", "DROP TABLE t": "DROP_TABLE", "DROP VIEW v": "DROP_VIEW",
		"DROP SNAPSHOT TABLE t": "DROP_SNAPSHOT_TABLE", "CREATE SCHEMA s": "CREATE_SCHEMA", "DROP SCHEMA s": "DROP_SCHEMA", "ALTER SCHEMA s SET OPTIONS ()": "ALTER_SCHEMA",
		"ALTER TABLE t RENAME TO u": "ALTER_TABLE", "TRUNCATE TABLE t": "TRUNCATE_TABLE", "CREATE SEARCH INDEX i ON t (a)": "CREATE_SEARCH_INDEX",
		"CREATE ASSIGNMENT `p.region-us.r.a` OPTIONS (job_type = 'QUERY')": "CREATE_ASSIGNMENT", "EXPORT DATA OPTIONS (uri = 'gs://b/*', format = 'CSV') AS SELECT 1": "EXPORT_DATA",
	} {
		if got := parsed(t, text).Type(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestScriptOfStatements(t *testing.T) {
	statements, err := Parse(";SELECT 1; SELECT 2 -- last\n;")
	if err != nil || len(statements) != 2 {
		t.Fatalf("%d statements, error %v", len(statements), err)
	}
	if got := statements[1].(*Query).Text(); got != "SELECT 2" {
		t.Errorf("text %q", got)
	}
}

func TestViewText(t *testing.T) {
	d := newTestTable(t)
	view := parsed(t, "CREATE OR REPLACE VIEW d.v (a, b) AS (SELECT id, 'x' FROM ds.t WHERE id < 3) ORDER BY 1 DESC").(*CreateView)
	if got, want := view.As.Text(), "(SELECT id, 'x' FROM ds.t WHERE id < 3) ORDER BY 1 DESC"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	translation, err := view.As.Translate(d.options())
	if err != nil {
		t.Fatal(err)
	}
	d.tables["d.v"] = translation.Relation(view.Columns)
	if got, failure, _ := d.query("SELECT a, b FROM d.v ORDER BY a", d.options()); got != "1|x;2|x" {
		t.Error(got, failure)
	}
}

func TestOptionValues(t *testing.T) {
	table := parsed(t, "CREATE TABLE t (a INT64) OPTIONS (description = 'x', labels = [('a', 'b'), ('c', 'd')], partition_expiration_days = 1.5, require_partition_filter = TRUE, kms_key_name = NULL, expiration_timestamp = TIMESTAMP '2025-01-01', n = -3, max_staleness = INTERVAL '0 1:30:0' DAY TO SECOND, later = TIMESTAMP_ADD(CURRENT_TIMESTAMP(), INTERVAL 1 DAY))").(*CreateTable)
	want := []any{"x", []any{[]any{"a", "b"}, []any{"c", "d"}}, 1.5, true, nil, "2025-01-01", int64(-3), IntervalValue{Micros: 5_400_000_000}}
	for i, w := range want {
		if got, ok := table.Options[i].Constant(); !ok || !cmp.Equal(got, w) {
			t.Errorf("%s is %v, want %v", table.Options[i].Name, got, w)
		}
	}
	last := table.Options[len(table.Options)-1]
	if _, ok := last.Constant(); ok {
		t.Error("a call is a constant")
	}
	d := newDatabase(t)
	sql, typ, err := last.SQL(d.options())
	if err != nil || typ.Kind != Timestamp {
		t.Fatal(typ, err)
	}
	if got, failure := d.run(Translation{SQL: "SELECT " + sql, Columns: []Column{{Type: typ}}}); got != "2025-03-10 08:07:06.005004+00" {
		t.Error(got, failure)
	}
}

func TestTypes(t *testing.T) {
	for _, text := range []string{
		"BOOL", "INT64", "FLOAT64", "NUMERIC", "NUMERIC(5, 2)", "BIGNUMERIC(40)", "STRING", "STRING(3)", "BYTES", "DATE", "TIME", "DATETIME", "TIMESTAMP", "JSON",
		"GEOGRAPHY", "INTERVAL", "RANGE<DATE>", "ARRAY<STRING>", "STRUCT<a INT64, b ARRAY<STRUCT<c DATE>>>", "STRUCT<INT64, STRING>",
	} {
		typ, err := ParseType(text)
		if err != nil || typ.String() != text {
			t.Errorf("%s: %v, error %v", text, typ, err)
		}
	}
	d := newDatabase(t)
	for _, text := range []string{
		"BOOL", "INT64", "FLOAT64", "NUMERIC", "STRING", "BYTES", "DATE", "TIME", "DATETIME", "TIMESTAMP", "INTERVAL", "ARRAY<STRING>", "STRUCT<a INT64, `b c` ARRAY<STRUCT<c DATE>>>",
	} {
		want, err := ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if err := d.conn.QueryRowContext(t.Context(), "SELECT typeof(CAST(NULL AS "+want.DuckDB()+"))").Scan(&name); err != nil {
			t.Fatal(err)
		}
		if got, err := FromDuckDB(name); err != nil || !got.SameAs(want) {
			t.Errorf("DuckDB's %s is %v, want %s, error %v", name, got, want, err)
		}
	}
	if _, err := FromDuckDB("MAP(VARCHAR, INTEGER)"); err == nil {
		t.Error("a MAP has a type")
	}
}

func TestDefaultSQL(t *testing.T) {
	d := newDatabase(t)
	for text, want := range map[string]string{"CURRENT_TIMESTAMP()": "2025-03-09 08:07:06.005004+00", "'2025-01-01'": "2025-01-01 00:00:00+00", "NULL": "NULL"} {
		sql, err := DefaultSQL(text, Of(Timestamp), d.options())
		if err != nil {
			t.Fatal(err)
		}
		if got, failure := d.run(Translation{SQL: "SELECT " + sql, Columns: []Column{{Type: Of(Timestamp)}}}); got != want {
			t.Errorf("%s is %s %s, want %s", text, got, failure, want)
		}
	}
	for _, text := range []string{"1", "id", "CURRENT_DATE(", "1 2"} {
		if sql, err := DefaultSQL(text, Of(Timestamp), d.options()); err == nil {
			t.Errorf("%s gives %s", text, sql)
		}
	}
}
