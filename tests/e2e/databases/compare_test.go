package databases

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sourceRows returns a table's rows in the source, each value as BigQuery is to
// show it. The connection's session is to be in UTC.
func (d *dialect) sourceRows(t testing.TB, db *sql.Conn, table *sourceTable) []map[string]any {
	t.Helper()
	var compared []column
	var expressions []string
	for _, c := range table.columns {
		if c.absent {
			continue
		}
		text := c.text
		if text == "" {
			text = d.text
		}
		compared = append(compared, c)
		expressions = append(expressions, strings.ReplaceAll(text, "$", d.quoted(c.name)))
	}
	query := "SELECT " + strings.Join(expressions, ", ") + " FROM " + d.quoted(table.name)
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	var all []map[string]any
	texts := make([]sql.NullString, len(compared))
	pointers := make([]any, len(texts))
	for i := range texts {
		pointers[i] = &texts[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, c := range compared {
			switch {
			case !texts[i].Valid:
				row[c.name] = nil
			case c.wanted != nil:
				row[c.name] = c.wanted(texts[i].String)
			default:
				row[c.name] = texts[i].String
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// maxDifferences bounds how many differences of a table are told.
const maxDifferences = 20

// compare compares a table's rows in the source and in BigQuery, value by value.
func compare(t testing.TB, table *sourceTable, want, got []map[string]any) {
	t.Helper()
	wanted, gotten := byKey(t, table, want), byKey(t, table, got)
	var differences []string
	for key, row := range wanted {
		other, ok := gotten[key]
		if !ok {
			differences = append(differences, fmt.Sprintf("key %s: the row is not in BigQuery", key))
			continue
		}
		for _, c := range table.columns {
			if !c.absent && !same(row[c.name], other[c.name]) {
				differences = append(differences, fmt.Sprintf("key %s, column %s: BigQuery has %s, the source %s",
					key, c.name, brief(other[c.name]), brief(row[c.name])))
			}
		}
	}
	for key := range gotten {
		if _, ok := wanted[key]; !ok {
			differences = append(differences, fmt.Sprintf("key %s: the row is not in the source", key))
		}
	}
	slices.Sort(differences)
	for _, difference := range differences[:min(len(differences), maxDifferences)] {
		t.Errorf("table %s, %s", table.name, difference)
	}
	if len(differences) > maxDifferences {
		t.Errorf("table %s: %d more differences", table.name, len(differences)-maxDifferences)
	}
	t.Logf("table %s: %d rows compared", table.name, len(wanted))
}

func byKey(t testing.TB, table *sourceTable, rows []map[string]any) map[string]map[string]any {
	t.Helper()
	indexed := make(map[string]map[string]any, len(rows))
	for _, row := range rows {
		parts := make([]any, len(table.key))
		for i, name := range table.key {
			parts[i] = row[name]
		}
		text, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := indexed[string(text)]; twice {
			t.Errorf("table %s: two rows have the key %s", table.name, text)
		}
		indexed[string(text)] = row
	}
	return indexed
}

// same compares two values as decoded JSON, numbers by their value.
func same(a, b any) bool {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY {
		return x == y
	}
	if p, ok := a.([]any); ok {
		q, ok := b.([]any)
		return ok && slices.EqualFunc(p, q, same)
	}
	if m, ok := a.(meaning); ok {
		text, ok := b.(string)
		return ok && reflect.DeepEqual(m.value, jsonValue(text))
	}
	if low, ok := a.(lowBytes); ok {
		text, ok := b.(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		return ok && err == nil && bytes.Equal(bytes.TrimRight(low, "\x00"), bytes.TrimRight(raw, "\x00"))
	}
	return reflect.DeepEqual(a, b)
}

// lowBytes are bits from the lowest byte on. Debezium leaves out bytes of zeros at
// their end, or doesn't: that depends on the database.
type lowBytes []byte

// meaning is a JSON column's value whose text may be written in any way.
type meaning struct{ value any }

// number returns a JSON number's value.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n), 64)
	return f, err == nil
}

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(text) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", text[:300], len(text))
	}
	return string(text)
}

// jsonValue is for columns whose text is JSON.
func jsonValue(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return "the source wrote what is no JSON: " + text
	}
	return v
}

// floatValue is for columns of type FLOAT64.
func floatValue(text string) any {
	switch text {
	case "NaN", "Infinity", "-Infinity":
		return text
	}
	return json.Number(text)
}

// numericValue is for decimals that the source writes with all digits of their scale.
func numericValue(text string) any {
	if strings.Contains(text, ".") {
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
