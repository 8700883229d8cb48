package unavailable_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"beamcdc/schemas/envelope/internal/unavailable"
)

const text = "__debezium_unavailable_value"

func TestPlaceholder_Matches(t *testing.T) {
	codes := strings.Join(strings.Fields("95 95 100 101 98 101 122 105 117 109 95 117 110 97 118 97 105 108 97 98 108 101 95 118 97 108 117 101"), ",")
	p, err := unavailable.New(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what, raw string
		want      bool
	}{
		{"text", `"__debezium_unavailable_value"`, true},
		{"base64", `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`, true},
		{"hex", `"5f5f646562657a69756d5f756e617661696c61626c655f76616c7565"`, true},
		{"text[]", `["__debezium_unavailable_value"]`, true},
		{"text[] with white space", "[ \"__debezium_unavailable_value\"\n]", true},
		{"bytea[]", `["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="]`, true},
		{"int[]", `[` + codes + `]`, true},
		{"int[] with white space", `[` + strings.ReplaceAll(codes, ",", ", ") + `]`, true},
		{"uuid[]", `["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]`, true},
		{"hstore", `{"__debezium_unavailable_value":"__debezium_unavailable_value"}`, true},
		{"hstore with white space", `{ "__debezium_unavailable_value" : "__debezium_unavailable_value" }`, true},
		{"hstore as JSON", `"{\"__debezium_unavailable_value\":\"__debezium_unavailable_value\"}"`, true},

		{"null", `null`, false},
		{"number", `95`, false},
		{"boolean", `true`, false},
		{"text, empty", `""`, false},
		{"text that has it inside", `"x__debezium_unavailable_value"`, false},
		{"text in another case", `"__DEBEZIUM_UNAVAILABLE_VALUE"`, false},
		{"array, empty", `[]`, false},
		{"array, blank", `[ ]`, false},
		{"array with it and more", `["__debezium_unavailable_value","x"]`, false},
		{"array with more and it", `["x","__debezium_unavailable_value"]`, false},
		{"array of arrays", `[["__debezium_unavailable_value"]]`, false},
		{"numbers that begin like it", `[95,95,100]`, false},
		{"numbers, one more", `[` + codes + `,1]`, false},
		{"the UUID alone", `"b68a35a7-17ad-35b3-af2a-ae46edb4545a"`, false},
		{"another UUID", `["b68a35a7-17ad-35b3-af2a-ae46edb4545b"]`, false},
		{"object, empty", `{}`, false},
		{"object with more", `{"__debezium_unavailable_value":"__debezium_unavailable_value","a":1}`, false},
		{"object with its name", `{"__debezium_unavailable_value":1}`, false},
	} {
		if got := p.Matches(test.raw); got != test.want {
			t.Errorf("%s: Matches(%s) = %t, want %t", test.what, test.raw, got, test.want)
		}
	}
}

func TestPlaceholder_custom(t *testing.T) {
	for _, test := range []struct {
		configured string
		raw        []string
	}{
		{"n/a", []string{`"n/a"`, `"n\/a"`, `"bi9h"`, `"6e2f61"`, `["n/a"]`, `[110,47,97]`, `{"n/a":"n/a"}`}},
		{`say "no"`, []string{`"say \"no\""`, `["say \"no\""]`, `{"say \"no\"":"say \"no\""}`}},
		{"läuft", []string{`"läuft"`, `"l\u00e4uft"`, `["l\u00e4uft"]`, `[108,-61,-92,117,102,116]`}},
		{"hex:" + hex.EncodeToString([]byte(text)), []string{`"` + text + `"`, `["` + text + `"]`}},
		{"???>>>", []string{`"` + base64.URLEncoding.EncodeToString([]byte("???>>>")) + `"`, `"` + base64.StdEncoding.EncodeToString([]byte("???>>>")) + `"`}},
	} {
		p, err := unavailable.New(test.configured)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range test.raw {
			if !p.Matches(raw) {
				t.Errorf("placeholder %s: Matches(%s) = false, want true", test.configured, raw)
			}
		}
		if test.configured != "hex:"+hex.EncodeToString([]byte(text)) && p.Matches(`"`+text+`"`) {
			t.Errorf("placeholder %s: the default one matches too", test.configured)
		}
	}
}

func TestNew_refuses(t *testing.T) {
	for _, configured := range []string{"", "hex:", "hex:zz", "hex:123"} {
		if _, err := unavailable.New(configured); err == nil {
			t.Errorf("New(%q) returned no error", configured)
		}
	}
}
