package history

import (
	"math"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// typedColumns are a column of each type, parameters, arrays and STRUCTs.
var typedColumns = []table.Column{
	{Name: "id", Type: table.Int64, Mode: table.Required},
	{Name: "b", Type: table.Bool},
	{Name: "i", Type: table.Int64},
	{Name: "f", Type: table.Float64},
	{Name: "n", Type: table.Numeric, Precision: 20, Scale: 3},
	{Name: "bn", Type: table.BigNumeric},
	{Name: "s", Type: table.String, MaxLength: 40},
	{Name: "by", Type: table.Bytes},
	{Name: "d", Type: table.Date},
	{Name: "t", Type: table.Time},
	{Name: "dt", Type: table.DateTime},
	{Name: "ts", Type: table.Timestamp},
	{Name: "j", Type: table.JSON},
	{Name: "g", Type: table.Geography},
	{Name: "iv", Type: table.Interval},
	{Name: "rd", Type: table.Range, Element: table.Date},
	{Name: "rdt", Type: table.Range, Element: table.DateTime},
	{Name: "rts", Type: table.Range, Element: table.Timestamp},
	{Name: "is", Type: table.Int64, Mode: table.Repeated},
	{Name: "ss", Type: table.String, Mode: table.Repeated},
	{Name: "bys", Type: table.Bytes, Mode: table.Repeated},
	{Name: "tss", Type: table.Timestamp, Mode: table.Repeated},
	{Name: "js", Type: table.JSON, Mode: table.Repeated},
	{Name: "st", Type: table.Struct, Fields: []table.Column{
		{Name: "a", Type: table.Int64},
		{Name: "after", Type: table.String},
		{Name: "in", Type: table.Struct, Fields: []table.Column{{Name: "x", Type: table.BigNumeric}, {Name: "l", Type: table.Date, Mode: table.Repeated}}},
	}},
	{Name: "sts", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{
		{Name: "k", Type: table.String},
		{Name: "v", Type: table.Float64, Mode: table.Repeated},
		{Name: "deep", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{{Name: "y", Type: table.Timestamp}}},
	}},
	{Name: "größe & more", Type: table.Int64},
	{Name: "after", Type: table.String},
	{Name: "sequence", Type: table.Int64},
}

// typedRows are values for them: the ordinary, the extremes, and what is nearly
// something else.
var typedRows = []string{
	`{}`,
	`{"b": true, "i": 1, "f": 1.5, "n": "1.5", "bn": "1.5", "s": "x", "by": "AAE=", "d": "2025-01-02", "t": "10:00:00", "dt": "2025-01-02T10:00:00",
	  "ts": "2025-01-02T10:00:00Z", "j": "{\"a\": 1.10,  \"b\":[null]}", "g": "POINT(1 2)", "iv": "1-2 3 4:5:6.5", "rd": "[2025-01-01, 2025-02-01)",
	  "rdt": "[2025-01-01T00:00:00, 2025-02-01T10:11:12.000001)", "rts": "[2025-01-01T00:00:00Z, )", "is": [1, 2], "ss": ["a", "b"], "bys": ["AAE=", ""],
	  "tss": ["2025-01-02T10:00:00Z"], "js": ["1", "{}"], "st": {"a": 1, "after": "x", "in": {"x": "1", "l": ["2025-01-02"]}},
	  "sts": [{"k": "a", "v": [1.5, -2], "deep": [{"y": "2025-01-02T10:00:00Z"}, {"y": null}]}, {"k": null, "v": [], "deep": []}],
	  "größe & more": 7, "after": "{\"id\": 1}", "sequence": 3}`,
	`{"b": false, "i": 9223372036854775807, "f": "NaN", "n": "-99999999999999999.999", "bn": "-99999999999999999999999999999999999999.99999999999999999999999999999999999999",
	  "s": "", "by": "", "d": "0001-01-01", "t": "23:59:59.999999", "dt": "9999-12-31T23:59:59.999999", "ts": "0001-01-01T00:00:00Z", "j": "null", "iv": "-10000-0 0 0:0:0",
	  "rd": "[, 9999-12-31)", "is": [], "ss": [""], "st": {"a": null, "after": null, "in": null}, "sts": [], "after": "null", "sequence": -1}`,
	`{"i": -9223372036854775808, "f": "-Infinity", "n": "0", "bn": "0.00000000000000000000000000000000000001", "s": "\u0000\\\"'{}[]$.äü€\u2028", "d": "9999-12-31",
	  "t": "00:00:00.000001", "dt": "0001-01-01T00:00:00", "ts": "9999-12-31T23:59:59.999999Z", "j": "\"null\"", "g": "{\"type\": \"Point\", \"coordinates\": [1, 2]}",
	  "iv": "0-0 0 0:0:0.000001", "rts": "[, )", "is": [9007199254740993, -1], "st": {"in": {"x": null, "l": []}}, "sts": [{"deep": [{}]}]}`,
	`{"i": 9007199254740993, "f": "Infinity", "j": "18446744073709551615", "s": "NULL", "ss": ["null", "[]", "{}"]}`,
	`{"f": 1e308, "j": "1e5", "s": "true"}`,
	`{"f": 5e-324, "j": "[1, 2.50, \"é\"]", "s": "1"}`,
	`{"f": 123456789.12345679, "i": 0}`,
}

func typedRule() table.Rule {
	return table.Rule{Source: "public.typed", Destination: "d.typed", History: "d.typed_history", PrimaryKey: []string{"id"}, Columns: typedColumns}
}

func untyped(text string) change.Value {
	switch {
	case strings.HasPrefix(text, `"`):
		return change.Text(unquoted(text))
	case text == "null":
		return change.Null()
	case text == "true", text == "false":
		return change.Bool(text == "true")
	case strings.HasPrefix(text, "["), strings.HasPrefix(text, "{"):
		return change.Raw(text)
	}
	return change.Number(text)
}

// Each type's values come back exactly, NULL and empty ones too.
func TestRebuild_types(t *testing.T) {
	m := newWorld(t).mirror(typedRule())
	var changes []change.RowChange
	for i, text := range typedRows {
		row := []change.Column{{Name: "id", Value: change.Int64(int64(i))}}
		for _, member := range membersOf(t, text) {
			row = append(row, change.Column{Name: member.name, Value: untyped(member.value)})
		}
		changes = append(changes, m.keyed(change.RowChange{
			Type: change.Upsert, Columns: row,
			Event: change.Event{Op: change.OpSnapshot, Sequence: change.NewSequence(0, 0, 0, 1), Message: change.Message{ID: "1"}, CommitTime: time.UnixMicro(1)},
		}))
	}
	zero := []change.Column{{Name: "id", Value: change.Int64(100)}, {Name: "f", Value: change.Float64(math.Copysign(0, -1))}, {Name: "by", Value: change.Bytes("\x00\xff")}}
	changes = append(changes, m.keyed(change.RowChange{
		Type: change.Upsert, Columns: zero, Event: change.Event{Op: change.OpCreate, Sequence: change.NewSequence(0, 0, 0, 1)},
	}))
	m.write(changes...)
	m.wantRebuilt("id")
	if rows := m.query("SELECT * FROM `p.d.typed`"); len(rows) != len(changes) {
		t.Errorf("%d rows of %d", len(rows), len(changes))
	}
}
