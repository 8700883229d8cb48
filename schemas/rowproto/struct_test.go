package rowproto

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

func TestStruct(t *testing.T) {
	address := table.Column{Type: table.Struct, Fields: []table.Column{
		{Name: "City", Type: table.String},
		{Name: "zip", Type: table.Int64, Mode: table.Required},
		{Name: "lines", Type: table.String, Mode: table.Repeated},
		{Name: "at", Type: table.Struct, Fields: []table.Column{{Name: "lat", Type: table.Float64, BadValues: table.PolicyNull}}},
	}}
	lenient := address
	lenient.BadValues = table.PolicyNull
	all := map[string]any{"City": "Ulm", "zip": int64(89073), "lines": []any{"a", "b\n"}, "at": map[string]any{"lat": 48.4}}
	runCases(t, []valueCase{
		{name: "object", column: address, value: change.Raw(` { "zip":89073, "city" : "Ulm","lines":["a","b\n"],"at":{"lat":48.4}} `), want: all},
		{name: "object in a text", column: address, value: change.Text(`{"zip":89073,"city":"Ulm","lines":["a","b\n"],"at":"{\"lat\":48.4}"}`), want: all},
		{name: "document", column: address, value: change.JSON(`{"zip":1}`), want: map[string]any{"zip": int64(1)}},
		{name: "typed", column: address, value: change.Struct([]change.Column{
			{Name: "zip", Value: change.Int64(89073)},
			{Name: "City", Value: change.String("Ulm")},
			{Name: "lines", Value: change.Array([]change.Column{{Value: change.String("a")}, {Value: change.String("b\n")}})},
			{Name: "at", Value: change.Struct([]change.Column{{Name: "lat", Value: change.Float64(48.4)}})},
		}), want: all},
		{name: "NULL", column: address, value: change.Null()},
		{name: "NULL fields", column: address, value: change.Raw(`{"zip":1,"city":null,"lines":null,"at":null}`), want: map[string]any{"zip": int64(1)}},
		{name: "empty is not NULL", column: address, value: change.Raw(`{"zip":1,"at":{}}`), want: map[string]any{"zip": int64(1), "at": map[string]any{}}},
		{name: "escaped name", column: address, value: change.Raw(`{"\u007aip":1}`), want: map[string]any{"zip": int64(1)}},
		{name: "without a REQUIRED field", column: address, value: change.Raw(`{"city":"Ulm"}`), reason: ReasonNullRequired, at: "c.zip"},
		{name: "REQUIRED field is NULL", column: address, value: change.Raw(`{"zip":null}`), reason: ReasonNullRequired, at: "c.zip"},
		{name: "unknown field", column: address, value: change.Raw(`{"zip":1,"color":"red"}`), reason: ReasonUnknownColumn, at: "c.color"},
		{name: "two fields that differ by case", column: address, value: change.Raw(`{"zip":1,"ZIP":2}`), reason: ReasonAmbiguous, at: "c.zip"},
		badCase("one field twice", address, change.Raw(`{"zip":1,"zip":2}`), "no JSON object"),
		{name: "unavailable field", column: address, value: change.Struct([]change.Column{{Name: "zip", Value: change.Unavailable()}}), reason: ReasonUnavailable, at: "c.zip"},
		{name: "bad field", column: address, value: change.Raw(`{"zip":1.5}`), reason: ReasonBadValue, at: "c.zip", says: "not whole"},
		{name: "bad field of a bad field", column: address, value: change.Raw(`{"zip":1,"at":{"lat":"north"}}`), want: map[string]any{"zip": int64(1), "at": map[string]any{}}, adjusted: 1},
		{name: "bad element of a field", column: address, value: change.Raw(`{"zip":1,"lines":["a",null]}`), reason: ReasonBadValue, at: "c.lines[1]", says: "NULL"},
		badCase("array", address, change.Raw(`[1]`), "no JSON object"),
		badCase("text", address, change.Text("Ulm"), "no JSON object"),
		badCase("cut short", address, change.Raw(`{"zip":1`), "no JSON object"),
		badCase("more behind", address, change.Raw(`{"zip":1}{}`), "no JSON object"),
		badCase("number", address, change.Number("1"), "takes no JSON number"),
		{name: "what was done below a NULL isn't in the row", column: table.Column{Type: table.Struct, BadValues: table.PolicyNull, Fields: []table.Column{
			{Name: "n", Type: table.Int64, BadValues: table.PolicyClamp}, {Name: "z", Type: table.Int64},
		}}, value: change.Raw(`{"n":1e30,"z":"x"}`), adjusted: 1},
		{name: "NULL instead of a bad field", column: lenient, value: change.Raw(`{"zip":1.5}`), adjusted: 1},
		{name: "no NULL instead of an unknown field", column: lenient, value: change.Raw(`{"zip":1,"color":"red"}`), reason: ReasonUnknownColumn, at: "c.color"},
	})
}

func TestRepeated(t *testing.T) {
	array := func(of table.Type) table.Column { return table.Column{Type: of, Mode: table.Repeated} }
	policy := func(p table.Policy) table.Column {
		return table.Column{Type: table.String, Mode: table.Repeated, BadValues: p}
	}
	rows := table.Column{Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{{Name: "n", Type: table.Int64}}}
	runCases(t, []valueCase{
		{name: "texts", column: array(table.String), value: change.Raw(`["a", "", "b"]`), want: []any{"a", "", "b"}},
		{name: "typed", column: array(table.String), value: change.Array([]change.Column{{Value: change.String("a")}}), want: []any{"a"}},
		{name: "numbers", column: array(table.Int64), value: change.Raw(`[0,-1,9007199254740993]`), want: []any{int64(0), int64(-1), int64(9007199254740993)}},
		{name: "true and false", column: array(table.Bool), value: change.Raw(`[false,true,1]`), want: []any{false, true, true}},
		{name: "floats", column: array(table.Float64), value: change.Raw(`[0,0.5]`), want: []any{0.0, 0.5}},
		{name: "dates", column: array(table.Date), value: change.Raw(`["1970-01-01",-1]`), want: []any{int32(0), int32(-1)}},
		{name: "decimals in base64", column: table.Column{Type: table.Numeric, Mode: table.Repeated, From: table.FromDecimal, FromScale: 2}, value: change.Raw(`["MDk=","AA=="]`), want: []any{"123.45", "0"}},
		{name: "bytes", column: array(table.Bytes), value: change.Raw(`["/w==",""]`), want: []any{[]byte{0xFF}, []byte{}}},
		{name: "structs", column: rows, value: change.Raw(`[{"n":1},{},{"n":null}]`), want: []any{map[string]any{"n": int64(1)}, map[string]any{}, map[string]any{}}},
		{name: "long", column: array(table.Int64), value: change.Array(make300()), want: want300()},
		{name: "empty", column: array(table.String), value: change.Raw(`[]`)},
		{name: "typed empty", column: array(table.Int64), value: change.Array(nil)},
		{name: "NULL is empty", column: array(table.Int64), value: change.Null()},
		{name: "array in a text", column: array(table.Int64), value: change.Text(` [1,2] `), want: []any{int64(1), int64(2)}},
		{name: "PostgreSQL's text", column: array(table.String), value: change.Text(`{a,"b \"c\",d",NULL2}`), want: []any{"a", `b "c",d`, "NULL2"}},
		{name: "PostgreSQL's empty text", column: array(table.Int64), value: change.Text(`{}`)},
		{name: "PostgreSQL's NULL", column: array(table.String), value: change.Text(`{a,null}`), reason: ReasonBadValue, at: "c[1]", says: "NULL"},
		badCase("PostgreSQL's two dimensions", array(table.Int64), change.Text(`{{1},{2}}`), "no JSON array"),
		badCase("PostgreSQL's text cut short", array(table.String), change.Text(`{"a}`), "no JSON array"),
		badCase("object", array(table.String), change.Raw(`{"a":1}`), "no JSON array"),
		badCase("scalar", array(table.String), change.Text("a"), "no JSON array"),
		badCase("number", array(table.Int64), change.Number("1"), "REPEATED column takes no JSON number"),
		{name: "two dimensions", column: array(table.Int64), value: change.Raw(`[[1]]`), reason: ReasonBadValue, at: "c[0]"},
		{name: "NULL element", column: array(table.String), value: change.Raw(`["a",null,"b"]`), reason: ReasonBadValue, at: "c[1]", says: "an array can't hold NULL"},
		{name: "NULL alone", column: array(table.String), value: change.Raw(`[null]`), reason: ReasonBadValue, at: "c[0]"},
		{name: "bad element", column: array(table.Int64), value: change.Raw(`[1,"x"]`), reason: ReasonBadValue, at: "c[1]", says: "no decimal number"},
		{name: "unavailable element", column: array(table.Int64), value: change.Array([]change.Column{{Value: change.Unavailable()}}), reason: ReasonUnavailable, at: "c[0]"},
		{name: "bad field of an element", column: rows, value: change.Raw(`[{"n":1},{"n":0.5}]`), reason: ReasonBadValue, at: "c[1].n"},
		{name: "NULL instead of an array with NULL", column: policy(table.PolicyNull), value: change.Raw(`["a",null]`), adjusted: 1},
		{name: "NULL elements left out", column: policy(table.PolicyClamp), value: change.Raw(`["a",null,"b",null]`), want: []any{"a", "b"}, adjusted: 2},
		{name: "all elements left out", column: table.Column{Type: table.Int64, Mode: table.Repeated, BadValues: table.PolicyClamp}, value: change.Raw(`[null]`), adjusted: 1},
		{name: "clamped element", column: table.Column{Type: table.Int64, Mode: table.Repeated, BadValues: table.PolicyClamp}, value: change.Raw(`[1e30,1]`), want: []any{int64(1<<63 - 1), int64(1)}, adjusted: 1},
	})
}

func make300() (elements []change.Column) {
	for i := range 300 {
		elements = append(elements, change.Column{Value: change.Int64(int64(i))})
	}
	return elements
}

func want300() (elements []any) {
	for i := range 300 {
		elements = append(elements, int64(i))
	}
	return elements
}
