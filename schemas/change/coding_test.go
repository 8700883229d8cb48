package change_test

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

// exact compares values by their unexported fields too: NaN has bits, and nil
// columns differ from none.
var exact = cmp.Options{cmp.Exporter(func(reflect.Type) bool { return true })}

func TestCodingRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		message := drawMessage().Draw(t, "message")
		checkRoundTrip(t, message, change.AppendMessage, change.ReadMessage)
		checkRoundTrip(t, drawEvent().Draw(t, "event"), change.AppendEvent, change.ReadEvent)
		checkRoundTrip(t, drawRow().Draw(t, "row"), change.AppendRow, change.ReadRow)
		checkRoundTrip(t, drawReceipt().Draw(t, "receipt"), change.AppendReceipt, change.ReadReceipt)
		checkRoundTrip(t, drawRowChange().Draw(t, "row change"), change.AppendRowChange, change.ReadRowChange)
	})
}

func checkRoundTrip[T any](t *rapid.T, x T, appendTo func([]byte, *T) []byte, read func([]byte) (T, error)) {
	t.Helper()
	prefix := []byte("before")
	coded := appendTo(bytes.Clone(prefix), &x)
	if !bytes.HasPrefix(coded, prefix) {
		t.Fatalf("%T: appending changed what was there", x)
	}
	coded = coded[len(prefix):]
	if again := appendTo(nil, &x); !bytes.Equal(again, coded) {
		t.Fatalf("%T: coded in two ways:\n%x\n%x", x, coded, again)
	}
	got, err := read(coded)
	if err != nil {
		t.Fatalf("%T: %v", x, err)
	}
	if diff := cmp.Diff(x, got, exact); diff != "" {
		t.Fatalf("%T changed on its way (-want +got):\n%s", x, diff)
	}
	// Cut short or made longer, it is refused.
	cut := rapid.IntRange(0, len(coded)-1).Draw(t, "cut")
	if _, err := read(coded[:cut]); err == nil {
		t.Fatalf("%T: %d of %d bytes were accepted", x, cut, len(coded))
	}
	if _, err := read(append(bytes.Clone(coded), 0)); err == nil {
		t.Fatalf("%T: a byte too many was accepted", x)
	}
}

// TestCodingOfEachKind pins values that properties meet rarely.
func TestCodingOfEachKind(t *testing.T) {
	t.Parallel()
	values := []change.Value{
		{},
		change.Null(), change.Unavailable(),
		change.Bool(true), change.Bool(false),
		change.Int64(math.MinInt64), change.Int64(0), change.Int64(math.MaxInt64),
		change.Uint64(math.MaxUint64),
		change.Float64(math.Inf(-1)), change.Float64(math.Copysign(0, -1)), change.Float64(math.NaN()),
		change.Float64(math.Float64frombits(0x7ff8000000000abc)),
		change.Decimal("-12.50"), change.String(""), change.Bytes("\x00\xff"),
		change.Date(-719162), change.Time(86399999999), change.DateTime(-1), change.Timestamp(253402300799999999),
		change.Interval("1-2 3 4:5:6.7"), change.JSON(`{"zz":2.0,"a":9007199254740993}`),
		change.Array(nil), change.Array([]change.Column{}), change.Struct(nil), change.Struct([]change.Column{}),
		change.Array([]change.Column{{Value: change.Struct([]change.Column{{Name: "city", Value: change.Null()}})}}),
		change.Number("1e400"), change.Text("é\x00"), change.Raw("[1, 2]"),
	}
	seen := make(map[change.Kind]bool)
	for _, v := range values {
		seen[v.Kind()] = true
		e := change.Event{After: []change.Column{{Name: "c", Value: v}}}
		got, err := change.ReadEvent(change.AppendEvent(nil, &e))
		if err != nil {
			t.Errorf("%v: %v", v.Kind(), err)
		}
		if diff := cmp.Diff(e, got, exact); diff != "" {
			t.Errorf("%v changed on its way (-want +got):\n%s", v.Kind(), diff)
		}
	}
	for k := change.KindInvalid; k <= change.KindRaw; k++ {
		if !seen[k] {
			t.Errorf("%v is not tested", k)
		}
	}
}

func TestCodingNormalizes(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	m := change.Message{
		Data: []byte{}, Attributes: map[string]string{}, PublishTime: time.Date(2025, 3, 9, 10, 7, 6, 5, zone),
	}
	got, err := change.ReadMessage(change.AppendMessage(nil, &m))
	if err != nil {
		t.Fatal(err)
	}
	want := change.Message{PublishTime: time.Date(2025, 3, 9, 8, 7, 6, 5, time.UTC)}
	if diff := cmp.Diff(want, got, exact); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadingSharesMemory: what is read is views of the bytes it was read from,
// with no room to append into them.
func TestReadingSharesMemory(t *testing.T) {
	coded := change.AppendRow(nil, &change.Row{Key: []byte("key"), Data: []byte("data")})
	before := bytes.Clone(coded)
	row, err := change.ReadRow(coded)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(row.Key, "overwrites?"...)
	_ = append(row.Data, "overwrites?"...)
	if !bytes.Equal(coded, before) {
		t.Error("appending to a row's bytes wrote into the bytes it was read from")
	}
	event := benchmarkEvent()
	coded = change.AppendEvent(nil, &event)
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := change.ReadEvent(coded); err != nil {
			t.Error(err)
		}
	})
	// The columns of the key and of two images, the map of attributes with its table.
	if allocations > 6 {
		t.Errorf("reading an event made %v allocations", allocations)
	}
}

func TestReadingRefuses(t *testing.T) {
	t.Parallel()
	event := change.AppendEvent(nil, &change.Event{})
	deep := change.Value{}
	for range change.MaxDepth + 1 {
		deep = change.Array([]change.Column{{Value: deep}})
	}
	tooDeep := change.AppendEvent(nil, &change.Event{After: []change.Column{{Value: deep}}})
	receipt := func(tail ...byte) []byte { return append([]byte{0x14}, tail...) }
	tests := []struct {
		name string
		read func([]byte) error
		src  []byte
		want string
	}{
		{"nothing", readEvent, nil, "reading coded event: version at byte 0: there are no bytes"},
		{"another type", readEvent, change.AppendRow(nil, &change.Row{}), "version at byte 0: it is 0x15"},
		{"a later version", readEvent, append([]byte{0x32}, event[1:]...), "version at byte 0: it is 0x32"},
		{"too deep", readEvent, tooDeep, "it is more than 10000 deep"},
		{"a number in a longer form", readReceipt, receipt(0x81, 0x00, 0, 1), "token at byte 1: its number is longer"},
		{"a number above 64 bits", readReceipt, receipt(bytes.Repeat([]byte{0xff}, 11)...), "above 64 bits"},
		{"a number above 32 bits", readReceipt, receipt(0, 0x80, 0x80, 0x80, 0x80, 0x10, 1), "part at byte 7: it is above 32 bits"},
		{"a long text", readMessage, []byte{0x12, 0xff, 0xff, 0x03, 'a'}, "message ID at byte 4: its length is 65535, and 1 bytes are left"},
		{"many attributes", readMessage, []byte{0x12, 0, 0, 3, 0, 0, 0, 0}, "attributes at byte 4: its length is 3, and the bytes left hold 2"},
		{"attributes out of order", readMessage, []byte{0x12, 0, 0, 2, 1, 'b', 0, 1, 'a', 0, 0, 0, 0}, "it is not after the one before it"},
		{"an attribute twice", readMessage, []byte{0x12, 0, 0, 2, 1, 'b', 0, 1, 'b', 0, 0, 0, 0}, "it is not after the one before it"},
		{"many nanoseconds", readMessage, []byte{0x12, 0, 0, 0, 0, 0x81, 0x94, 0xeb, 0xdc, 0x03, 0, 0}, "more than 999,999,999 nanoseconds"},
		{"the operation", readEvent, []byte{0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 6}, "operation at byte 12: it is 6, above 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := test.read(test.src)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
		})
	}
}

// TestReadingAllocatesLittle: lists in lists, each of which claims all the bytes
// that are left, must not be allocated before they are found to lie.
func TestReadingAllocatesLittle(t *testing.T) {
	src := []byte{0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, byte(change.OpCreate), 0, 2}
	for range change.MaxDepth - 1 {
		src = append(src, 0, byte(change.KindArray), 0x80, 0x10) // an array of 2047
	}
	src = append(src, make([]byte, 1<<16)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := readEvent(src); err == nil {
		t.Error("it was accepted")
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 100*uint64(len(src)) {
		t.Errorf("reading %d bytes allocated %d", len(src), allocated)
	}
}

func readMessage(src []byte) error { _, err := change.ReadMessage(src); return err }
func readEvent(src []byte) error   { _, err := change.ReadEvent(src); return err }
func readReceipt(src []byte) error { _, err := change.ReadReceipt(src); return err }
