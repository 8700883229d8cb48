package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"beamcdc/emulator/internal/googlesql"
)

// literal writes a value as a DuckDB literal of a type: nil, string, bool, int64,
// float64, time.Time, []any of an ARRAY's elements or of a STRUCT's fields.
func literal(value any, t *googlesql.Type) string {
	switch v := value.(type) {
	case nil:
		return "NULL::" + t.DuckDB()
	case string:
		return "'" + strings.ReplaceAll(strings.ReplaceAll(v, "\x00", ""), "'", "''") + "'"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10) + "::BIGINT"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64) + "::DOUBLE"
	case time.Time:
		if v.IsZero() {
			return "NULL::" + t.DuckDB()
		}
		return fmt.Sprintf("make_timestamptz(%d::BIGINT)", v.UnixMicro())
	case []any:
		parts := make([]string, len(v))
		if t.Kind == googlesql.Struct {
			for i, f := range t.Fields {
				parts[i] = quote(f.Name) + ": " + literal(v[i], f.Type)
			}
			return "{" + strings.Join(parts, ", ") + "}::" + t.DuckDB()
		}
		for i := range v {
			parts[i] = literal(v[i], t.Elem)
		}
		return "[" + strings.Join(parts, ", ") + "]::" + t.DuckDB()
	}
	panic(fmt.Sprintf("query: a literal of type %T", value))
}

// values is a relation of rows.
func values(columns []googlesql.Column, rows [][]any) googlesql.Relation {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quote(c.Name)
	}
	r := googlesql.Relation{Columns: columns}
	if len(rows) == 0 {
		nulls := make([]string, len(columns))
		for i, c := range columns {
			nulls[i] = "NULL::" + c.Type.DuckDB() + " AS " + names[i]
		}
		r.SQL = "(SELECT " + strings.Join(nulls, ", ") + " WHERE false)"
		return r
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		cells := make([]string, len(columns))
		for j, c := range columns {
			cells[j] = literal(row[j], c.Type)
		}
		lines[i] = "(" + strings.Join(cells, ", ") + ")"
	}
	r.SQL = "(SELECT * FROM (VALUES " + strings.Join(lines, ", ") + ") AS v(" + strings.Join(names, ", ") + "))"
	return r
}
