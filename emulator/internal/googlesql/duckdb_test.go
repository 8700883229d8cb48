package googlesql

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"beamcdc/emulator/internal/decimal"
)

// database is a DuckDB in memory with the package's functions, and tables that its
// Table method resolves.
type database struct {
	t      *testing.T
	conn   *sql.Conn
	tables map[string]Relation
	asked  []TableRef
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &database{t: t, conn: conn, tables: map[string]Relation{}}
	d.exec("SET TimeZone = 'UTC'")
	if err := Register(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *database) exec(statement string) {
	d.t.Helper()
	if _, err := d.conn.ExecContext(d.t.Context(), statement); err != nil {
		d.t.Fatalf("%s: %v", statement, err)
	}
}

// table makes a table of columns "name TYPE, …" with rows in DuckDB's syntax.
func (d *database) table(name, columns string, rows ...string) {
	d.t.Helper()
	statements, err := Parse("CREATE TABLE t (" + columns + ")")
	if err != nil {
		d.t.Fatal(err)
	}
	duck := fmt.Sprintf("table%d", len(d.tables))
	r := Relation{SQL: "(SELECT *, rowid AS _id FROM " + duck + ")", RowID: "_id"}
	var types []string
	for _, c := range statements[0].(*CreateTable).Columns {
		r.Columns = append(r.Columns, Column{Name: c.Name, Type: c.Type, Default: c.Default})
		types = append(types, quoteName(c.Name)+" "+c.Type.DuckDB())
	}
	d.exec("CREATE TABLE " + duck + "(" + strings.Join(types, ", ") + ")")
	for _, row := range rows {
		d.exec("INSERT INTO " + duck + " VALUES (" + row + ")")
	}
	d.tables[name] = r
}

func (d *database) Table(ref *TableRef) (Relation, error) {
	d.asked = append(d.asked, *ref)
	name := strings.Join(ref.Path, ".")
	if ref.Wildcard {
		name += "*"
	}
	r, ok := d.tables[name]
	if !ok {
		return Relation{}, errors.New("Not found: Table " + name)
	}
	return r, nil
}

var testNow = time.Date(2025, 3, 9, 8, 7, 6, 5_004_000, time.UTC)

func (d *database) options() Options {
	return Options{Resolver: d, Now: testNow, User: "someone@example.com"}
}

// query runs a statement and returns its rows, values separated by | and rows by ;, and
// its error's text.
func (d *database) query(text string, options Options) (rows, failure string, columns []Column) {
	d.t.Helper()
	statements, err := Parse(text)
	if err != nil {
		return "", err.Error(), nil
	}
	var translation Translation
	switch s := statements[len(statements)-1].(type) {
	case *Query:
		translation, err = s.Translate(options)
	case *DML:
		translation, err = s.Translate(options)
	default:
		d.t.Fatalf("%s: a %T", text, s)
	}
	if err != nil {
		return "", err.Error(), nil
	}
	rows, failure = d.run(translation)
	return rows, failure, translation.Columns
}

func (d *database) run(translation Translation) (text, failure string) {
	d.t.Helper()
	result, err := d.conn.QueryContext(d.t.Context(), translation.SQL)
	if err != nil {
		return "", RuntimeError(err)
	}
	defer func() { _ = result.Close() }()
	names, err := result.Columns()
	if err != nil {
		d.t.Fatal(err)
	}
	extra := len(names) - len(translation.Columns) // of DML
	var rows []string
	for result.Next() {
		values, pointers := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := result.Scan(pointers...); err != nil {
			d.t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			typ := Of(String)
			if i >= extra {
				typ = translation.Columns[i-extra].Type
			} else if i == 1 {
				typ = Of(Int64)
			}
			texts[i] = render(d.t, v, typ)
		}
		rows = append(rows, strings.Join(texts, "|"))
	}
	if err := result.Err(); err != nil {
		return "", RuntimeError(err)
	}
	return strings.Join(rows, ";"), ""
}

// render fails if DuckDB's value isn't one of the type that the translation told.
func render(t *testing.T, v any, typ *Type) string {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		wantKind(t, typ, Bool)
		return strconv.FormatBool(v)
	case int64:
		wantKind(t, typ, Int64)
		return strconv.FormatInt(v, 10)
	case float64:
		wantKind(t, typ, Float64)
		return floatText(v)
	case string:
		wantKind(t, typ, String, JSON, Geography)
		return v
	case duckdb.Decimal:
		wantKind(t, typ, Numeric)
		if v.Scale != decimal.NumericScale {
			t.Errorf("a decimal of scale %d", v.Scale)
		}
		return decimal.Text(v.Value, decimal.NumericScale)
	case []byte:
		wantKind(t, typ, Bytes, BigNumeric)
		if typ.Kind == BigNumeric {
			return decimal.Text(decimal.Decode(v), decimal.BigNumericScale)
		}
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		switch typ.Kind {
		case Date:
			return dateText(v.UTC())
		case Time:
			return timeText(v.UTC())
		case DateTime:
			return dateTimeText(v.UTC())
		case Timestamp:
			return timestampText(v, time.UTC)
		default:
			t.Errorf("a time for %s", typ)
		}
	case duckdb.Interval:
		wantKind(t, typ, Interval)
		return interval(v).String()
	case []any:
		wantKind(t, typ, Array)
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = render(t, item, typ.Elem)
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		if typ.Kind == Range {
			return "[" + render(t, v["start"], typ.Elem) + ", " + render(t, v["end"], typ.Elem) + ")"
		}
		wantKind(t, typ, Struct)
		fields := make([]string, len(typ.Fields))
		for i, f := range typ.Fields {
			fields[i] = typ.fieldName(i) + ":" + render(t, v[typ.fieldName(i)], f.Type)
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	t.Errorf("a %T for %s", v, typ)
	return fmt.Sprint(v)
}

func wantKind(t *testing.T, typ *Type, kinds ...Kind) {
	t.Helper()
	if !slices.Contains(kinds, typ.Kind) {
		t.Errorf("a value of kind %v, but the translation's type is %s", kinds, typ)
	}
}
