package connect_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"beamcdc/schemas/envelope/connect"
)

func structOf(column string) string {
	return `{"type":"struct","fields":[{"type":"int32","field":"` + column + `"}],"name":"` + column + `.Value"}`
}

func TestCache(t *testing.T) {
	var c connect.Cache
	a := structOf("a")
	if _, n := c.Prefix(a + `,"payload":{}`); n != 0 {
		t.Fatalf("an empty cache found a schema of %d bytes", n)
	}
	first, err := c.Schema(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // whatever else was used in between
		if _, err := c.Schema(structOf(fmt.Sprintf("other%d", i))); err != nil {
			t.Fatal(err)
		}
		got, n := c.Prefix(a + `,"payload":{}`)
		if got != first || n != len(a) {
			t.Errorf("Prefix found %v of %d bytes, want %v of %d", got, n, first, len(a))
		}
		if again, err := c.Schema(a); again != first || err != nil {
			t.Errorf("Schema = %p, %v, want %p", again, err, first)
		}
	}
	if _, n := c.Prefix(a[:len(a)-1]); n != 0 {
		t.Error("Prefix took a schema that is cut off")
	}
	if _, n := c.Prefix(strings.Replace(a, "int32", "int64", 1)); n != 0 {
		t.Error("Prefix took a schema that differs")
	}
}

// TestCache_keepsNoMessage: what the cache keeps is a copy, not a part of the
// message that the schema came in.
func TestCache_keepsNoMessage(t *testing.T) {
	var c connect.Cache
	message := []byte(structOf("a") + `,"payload":{}`)
	raw := unsafe.String(unsafe.SliceData(message), len(structOf("a")))
	want, err := c.Schema(raw)
	if err != nil {
		t.Fatal(err)
	}
	clear(message) // as no one may do, but memory that is reused would
	if got, err := c.Schema(structOf("a")); got != want || err != nil {
		t.Errorf("Schema = %p, %v, want %p: the cache shares the message's memory", got, err, want)
	}
}

// TestCache_bounded: a source with ever new schemas, or a hostile one, makes
// the cache forget, not grow.
func TestCache_bounded(t *testing.T) {
	var c connect.Cache
	large := strings.Repeat("x", 200<<10)
	for i := range 300 { // 60 MB
		raw := structOf(fmt.Sprint(large, i))
		s, err := c.Schema(raw)
		if err != nil {
			t.Fatal(err)
		}
		if s.Field(fmt.Sprint(large, i), 0) == nil {
			t.Fatalf("schema %d lacks its field", i)
		}
	}
	if n := c.Bytes(); n > 17<<20 {
		t.Errorf("the cache holds %d bytes of schemas", n)
	}
}

func TestSchema_Field(t *testing.T) {
	for _, columns := range []int{1, 7, 8, 30} {
		var fields []string
		for i := range columns {
			fields = append(fields, fmt.Sprintf(`{"type":"int32","name":"n%d","field":"c%d"}`, i, i))
		}
		s, err := connect.Compile(`{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`)
		if err != nil {
			t.Fatal(err)
		}
		for i := range columns {
			for _, hint := range []int{i, 0, columns, 1000} {
				if got := s.Field(fmt.Sprintf("c%d", i), hint); got == nil || got.Name != fmt.Sprintf("n%d", i) {
					t.Errorf("%d columns, hint %d: Field(c%d) = %v", columns, hint, i, got)
				}
			}
		}
		if got := s.Field("nope", 0); got != nil {
			t.Errorf("Field(nope) = %v", got)
		}
	}
	if got := (*connect.Schema)(nil).Field("a", 0); got != nil {
		t.Errorf("no schema has the field %v", got)
	}
}
