package envelope_test

import (
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// FuzzDecodeInside decodes messages that are right but for what is in their
// rows: a value, a name and a type, where each format has them, Spanner's as
// texts of JSON too. Its invariants are FuzzDecode's, and one more: whoever
// typed a value, a change has the column of the name, whatever that is.
func FuzzDecodeInside(f *testing.F) {
	for _, seed := range []struct{ value, name, typeName string }{
		{`1`, "id", "bigint"},
		{`"9223372036854775808"`, "id", "bigint unsigned"},
		{`"1.50"`, "n", "NUMERIC"},
		{`-1.5e-7`, "x", "double precision"},
		{`"NaN"`, "x", "FLOAT64"},
		{`"3q2+7w=="`, "b", "BYTES"},
		{`"\u00de\u00ad"`, "b", "blob"},
		{`"deadbeef"`, "b", "bytea"},
		{`"2025-03-09T08:07:06.005004Z"`, "at", "TIMESTAMP"},
		{`"0001-01-01"`, "day", "DATE"},
		{`["1",null]`, "a", `{"code":"ARRAY","array_element_type":{"code":"INT64"}}`},
		{`{"a":[]}`, "doc", "json"},
		{`true`, "op", "BOOL"},
		{`null`, "source", ""},
		{`"\ud83d\ude00"`, "\"\\", "text"},
	} {
		f.Add(seed.value, seed.name, seed.typeName)
	}
	f.Fuzz(func(t *testing.T, value, name, typeName string) {
		v := jsontext.Value(value)
		if !v.IsValid() {
			return
		}
		n, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return
		}
		ty, err := jsontext.AppendQuote(nil, typeName)
		if err != nil {
			return
		}
		row := `{` + string(n) + `:` + value + `}`
		text, err := jsontext.AppendQuote(nil, row)
		if err != nil {
			return
		}
		for i, message := range []struct{ format, data string }{
			{"maxwell", `{"type":"update","database":"d","table":"t","ts":1,"data":` + row + `,"old":` + row + `,"primary_key_columns":[` + string(n) + `]}`},
			{"canal", `{"type":"UPDATE","table":"t","isDdl":false,"data":[` + row + `],"old":[` + row + `],"mysqlType":{` + string(n) + `:` + string(ty) + `},"pkNames":[` + string(n) + `]}`},
			{"canal", `{"type":"DELETE","table":"t","isDdl":false,"sqlType":{` + string(n) + `:` + string(ty) + `},"data":[` + row + `,` + row + `]}`},
			{"wal2json", `{"action":"U","table":"t","columns":[{"name":` + string(n) + `,"type":` + string(ty) + `,"value":` + value + `}],"identity":[{"name":` + string(n) + `,"value":` + value + `}]}`},
			{"wal2json", `{"change":[{"kind":"insert","table":"t","columnnames":[` + string(n) + `],"columntypes":[` + string(ty) + `],"columnvalues":[` + value + `]}]}`},
			{"dms", `{"data":` + row + `,"before-image":` + row + `,"metadata":{"record-type":"data","operation":"update"}}`},
			{"spanner", `{"mods":[{"keysJson":` + string(text) + `}],"modType":"INSERT","tableName":"t","rowType":[{"name":` + string(n) + `,"type":{"code":` + string(ty) + `}}]}`},
			{"spanner", `{"mods":[{"keys":` + row + `}],"modType":"DELETE","tableName":"t","rowType":[{"name":` + string(n) + `,"type":` + string(ty) + `}]}`},
			{"sequin", `{"record":` + row + `,"changes":` + row + `,"action":"update","metadata":{"commit_lsn":1}}`},
		} {
			events, control, err := decode(t, envelope.Options{Format: message.format, Epoch: 7}, change.Message{ID: "1", Token: 9, Data: []byte(message.data)})
			checkResult(t, message.format, events, control, err)
			for j := range events {
				e := &events[j]
				image := e.After
				if e.Op == change.OpDelete {
					image = e.Before
				}
				if len(image) != 1 || image[0].Name != name {
					t.Errorf("message %d, %s: %s: the row is %v, want one column %s", i, message.format, message.data, image, strconv.Quote(name))
				}
			}
		}
	})
}
