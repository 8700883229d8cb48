package coders_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	_ "beamcdc/transforms/coders"
	"beamcdc/transforms/dofn"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	dofn.Register(func(f *makeMessages) dofn.Func { return dofn.Func3x0(f.ProcessElement) })
	dofn.Register(func(f *makeEvents) dofn.Func { return dofn.Func3x0(f.ProcessElement) })
	dofn.Register(func(f *makeRows) dofn.Func { return dofn.Func3x0(f.ProcessElement) })
	dofn.Register(func(f *makeReceipts) dofn.Func { return dofn.Func3x0(f.ProcessElement) })
	dofn.Register(func(f *compareMessage) dofn.Func { return dofn.Func1x1(f.ProcessElement) })
	dofn.Register(func(f *compareEvent) dofn.Func { return dofn.Func1x1(f.ProcessElement) })
	dofn.Register(func(f *compareRows) dofn.Func { return dofn.Func2x1(f.ProcessElement) })
	dofn.Register(func(f *compareReceipt) dofn.Func { return dofn.Func1x1(f.ProcessElement) })
	register.Emitter1[change.Message]()
	register.Emitter1[change.Event]()
	register.Emitter2[[]byte, change.Row]()
	register.Emitter1[change.Receipt]()
	register.Iter1[change.Row]()
}

var (
	message = change.Message{
		ID: "11984302857392", Data: []byte(`{"id":9007199254740993}`), OrderingKey: "k",
		Attributes:  map[string]string{"table": "orders", "schema": "public"},
		PublishTime: time.Date(2025, 3, 9, 8, 7, 6, 5004001, time.UTC), Token: 1<<64 - 1,
	}
	receipt = change.Receipt{Token: 7, Part: 1, Parts: 2}
	event   = change.Event{
		Message: message, Part: 1, Parts: 2, Table: "public.orders", Op: change.OpUpdate,
		Key:    []change.Column{{Name: "id", Value: change.Number("9007199254740993")}},
		Before: []change.Column{},
		After: []change.Column{
			{Name: "id", Value: change.Number("9007199254740993")},
			{Name: "note", Value: change.Unavailable()},
			{Name: "tags", Value: change.Array([]change.Column{{Value: change.String("")}})},
		},
		Sequence: change.NewSequence(0, 1, 2, 1), Position: "0/2",
	}
	row = change.Row{
		Table: "demo.shop.orders", Schema: 1, Key: []byte("key"), Type: change.Delete, Sequence: change.NewSequence(0, 1, 2, 0),
		Data: []byte("data"), Message: message, Receipts: []change.Receipt{receipt}, Superseded: 2, SupersededBytes: 300,
	}
	exact = cmp.Exporter(func(reflect.Type) bool { return true })
)

// Elements are made inside the pipeline, so that nothing but the coder under
// test carries them across the shuffle.
type (
	makeMessages struct{}
	makeEvents   struct{}
	makeRows     struct{}
	makeReceipts struct{}
)

func (*makeMessages) ProcessElement(_ context.Context, _ []byte, emit func(change.Message)) {
	emit(message)
}

func (*makeEvents) ProcessElement(_ context.Context, _ []byte, emit func(change.Event)) { emit(event) }

func (*makeReceipts) ProcessElement(_ context.Context, _ []byte, emit func(change.Receipt)) {
	emit(receipt)
}

func (*makeRows) ProcessElement(_ context.Context, _ []byte, emit func([]byte, change.Row)) {
	emit(row.Key, row)
	emit(row.Key, row)
}

// Their verdicts are "" for an element that is unchanged.
type (
	compareMessage struct{}
	compareEvent   struct{}
	compareRows    struct{}
	compareReceipt struct{}
)

func (*compareMessage) ProcessElement(got change.Message) string {
	return cmp.Diff(message, got, exact)
}

func (*compareEvent) ProcessElement(got change.Event) string { return cmp.Diff(event, got, exact) }

func (*compareReceipt) ProcessElement(got change.Receipt) string {
	return cmp.Diff(receipt, got, exact)
}

// compareRows compares after it has read all rows: reading the next must not
// overwrite the bytes that the one before it shares.
func (*compareRows) ProcessElement(key []byte, rows func(*change.Row) bool) string {
	var all []change.Row
	for got := (change.Row{}); rows(&got); {
		all = append(all, got)
	}
	return cmp.Diff([]change.Row{row, row}, all, exact) + cmp.Diff(row.Key, key)
}

func TestElementsPassAShuffle(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	impulse := beam.Impulse(s)
	passert.Equals(s, beam.ParDo(s, &compareMessage{}, beam.Reshuffle(s, beam.ParDo(s, &makeMessages{}, impulse))), "")
	passert.Equals(s, beam.ParDo(s, &compareEvent{}, beam.Reshuffle(s, beam.ParDo(s, &makeEvents{}, impulse))), "")
	passert.Equals(s, beam.ParDo(s, &compareReceipt{}, beam.Reshuffle(s, beam.ParDo(s, &makeReceipts{}, impulse))), "")
	passert.Equals(s, beam.ParDo(s, &compareRows{}, beam.GroupByKey(s, beam.ParDo(s, &makeRows{}, impulse))), "")
	ptest.RunAndValidate(t, p)
}

// TestCodersAreDeterministic: Beam takes the types as keys.
func TestCodersAreDeterministic(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[change.Message](), reflect.TypeFor[change.Event](), reflect.TypeFor[change.Row](), reflect.TypeFor[change.Receipt](),
	} {
		if c := coder.LookupCustomCoder(typ); c == nil {
			t.Errorf("%v has no coder", typ)
		} else if !c.IsDeterministic() {
			t.Errorf("%v's coder is not deterministic", typ)
		}
	}
}
