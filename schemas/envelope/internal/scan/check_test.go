package scan

import (
	"bytes"
	"fmt"
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

// checked is JSON of every production of the grammar, and what is nearly so.
var checked = []struct {
	text string
	ok   bool
}{
	{``, false}, {` `, false}, {"\n\t\r ", false}, {"\v1", false}, {"\u00a01", false}, {"\ufeff1", false}, {"\x00", false},

	{`null`, true}, {`true`, true}, {`false`, true}, {` null `, true}, {`nul`, false}, {`nulL`, false}, {`tru`, false},
	{`True`, false}, {`fals`, false}, {`falsy`, false}, {`nullx`, true /* a value, and then something */}, {`[nullx]`, false},
	{`[truefalse]`, false}, {`NaN`, false}, {`Infinity`, false}, {`undefined`, false},

	{`0`, true}, {`-0`, true}, {`-`, false}, {`+1`, false}, {`--1`, false}, {`01`, true /* 0, and then 1 */}, {`[01]`, false},
	{`[-01]`, false}, {`[00]`, false}, {`0.0`, true}, {`0.`, false}, {`.5`, false}, {`1.`, false}, {`[1.]`, false}, {`[1.e5]`, false}, {`1.5`, true},
	{`1e5`, true}, {`1E5`, true}, {`1e+5`, true}, {`1e-5`, true}, {`1e05`, true}, {`1e`, false}, {`1e+`, false}, {`1e-`, false}, {`1ex`, false},
	{`0e0`, true}, {`-0.0e-0`, true}, {`1.5e300`, true}, {`1e999999999999`, true}, {`[1e5.5]`, false}, {`[1.2.3]`, false}, {`[1 2]`, false},
	{`[0x10]`, false}, {`[1_000]`, false}, {`123456789012345678901234567890`, true}, {`[1,-1,0.5]`, true}, {`1/2`, true}, {`[1:2]`, false},

	{`""`, true}, {`"`, false}, {`"a`, false}, {`"\`, false}, {`"\"`, false}, {`"\""`, true}, {`"\\"`, true}, {`"\\\"`, false},
	{`"\/\b\f\n\r\t"`, true}, {`"\a"`, false}, {`"\'"`, false}, {`"\0"`, false}, {`"\x41"`, false}, {`"\U0041"`, false},
	{`"\u0041"`, true}, {`"\u0000"`, true}, {`"\u00e9\u00E9"`, true}, {`"\u"`, false}, {`"\u004"`, false}, {`"\u004g"`, false}, {`"\u00 41"`, false}, {`"\u004`, false},
	{`"\uFFFD"`, true}, {`"\uFFFF"`, true}, {`"\uD7FF\uE000"`, true},
	{`"\ud83d\ude00"`, true}, {`"\uD83D\uDE00"`, true}, {`"\uD800\uDC00"`, true}, {`"\uDBFF\uDFFF"`, true},
	{`"\ud800"`, false}, {`"\udc00"`, false}, {`"\udfff\ud800"`, false}, {`"\ud800\ud800"`, false}, {`"\ud800\u0041"`, false}, {`"\ud800x"`, false},
	{`"\ud800\n"`, false}, {`"\ud800\ude0"`, false}, {`"\ud800\`, false}, {`"\ud800\u`, false}, {`"\ud800\udc0g"`, false}, {`"\ud800 \udc00"`, false},
	{`"é日本語😀"`, true}, {"\"\u007f\"", true}, {"\"\u0080\"", true}, {"\"\ufffd\"", true}, {"\"\U0010ffff\"", true},
	{"\"\xff\"", false}, {"\"\x80\"", false}, {"\"\xc3\"", false}, {"\"\xc3", false}, {"\"\xc0\x80\"", false}, {"\"\xe2\x82\"", false}, {"\"\xed\xa0\x80\"", false},
	{"\"\xf4\x90\x80\x80\"", false}, {"\"\xf0\x9f\x98\"", false}, {"\"12345678\xff\"", false}, {"\"日本\xff\"", false}, {"[\"a\",\"\xff\"]", false},
	{"\"\n\"", false}, {"\"\x00\"", false}, {"\"\x1f\"", false}, {"\"1234567\x1f\"", false}, {"\"12345678\t\"", false}, {"\"\x20\"", true}, {`'a'`, false},

	{`[]`, true}, {`[ ]`, true}, {`[`, false}, {`]`, false}, {`[1`, false}, {`[1,`, false}, {`[1,]`, false}, {`[,1]`, false}, {`[,]`, false}, {`[1,,2]`, false},
	{`[[],[]]`, true}, {`[}`, false}, {`[1}`, false}, {`[[]`, false}, {`[]]`, true}, {`[] []`, true}, {"[\n1\t,\r2 ]", true}, {"[\f1]", false},

	{`{}`, true}, {`{ }`, true}, {`{`, false}, {`}`, false}, {`{]`, false}, {`{"a"}`, false}, {`{"a":}`, false}, {`{"a":1`, false}, {`{"a":1,`, false}, {`{"a":1,}`, false},
	{`{"a":1]`, false}, {`{"a":[1}`, false}, {`{,}`, false}, {`{,"a":1}`, false}, {`{"a":1,,"b":2}`, false}, {`{"a" 1}`, false}, {`{"a"::1}`, false}, {`{"a":1 "b":2}`, false},
	{`{a:1}`, false}, {`{1:1}`, false}, {`{null:1}`, false}, {`{[]:1}`, false}, {`{"a":1;"b":2}`, false}, {`{"a",1}`, false}, {`["a":1]`, false}, {`{"":1}`, true},
	{" \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ 1 , { } ] \t\r\n, \"b\" :null } x", true}, {`{"a":{"a":{"a":[{"a":1},{"a":2}]}}}`, true}, {`{"a":1/**/}`, false}, {"{\"\xff\":1}", false}, {`{"\ud800":1}`, false},

	{`{"a":1,"a":2}`, false}, {`{"a":1,"A":2}`, true}, {`{"a":1,"b":2,"a":3}`, false}, {`{"":1,"":2}`, false}, {`{"a":1,"\u0061":2}`, false}, {`{"\u0061":1,"a":2}`, false},
	{`{"\u0061":1,"\u0061":2}`, false}, {`{"\u0061":1,"\u0062":2}`, true}, {`{"\n":1,"\u000a":2}`, false}, {`{"/":1,"\/":2}`, false}, {`{"é":1,"\u00e9":2}`, false},
	{`{"😀":1,"\ud83d\ude00":2}`, false}, {`{"\"":1,"\u0022":2}`, false}, {`{"\\":1,"\\\\":2}`, true}, {`{"é":1,"e\u0301":2}`, true},
	{`{"a":{"b":1},"b":2}`, true}, {`{"a":{"b":1,"b":2}}`, false}, {`{"a":{"x":1},"b":{"x":1},"a":3}`, false}, {`[{"a":1},{"a":1}]`, true}, {`[{"a":1},{"a":1,"a":1}]`, false},
}

// TestChecker: each production of the grammar, and what is near to it, is judged as
// jsontext judges it.
func TestChecker(t *testing.T) {
	var c checker
	for _, test := range checked {
		if got := sameAsJSONText(t, &c, test.text); got != test.ok {
			t.Errorf("%q is accepted: %t, want %t", test.text, got, test.ok)
		}
		// The same at each place of a word, and before and behind other things.
		for pad := range 8 {
			space := strings.Repeat(" ", pad)
			sameAsJSONText(t, &c, space+test.text)
			sameAsJSONText(t, &c, `{"`+strings.Repeat("x", pad)+`":[`+test.text+`]}`)
			sameAsJSONText(t, &c, `[`+test.text+`,{"a":`+test.text+`}`+space+`]`)
			if len(test.text) > 1 && test.text[0] == '"' {
				sameAsJSONText(t, &c, `"`+strings.Repeat("x", pad)+test.text[1:])
				sameAsJSONText(t, &c, `{"a":1,"`+strings.Repeat("x", pad)+test.text[1:]+`:2}`)
			}
		}
		for n := range len(test.text) {
			sameAsJSONText(t, &c, test.text[:n])
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
				if d%16 < 2 || strings.IndexByte(`"\{}[],:0e`, byte(d)) >= 0 {
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
			{`"x":1`, true}, {`"a":1`, true}, {`"column_0":1`, false}, {fmt.Sprintf(`"column_%d":1`, n-1), false}, {fmt.Sprintf(`"column_%d":1`, n/2), false},
			{fmt.Sprintf(`"\u0063olumn_%d":1`, n/2), false}, {fmt.Sprintf(`"column_%d":1`, n), true}, {`"x":1,"y":{"x":1},"\u0078":1`, false},
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
		for _, test := range checked {
			sameAsJSONText(t, &c, test.text)
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
	for _, test := range checked {
		f.Add(test.text, test.text)
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
