package change_test

import (
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

// TestReadValues: what AppendValue wrote comes back, one after the other, and no part of it
// is taken for a value.
func TestReadValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "texts")
		values := []change.Value{change.Null(), change.Int64(rapid.Int64().Draw(t, "n")), change.Float64(rapid.Float64().Draw(t, "x")), change.Bool(true)}
		for _, text := range texts {
			values = append(values, change.Text(text), change.Decimal(text))
		}
		var coded []byte
		for i := range values {
			coded = change.AppendValue(coded, &values[i])
		}
		got := make([]change.Value, len(values))
		n, err := change.ReadValues(append(coded, 0xFF), got)
		if err != nil || n != len(coded) {
			t.Fatalf("read %d bytes of %d: %v", n, len(coded), err)
		}
		for i := range got {
			if got[i].Kind() != values[i].Kind() || got[i].Text() != values[i].Text() || got[i].Uint() != values[i].Uint() {
				t.Fatalf("value %d came back as %v %q", i, got[i].Kind(), got[i].Text())
			}
		}
		if _, err := change.ReadValues(coded[:len(coded)-1], got); err == nil && len(texts[len(texts)-1]) > 0 {
			t.Fatal("a part is taken for the whole")
		}
	})
}
