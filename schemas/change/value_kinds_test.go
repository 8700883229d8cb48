package change_test

import (
	"math"
	"reflect"
	"testing"

	"beamcdc/schemas/change"
)

// TestValue_accessors: each kind tells what it holds, nothing of what others hold, and
// is equal to itself alone.
func TestValue_accessors(t *testing.T) {
	elems := []change.Column{{Name: "a", Value: change.Text("x")}, {Value: change.Null()}}
	type held struct {
		num   int64
		text  string
		elems int
	}
	tests := []struct {
		value change.Value
		want  held
	}{
		{change.Value{}, held{}},
		{change.Null(), held{}},
		{change.Unavailable(), held{}},
		{change.Bool(false), held{}},
		{change.Bool(true), held{num: 1}},
		{change.Int64(-7), held{num: -7}},
		{change.Uint64(math.MaxUint64), held{num: -1}},
		{change.Float64(0), held{}},
		{change.Float64(math.Copysign(0, -1)), held{num: math.MinInt64}},
		{change.Date(-1), held{num: -1}},
		{change.Time(1), held{num: 1}},
		{change.DateTime(1), held{num: 1}},
		{change.Timestamp(1), held{num: 1}},
		{change.Decimal("1.5"), held{text: "1.5"}},
		{change.String(""), held{}},
		{change.String("é"), held{text: "é"}},
		{change.Bytes("\xff"), held{text: "\xff"}},
		{change.Interval("0-0 1 0:0:0"), held{text: "0-0 1 0:0:0"}},
		{change.JSON("{}"), held{text: "{}"}},
		{change.Number("1"), held{text: "1"}},
		{change.Text("1"), held{text: "1"}},
		{change.Raw("[]"), held{text: "[]"}},
		{change.Array(nil), held{}},
		{change.Array(elems[1:]), held{elems: 1}},
		{change.Struct(elems), held{elems: 2}},
		{change.Struct(elems[:1]), held{elems: 1}},
	}
	for i, test := range tests {
		got := held{test.value.Int(), test.value.Text(), len(test.value.Elems())}
		if got != test.want || test.value.Bool() != (got.num != 0) || test.value.Uint() != uint64(got.num) || math.Float64bits(test.value.Float()) != uint64(got.num) {
			t.Errorf("%s holds %+v, want %+v", test.value.Kind(), got, test.want)
		}
		for j := range tests {
			if equal := test.value.Equal(tests[j].value); equal != (i == j) {
				t.Errorf("value %d (%s) equals value %d (%s): %t", i, test.value.Kind(), j, tests[j].value.Kind(), equal)
			}
		}
	}
	if change.Array(nil).Elems() != nil || change.Array([]change.Column{}).Elems() == nil {
		t.Error("no elements and nil are not told apart")
	}
}

// TestValue_words: a Value is three words, and can't be compared by mistake.
func TestValue_words(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[change.Value]()
	if size, want := of.Size(), 3*reflect.TypeFor[uintptr]().Size(); size > want {
		t.Errorf("a Value has %d bytes, want %d", size, want)
	}
	if of.Comparable() {
		t.Error("== of Values compares where their texts are")
	}
}
