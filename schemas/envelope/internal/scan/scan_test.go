package scan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/envelope/internal/scan"
)

func TestEachElement(t *testing.T) {
	for raw, want := range map[string][]string{
		`[]`:                                nil,
		`[ ]`:                               nil,
		`[1]`:                               {`1`},
		"[\t-1.5e3 ,\r\n null,true,false ]": {`-1.5e3`, `null`, `true`, `false`},
		`["a","","\"]","\\"]`:               {`"a"`, `""`, `"\"]"`, `"\\"`},
		`[[1,[2]],{"a":[1,2]},[]]`:          {`[1,[2]]`, `{"a":[1,2]}`, `[]`},
		`[{"]":"}"},"[{"]`:                  {`{"]":"}"}`, `"[{"`},
	} {
		var got []string
		scan.EachElement(raw, func(e string) bool { got = append(got, e); return true })
		if !slices.Equal(got, want) {
			t.Errorf("EachElement(%s) = %q, want %q", raw, got, want)
		}
	}
	n := 0
	scan.EachElement(`[1,2,3]`, func(string) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("EachElement went on to %d elements after false", n)
	}
}

func TestEachMember(t *testing.T) {
	for raw, want := range map[string][]string{
		`{}`:      nil,
		`{ }`:     nil,
		`{"a":1}`: {`"a"`, `1`},
		"{ \"a\" :\n[1, 2] ,\t\"b:,}\":{\"c\":3} }": {`"a"`, `[1, 2]`, `"b:,}"`, `{"c":3}`},
		`{"\"":"\"","x":null}`:                      {`"\""`, `"\""`, `"x"`, `null`},
	} {
		var got []string
		scan.EachMember(raw, func(name, value string) bool { got = append(got, name, value); return true })
		if !slices.Equal(got, want) {
			t.Errorf("EachMember(%s) = %q, want %q", raw, got, want)
		}
	}
}

// FuzzEach: of any valid array and object the walks find the same elements and
// members as jsontext's decoder.
func FuzzEach(f *testing.F) {
	for _, seed := range []string{`[]`, `[1, "a\"]", [2,{}], {"x":[]}]`, `{"a":{"b":[1,2]} , "c" : "}" }`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s scan.Scanner
		if err := s.Reset(text); err != nil {
			return
		}
		raw := s.Value()
		if want := strings.Trim(text, " \t\r\n"); raw != want {
			t.Fatalf("the value of %q is %q, want %q", text, raw, want)
		}
		var got, want []string
		switch raw[0] {
		case '[':
			scan.EachElement(raw, func(e string) bool { got = append(got, e); return true })
		case '{':
			scan.EachMember(raw, func(name, value string) bool { got = append(got, name, value); return true })
		default:
			return
		}
		dec := jsontext.NewDecoder(strings.NewReader(raw))
		if _, err := dec.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for dec.PeekKind() != ']' && dec.PeekKind() != '}' {
			v, err := dec.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(v))
		}
		if !slices.Equal(got, want) {
			t.Errorf("walking over %q found %q, want %q", raw, got, want)
		}
	})
}
