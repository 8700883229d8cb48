package change_test

import (
	"bytes"
	"strings"
	"testing"

	"beamcdc/schemas/change"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func key(t interface{ Fatal(...any) }, values ...change.Value) change.Key {
	var k change.Key
	for _, v := range values {
		var err error
		if k, err = change.AppendKeyValue(k, v); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	keys := [][]change.Value{
		{change.String("a"), change.String("bc")},
		{change.String("ab"), change.String("c")},
		{change.String("abc"), change.String("")},
		{change.String(""), change.String("abc")},
		{change.String("a\x00"), change.String("bc")},
		{change.String("1")},
		{change.Int64(1)},
		{change.Int64(-1)},
		{change.Decimal("1")},
		{change.Bool(true)},
		{change.Bool(false)},
		{change.Int64(0)},
		{change.Bytes("1")},
		{change.Date(1)},
		{change.DateTime(1)},
		{change.Timestamp(1)},
		{change.Timestamp(1), change.String("")},
		{change.Int64(1), change.Int64(2)},
		{change.Int64(2), change.Int64(1)},
		{change.Uint64(1<<64 - 1)},
	}
	seen := make(map[string]int)
	for i, values := range keys {
		k := string(key(t, values...))
		if j, ok := seen[k]; ok {
			t.Errorf("keys %d and %d have the same bytes", i, j)
		}
		seen[k] = i
	}
}

// TestKeyIsInjective: the values can be read back, so no two keys share bytes;
// and of two keys with as many columns neither is the beginning of the other.
func TestKeyIsInjective(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 16).Draw(t, "columns")
		a, b := drawKey(t, columns), drawKey(t, columns)
		ka, kb := key(t, a...), key(t, b...)
		got, err := ka.Values()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, got, exact); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if equal := cmp.Equal(a, b, exact); equal != bytes.Equal(ka, kb) {
			t.Fatalf("%v and %v: equal values %v, but equal bytes %v", a, b, equal, !equal)
		}
		if !bytes.Equal(ka, kb) && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
			t.Fatalf("one of %x and %x begins with the other", ka, kb)
		}
	})
}

func drawKey(t *rapid.T, columns int) []change.Value {
	values := make([]change.Value, columns)
	for i := range values {
		values[i] = drawValue(0).Filter(func(v change.Value) bool {
			_, err := change.AppendKeyValue(nil, v)
			return err == nil
		}).Draw(t, "value")
	}
	return values
}

func TestKeyRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value change.Value
		want  string
	}{
		{change.Null(), "NULL"},
		{change.Unavailable(), "left its value out"},
		{change.Float64(1), "float64"},
		{change.Number("17"), "not been given a type"},
		{change.Text("17"), "not been given a type"},
		{change.Raw("[17]"), "not been given a type"},
		{change.JSON("17"), "json"},
		{change.Interval("17-0 0 0:0:0"), "interval"},
		{change.Array(nil), "array"},
		{change.Struct(nil), "struct"},
		{change.Value{}, "invalid"},
	}
	for _, test := range tests {
		dst := []byte("before")
		got, err := change.AppendKeyValue(dst, test.value)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want it to say %q", test.value.Kind(), err, test.want)
		} else if strings.Contains(err.Error(), "17") {
			t.Errorf("%v: the error shows the value: %v", test.value.Kind(), err)
		}
		if string(got) != "before" {
			t.Errorf("%v: the key became %q", test.value.Kind(), got)
		}
	}
}

// FuzzKeyValues: no bytes make Values panic, and values that it accepts have
// these bytes and no other.
func FuzzKeyValues(f *testing.F) {
	f.Add([]byte(key(f, change.String("a"), change.Int64(-1), change.Bool(true), change.Decimal("1.5"))))
	f.Add([]byte{byte(change.KindArray), 2, 0, byte(change.KindNull)})
	f.Add([]byte{byte(change.KindBool), 2})
	f.Fuzz(func(t *testing.T, src []byte) {
		values, err := change.Key(src).Values()
		if err != nil {
			return
		}
		if again := key(t, values...); !bytes.Equal(again, src) {
			t.Errorf("accepted %x, which is written as %x", src, again)
		}
	})
}
