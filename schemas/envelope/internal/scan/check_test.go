package scan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// sameAsJSONText fails unless the checker and jsontext accept the same texts, and the
// same lengths of them.
func sameAsJSONText(t *testing.T, c *checker, text string) (accepted bool) {
	t.Helper()
	got, _, ok := c.value(text)
	dec := jsontext.NewDecoder(bytes.NewBufferString(text))
	_, err := dec.ReadValue()
	want := int(dec.InputOffset())
	if ok != (err == nil) || (ok && got != want) {
		t.Errorf("of %.200q the checker takes %d bytes (%t), jsontext %d (%v)", text, got, ok, want, err)
	}
	return ok
}

// accepted begin with JSON, of every production of the grammar. What follows is for
// others to judge.
var accepted = []string{
	`null`, `true`, `false`, ` null `, `nullx`, `0`, `-0`, `01`, `0.0`, `1.5`, `1e5`, `1E5`, `1e+5`, `1e-5`, `1e05`, `0e0`, `-0.0e-0`, `1.5e300`,
	`1e999999999999`, `123456789012345678901234567890`, `[1,-1,0.5]`, `1/2`, `""`, `"\""`, `"\\"`, `"\/\b\f\n\r\t"`, `"\u0041"`, `"\u0000"`,
	`"\u00e9\u00E9"`, `"\uFFFD"`, `"\uFFFF"`, `"\uD7FF\uE000"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\uD800\uDC00"`, `"\uDBFF\uDFFF"`, `"é日本語😀"`,
	"\"\u007f\"", "\"\u0080\"", "\"\ufffd\"", "\"\U0010ffff\"", "\"\x20\"", `[]`, `[ ]`, `[[],[]]`, `[]]`, `[] []`, "[\n1\t,\r2 ]", `{}`, `{ }`, `{"":1}`,
	" \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ 1 , { } ] \t\r\n, \"b\" :null } x", `{"a":{"a":{"a":[{"a":1},{"a":2}]}}}`, `{"a":1,"A":2}`,
	`{"\u0061":1,"\u0062":2}`, `{"\\":1,"\\\\":2}`, `{"é":1,"e\u0301":2}`, `{"a":{"b":1},"b":2}`, `[{"a":1},{"a":1}]`,
}

// refused are nearly JSON.
var refused = []string{
	``, ` `, "\n\t\r ", "\v1", "\u00a01", "\ufeff1", "\x00", `nul`, `nulL`, `tru`, `True`, `fals`, `falsy`, `[nullx]`, `[truefalse]`, `NaN`, `Infinity`,
	`undefined`, `-`, `+1`, `--1`, `[01]`, `[-01]`, `[00]`, `0.`, `.5`, `1.`, `[1.]`, `[1.e5]`, `1e`, `1e+`, `1e-`, `1ex`, `[1e5.5]`, `[1.2.3]`, `[1 2]`,
	`[0x10]`, `[1_000]`, `[1:2]`, `"`, `"a`, `"\`, `"\"`, `"\\\"`, `"\a"`, `"\'"`, `"\0"`, `"\x41"`, `"\U0041"`, `"\u"`, `"\u004"`, `"\u004g"`,
	`"\u00 41"`, `"\u004`, `"\ud800"`, `"\udc00"`, `"\udfff\ud800"`, `"\ud800\ud800"`, `"\ud800\u0041"`, `"\ud800x"`, `"\ud800\n"`, `"\ud800\ude0"`,
	`"\ud800\`, `"\ud800\u`, `"\ud800\udc0g"`, `"\ud800 \udc00"`, "\"\xff\"", "\"\x80\"", "\"\xc3\"", "\"\xc3", "\"\xc0\x80\"", "\"\xe2\x82\"",
	"\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf0\x9f\x98\"", "\"12345678\xff\"", "\"日本\xff\"", "[\"a\",\"\xff\"]", "\"\n\"", "\"\x00\"",
	"\"\x1f\"", "\"1234567\x1f\"", "\"12345678\t\"", `'a'`, `[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[,]`, `[1,,2]`, `[}`, `[1}`, `[[]`, "[\f1]", `{`, `}`,
	`{]`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":1]`, `{"a":[1}`, `{,}`, `{,"a":1}`, `{"a":1,,"b":2}`, `{"a" 1}`, `{"a"::1}`,
	`{"a":1 "b":2}`, `{a:1}`, `{1:1}`, `{null:1}`, `{[]:1}`, `{"a":1;"b":2}`, `{"a",1}`, `["a":1]`, `{"a":1/**/}`, "{\"\xff\":1}", `{"\ud800":1}`,
	`{"a":1,"a":2}`, `{"a":1,"b":2,"a":3}`, `{"":1,"":2}`, `{"a":1,"\u0061":2}`, `{"\u0061":1,"a":2}`, `{"\u0061":1,"\u0061":2}`, `{"\n":1,"\u000a":2}`,
	`{"/":1,"\/":2}`, `{"é":1,"\u00e9":2}`, `{"😀":1,"\ud83d\ude00":2}`, `{"\"":1,"\u0022":2}`, `{"a":{"b":1,"b":2}}`, `{"a":{"x":1},"b":{"x":1},"a":3}`,
	`[{"a":1},{"a":1,"a":1}]`,
}

// checked are both.
func checked() []string { return slices.Concat(accepted, refused) }

// TestChecker: each production of the grammar, and what is near to it, is judged as
// jsontext judges it.
func TestChecker(t *testing.T) {
	var c checker
	for i, text := range checked() {
		if got, want := sameAsJSONText(t, &c, text), i < len(accepted); got != want {
			t.Errorf("%q is accepted: %t, want %t", text, got, want)
		}
		// The same at each place of a word, and before and behind other things.
		for pad := range 8 {
			space := strings.Repeat(" ", pad)
			sameAsJSONText(t, &c, space+text)
			sameAsJSONText(t, &c, `{"`+strings.Repeat("x", pad)+`":[`+text+`]}`)
			sameAsJSONText(t, &c, `[`+text+`,{"a":`+text+`}`+space+`]`)
			if len(text) > 1 && text[0] == '"' {
				sameAsJSONText(t, &c, `"`+strings.Repeat("x", pad)+text[1:])
				sameAsJSONText(t, &c, `{"a":1,"`+strings.Repeat("x", pad)+text[1:]+`:2}`)
			}
		}
		for n := range len(text) {
			sameAsJSONText(t, &c, text[:n])
		}
	}
}

// TestChecker_bytes: each byte, and each two, in the places where a byte's kind counts.
func TestChecker_bytes(t *testing.T) {
	var c checker
	for b := range 256 {
		for _, around := range []string{"%s", "[%s]", "[1%s]", `["%s"]`, `["1234567%s1234567"]`, `["\%s"]`, `["\u00%s"]`, `["\ud83d\%s"]`, `{"a"%s1}`, `{"%s":1,"\u0061":1}`, "[-%s]", "[1.%s]", "[1e%s]", "[\"\xe2%s\"]"} {
			sameAsJSONText(t, &c, fmt.Sprintf(around, string([]byte{byte(b)})))
			for d := range 256 {
				if d%64 == 0 || strings.IndexByte(`"\{}[],:0e`, byte(d)) >= 0 {
					sameAsJSONText(t, &c, fmt.Sprintf(around, string([]byte{byte(b), byte(d)})))
				}
			}
		}
	}
}

// TestChecker_depth: nesting is bounded where jsontext bounds it.
func TestChecker_depth(t *testing.T) {
	var c checker
	for depth, want := range map[int]bool{1: true, 9_999: true, 10_000: true, 10_001: false, 200_000: false} {
		for _, inner := range []string{"", "1"} {
			arrays := strings.Repeat("[", depth) + inner + strings.Repeat("]", depth)
			objects := strings.Repeat(`{"":`, depth-1) + "{" + strings.ReplaceAll(inner, "1", `"a":1`) + strings.Repeat("}", depth)
			for _, text := range []string{arrays, objects} {
				if got := sameAsJSONText(t, &c, text); got != want {
					t.Errorf("depth %d: accepted %t, want %t", depth, got, want)
				}
			}
		}
	}
}

// names returns an object of so many names, and one more.
func names(n int, more string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, `"column_%d":{"a":%d},`, i, i)
	}
	return b.String() + more + `}`
}

// TestChecker_names: a name that is twice in a large object is found wherever it is,
// and the set is rid of the objects before.
func TestChecker_names(t *testing.T) {
	var c checker
	for _, n := range []int{1, 2, 64, 127, 128, 129, 300, 5_000} {
		for _, test := range []struct {
			more string
			ok   bool
		}{
			{`"x":1`, true},
			{`"a":1`, true},
			{`"column_0":1`, false},
			{fmt.Sprintf(`"column_%d":1`, n-1), false},
			{fmt.Sprintf(`"column_%d":1`, n/2), false},
			{fmt.Sprintf(`"\u0063olumn_%d":1`, n/2), false},
			{fmt.Sprintf(`"column_%d":1`, n), true},
			{`"x":1,"y":{"x":1},"\u0078":1`, false},
		} {
			if got := sameAsJSONText(t, &c, names(n, test.more)); got != test.ok {
				t.Errorf("%d names and %s: accepted %t, want %t", n, test.more, got, test.ok)
			}
		}
	}
}

// TestChecker_looks: looking for names takes a number of looks that their number
// explains, whatever they are and wherever they come from. A set whose hash could be
// guessed, or one that is too full, takes many times more.
func TestChecker_looks(t *testing.T) {
	const n = 50_000
	one := names(n, `"x":1`)
	alike := "[" + strings.Repeat(`{"id":1,"name":2},`, n) + `0]`
	var long strings.Builder
	for i := range n {
		fmt.Fprintf(&long, `"%s%d":0,`, strings.Repeat("x", 40), i)
	}
	var c checker
	for what, text := range map[string]string{"one object": one, "objects alike": alike, "names alike": `{` + long.String() + `"x":1}`} {
		if _, _, ok := c.value(text); !ok {
			t.Fatalf("%s isn't accepted", what)
		}
		// How far a name is from its home is how often it was looked for in vain.
		looks, mask := c.names.taken, len(c.names.slots)-1
		for i, s := range c.names.slots {
			if s.object >= c.names.first {
				looks += (i - home(s.hash, s.object)) & mask
			}
		}
		if limit := 10 * c.names.taken; looks > limit {
			t.Errorf("%s: %d looks for %d names, want at most %d", what, looks, c.names.taken, limit)
		}
	}
	if c.value(`{}`); len(c.names.slots) > mostSlots {
		t.Errorf("the set keeps %d slots", len(c.names.slots))
	}
}

// TestChecker_numbers: objects' numbers start again before they overflow, and nothing
// of the texts before is left then.
func TestChecker_numbers(t *testing.T) {
	var c checker
	for range 3 {
		for _, text := range checked() {
			sameAsJSONText(t, &c, text)
		}
		c.names.last = 1<<31 - 3
	}
}

// TestChecker_allocates: nothing, once it has seen the like.
func TestChecker_allocates(t *testing.T) {
	var c checker
	text := names(300, `"\u00e9":[1.5,true,"\n",null]`)
	if got := testing.AllocsPerRun(100, func() {
		if _, _, ok := c.value(text); !ok {
			t.Fatal("it isn't accepted")
		}
	}); got != 0 {
		t.Errorf("%g allocations", got)
	}
}

// FuzzChecker: the checker and jsontext accept the same texts, and take the same
// lengths of them. The checker has seen another text before.
func FuzzChecker(f *testing.F) {
	for _, text := range checked() {
		f.Add(text, text)
	}
	for _, more := range []string{`"x":1`, `"column_7":1`, `"\u0063olumn_99":1`} {
		f.Add(names(70, `"x":1`), names(150, more))
	}
	f.Add(`{"schema":{"type":"struct"},"payload":null}`, `{"before":null,"after":{"id":7,"note":"d\u00e9j\u00e0 vu \ud83d\ude00","x":-1.5e3,"tags":["a",{}]},"op":"c","source":{"lsn":1}}`)
	f.Fuzz(func(t *testing.T, before, text string) {
		const most = 4 << 10 // beyond which a run takes longer, and tells no more
		if len(before)+len(text) > most {
			return
		}
		var c checker
		c.value(before)
		for range 3 { // new, and known
			sameAsJSONText(t, &c, text)
		}
		if n, _, ok := c.value(text); ok {
			for _, more := range []string{`}`, `]}`, `:1}`, `,"a":1}`, `,"zz":{"a":1,"a":1}}`} {
				sameAsJSONText(t, &c, text[:n]+more)
				if text[n-1] == '}' {
					sameAsJSONText(t, &c, text[:n-1]+more)
				}
			}
			sameAsJSONText(t, &c, `{"a":`+text[:n]+`,"`+strings.ToValidUTF8(text, "")+`":[]}`)
		}
	})
}
