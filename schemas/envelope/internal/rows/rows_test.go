package rows_test

import (
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// read reads an array of rows and nulls.
func read(t *testing.T, text string) (*rows.Rows, []rows.Image) {
	t.Helper()
	s := new(scan.Scanner)
	r := rows.New(s)
	r.Reset()
	if err := s.Reset(text); err != nil {
		t.Fatal(err)
	}
	s.Array()
	var images []rows.Image
	for s.Element() {
		images = append(images, r.Object(fmt.Sprintf("row %d", len(images))))
	}
	return &r, images
}

// describe writes columns on one line.
func describe(columns []change.Column) string {
	var parts []string
	for _, c := range columns {
		parts = append(parts, fmt.Sprintf("%s=%s:%s", c.Name, c.Value.Kind(), c.Value.Text()))
	}
	return strings.Join(parts, " ")
}

func TestObject(t *testing.T) {
	r, images := read(t, `[{"op":"c","source":{"a":1},"n":1.50,"\u0061":"\n","x":null,"y":true},null,{}]`)
	if err := r.Fault(); err != nil {
		t.Fatal(err)
	}
	if got, want := describe(r.Of(images[0])), "op=text:c source=raw:{\"a\":1} n=number:1.50 a=text:\n x=null: y=bool:"; got != want {
		t.Errorf("row 0 is %q, want %q", got, want)
	}
	if images[1].Present || r.Of(images[1]) != nil || !images[2].Present || r.Of(images[2]) != nil {
		t.Errorf("null is %+v, and {} is %+v", images[1], images[2])
	}
	r, _ = read(t, `[7,"x"]`)
	if err := r.Fault(); err == nil || err.Error() != "row 0 is neither an object nor null" {
		t.Errorf("the first fault is %v", err)
	}
}

func TestPick(t *testing.T) {
	r, images := read(t, `[{"a":1,"b":2,"c":3}]`)
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"c", "a"}, "c=number:3 a=number:1"},
		{[]string{"a", "A"}, ""},
		{nil, ""},
		{make([]string, 65), ""},
	} {
		if got := describe(r.Of(r.Pick(images[0], test.names))); got != test.want {
			t.Errorf("Pick(%q) = %q, want %q", test.names, got, test.want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`[{"a":1,"b":2},{"a":0,"b":0}]`, "a=number:1 b=number:2"},
		{`[{"a":1,"b":2},{"a":0}]`, "a=number:1 b=number:2"},
		{`[{"a":1,"b":2},{"a":0,"doc":"x","b":0}]`, "a=number:1 b=number:2 doc=text:x"},
		{`[{"b":2,"a":1},{"a":0,"doc":"x","b":0,"more":1}]`, "b=number:2 a=number:1 doc=text:x more=number:1"},
		{`[{"a":1},{}]`, "a=number:1"},
		{`[{"a":1},null]`, "a=number:1"},
	} {
		r, images := read(t, test.text)
		if got := describe(r.Of(r.Fill(images[0], images[1]))); got != test.want {
			t.Errorf("Fill of %s = %q, want %q", test.text, got, test.want)
		}
	}
}

// TestRepeated: names that come as values are looked through, few and many.
func TestRepeated(t *testing.T) {
	for _, n := range []int{0, 1, 2, 48, 49, 1000} {
		s := new(scan.Scanner)
		r := rows.New(s)
		for _, again := range []bool{false, true, false} {
			r.Reset()
			img := r.Begin()
			for i := range n {
				r.Add(fmt.Sprint(i), change.Null())
			}
			want := ""
			if again && n > 0 {
				want = fmt.Sprint(n / 2)
				r.Add(want, change.Null())
			}
			if got := r.Repeated(r.End(img)); got != want {
				t.Errorf("of %d columns %q is repeated, want %q", n, got, want)
			}
		}
	}
}

func TestNames(t *testing.T) {
	r, _ := read(t, `[]`)
	for raw, want := range map[string]string{
		`["a","\u0062"]`: "a b", `[]`: "", `null`: "", `"a"`: "", `["a",1]`: "", `{"a":1}`: "",
	} {
		if got := strings.Join(r.Names(nil, raw), " "); got != want {
			t.Errorf("Names(%s) = %q, want %q", raw, got, want)
		}
	}
}
