package envelope_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// mongoMessage is a change of a document whose image, or whose updated fields,
// are a text of Extended JSON.
func mongoMessage(t *testing.T, op, after, updated string) change.Message {
	t.Helper()
	m := map[string]any{"op": op, "source": map[string]any{"connector": "mongodb", "db": "shop", "collection": "c", "ts_ms": 5000, "ord": 1}}
	if after != "" {
		m["after"] = after
	}
	if updated != "" {
		m["updateDescription"] = map[string]any{"updatedFields": updated}
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return change.Message{Data: data, OrderingKey: `{"id":"1"}`}
}

// TestDecode_extendedJSON: a field's value, in version 1 and both modes of
// version 2; what is no value of Extended JSON is an error that names the field.
func TestDecode_extendedJSON(t *testing.T) {
	for _, test := range []struct{ field, want string }{
		{`null`, "null"},
		{`true`, "bool true"},
		{`5`, "number 5"},
		{`-0.5e3`, "number -0.5e3"},
		{`9007199254740993`, "number 9007199254740993"},
		{`"x"`, `text "x"`},
		{`["a", {"$oid": "65f0c0ffee0000000000abcd"}]`, `raw ["a", {"$oid": "65f0c0ffee0000000000abcd"}]`},
		{`{"a": {"$numberLong": "1"}}`, `raw {"a": {"$numberLong": "1"}}`},
		{`{}`, "raw {}"},
		{`{"$numberInt": "-5"}`, "number -5"},
		{`{"$numberLong": "9223372036854775807"}`, "number 9223372036854775807"},
		{`{ "$numberLong" : "1" }`, "number 1"},
		{`{"$numberDouble": "1.0E+20"}`, "number 1.0E+20"},
		{`{"$numberDouble": "-Infinity"}`, "decimal -Infinity"},
		{`{"$numberDecimal": "0E-6176"}`, "number 0E-6176"},
		{`{"$numberDecimal": "NaN"}`, "decimal NaN"},
		{`{"$oid": "65f0c0ffee0000000000abcd"}`, `text "65f0c0ffee0000000000abcd"`},
		{`{"$symbol": "s"}`, `text "s"`},
		{`{"$date": 0}`, "timestamp 1970-01-01 00:00:00.000000"},
		{`{"$date": -1}`, "timestamp 1969-12-31 23:59:59.999000"},
		{`{"$date": "2025-03-09T08:07:06.005Z"}`, "timestamp 2025-03-09 08:07:06.005000"},
		{`{"$date": "2025-03-09T08:07:06Z"}`, "timestamp 2025-03-09 08:07:06.000000"},
		{`{"$date": {"$numberLong": "253402300800000"}}`, "timestamp 253402300800000000"},
		{`{"$date": {"$numberLong": "-9223372036854775808"}}`, "timestamp -9223372036854775808"},
		{`{"$binary": "3q2+7w==", "$type": "00"}`, "bytes deadbeef"},
		{`{"$binary": {"base64": "3q2+7w==", "subType": "04"}}`, "bytes deadbeef"},
		{`{"$binary": {"base64": "", "subType": "00"}}`, "bytes "},
		{`{"$undefined": true}`, "null"},
		{`{"$minKey": 1}`, `raw {"$minKey": 1}`},
		{`{"$timestamp": {"t": 1, "i": 2}}`, `raw {"$timestamp": {"t": 1, "i": 2}}`},
		{`{"$numberLong": 1}`, `raw {"$numberLong": 1}`},
		{`{"$oid": "a", "b": 1}`, `raw {"$oid": "a", "b": 1}`},
		{`{"$numberLong": "1e"}`, "error"},
		{`{"$numberLong": ""}`, "error"},
		{`{"$numberDecimal": "+1"}`, "error"},
		{`{"$numberDecimal": "1 2"}`, "error"},
		{`{"$date": "yesterday"}`, "error"},
		{`{"$date": {}}`, "error"},
		{`{"$date": true}`, "error"},
		{`{"$binary": "?"}`, "error"},
		{`{"$binary": 1}`, "error"},
	} {
		for op, m := range map[string]change.Message{
			"c": mongoMessage(t, "c", `{"_id": 1, "f": `+test.field+`}`, ""),
			"u": mongoMessage(t, "u", "", `{"f": `+test.field+`}`),
		} {
			events, _, err := decode(t, envelope.Options{}, m)
			if test.want == "error" {
				e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
				if !ok || e.Reason != envelope.BadValue || !strings.Contains(err.Error(), "column f: ") {
					t.Errorf("op %s, %s: error %v, want %s of column f", op, test.field, err, envelope.BadValue)
				}
				continue
			}
			if err != nil {
				t.Errorf("op %s, %s: %v", op, test.field, err)
				continue
			}
			e := &events[0]
			if got := describeKey(e.After); got != "_id = number 1, f = "+test.want || e.AbsentUnavailable != (op == "u") {
				t.Errorf("op %s, %s: %s, absent unavailable %t; want f = %s", op, test.field, got, e.AbsentUnavailable, test.want)
			}
		}
	}
}

// TestDecode_documentKey: the key is _id, in whichever form the ordering key
// has it; without one an update has no _id, and the destination refuses it.
func TestDecode_documentKey(t *testing.T) {
	for key, want := range map[string]string{
		``:                                  "none",
		`default`:                           "none",
		`{"x":"1"}`:                         "none",
		`{"id":null}`:                       "_id = null",
		`{"id":7}`:                          "_id = number 7",
		`{"id":"7"}`:                        "_id = number 7",
		`{"id":"\"7\""}`:                    `_id = text "7"`,
		`{"id":"65f0c0ffe"}`:                `_id = text "65f0c0ffe"`,
		`{"id":"{\"$numberLong\": \"7\"}"}`: "_id = number 7",
		`{"id":"{\"$date\": 0}"}`:           "_id = timestamp 1970-01-01 00:00:00.000000",
		`{"id":"{\"$binary\": \"3q2+7w==\", \"$type\": \"03\"}"}`: "_id = bytes deadbeef",
		`{"id":"{\"a\": 1}"}`: `_id = raw {"a": 1}`,
		`{"schema":{"type":"struct","fields":[]},"payload":{"id":"\"7\""}}`: `_id = text "7"`,
	} {
		for _, op := range []string{"d", "u"} {
			m := mongoMessage(t, op, "", `{"f": 1}`)
			m.OrderingKey = key
			events, _, err := decode(t, envelope.Options{}, m)
			if err != nil {
				t.Errorf("op %s, key %s: %v", op, key, err)
				continue
			}
			if got := describeKey(events[0].Key); got != want {
				t.Errorf("op %s, key %s: key %s, want %s", op, key, got, want)
			}
			after := "f = number 1"
			if want != "none" {
				after = want + ", " + after
			}
			if got := describeKey(events[0].After); op == "u" && got != after {
				t.Errorf("op %s, key %s: after %s, want %s", op, key, got, after)
			}
		}
	}
	m := mongoMessage(t, "d", "", "")
	m.OrderingKey = fmt.Sprintf(`{"id":%q}`, `{"$numberLong": "x"}`)
	if _, _, err := decode(t, envelope.Options{}, m); err == nil || !strings.Contains(err.Error(), "column _id of the key") {
		t.Errorf("error %v, want one of column _id of the key", err)
	}
}
