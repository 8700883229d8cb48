package keyed

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/deadletter"
)

// Invariant 2: whatever the order, repetition, windows and order of combining
// of the same changes, the table becomes the source's.
func TestConvergence(t *testing.T) {
	plan, err := rowproto.Compile(&table.Table{
		Name:       table.Name{Project: "demo", Dataset: "shop", Table: "items"},
		Columns:    []table.Column{{Name: "id", Type: table.Int64}, {Name: "v", Type: table.Int64}},
		PrimaryKey: []string{"id"},
	})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		source := drawHistory(t)
		decoder, err := envelope.New(envelope.Options{Format: "debezium"})
		if err != nil {
			t.Fatal(err)
		}
		keyer := newKeyer(plan)
		delivered := slices.Clone(source.messages)
		for range rapid.IntRange(0, len(source.messages)).Draw(t, "redeliveries") {
			delivered = append(delivered, rapid.SampledFrom(source.messages).Draw(t, "redelivered"))
		}
		delivered = rapid.Permutation(delivered).Draw(t, "order of arrival")

		model := newModel(t, plan)
		rest := newRest()
		windows := rapid.IntRange(1, 4).Draw(t, "windows")
		for w := range windows {
			start, end := w*len(delivered)/windows, (w+1)*len(delivered)/windows
			byKey := make(map[string][]change.Row)
			for i, text := range delivered[start:end] {
				m := change.Message{ID: fmt.Sprint(start + i), Token: uint64(start + i + 1), Data: []byte(text)}
				events, control, err := decoder.Decode(m, nil)
				if err != nil || control != "" {
					t.Fatalf("decoding %s: control %q, %v", text, control, err)
				}
				for _, row := range encodeAll(t, keyer, events) {
					byKey[string(row.Key)] = append(byKey[string(row.Key)], row)
				}
			}
			last := make([]change.Row, 0, len(byKey))
			for _, key := range slices.Sorted(maps.Keys(byKey)) {
				last = append(last, coalesce(t, byKey[key]))
			}
			for _, row := range rapid.Permutation(last).Draw(t, "order of writing") {
				model.apply(row)
				rest.add(t, row.Receipts)
			}
		}
		if diff := cmp.Diff(source.rows, model.rows()); diff != "" {
			t.Fatalf("the table is not the source's (-source +table):\n%s", diff)
		}
		rest.check(t, len(delivered)) // invariant 1: every message is acked in the end
	})
}

// history is what a source did: its rows in the end, and the messages of its changes.
type history struct {
	rows     map[int64]int64
	messages []string
}

// drawHistory lets a source commit transactions over three keys: creates,
// updates, deletes and key changes, of which Debezium publishes the latter either
// as one update or as a delete and a create at the same position.
func drawHistory(t *rapid.T) history {
	h := history{rows: make(map[int64]int64)}
	ids := rapid.Int64Range(1, 3)
	lsn, lastCommit := 0x10, 0x8
	var value int64
	full := rapid.Bool().Draw(t, "full replica identity")
	for range rapid.IntRange(1, 6).Draw(t, "transactions") {
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			lsn += rapid.SampledFrom([]int{1, 0x10, 0xf00000000}).Draw(t, "distance") // 10/200 is later than F/FFFFFF00
			value++
			id := ids.Draw(t, "id")
			image := func(id, v int64) string { return fmt.Sprintf(`{"id":%d,"v":%d}`, id, v) }
			before := func(id int64) string {
				if full {
					return image(id, h.rows[id])
				}
				return fmt.Sprintf(`{"id":%d,"v":0}`, id)
			}
			emit := func(op, before, after string) {
				h.messages = append(h.messages, fmt.Sprintf(
					`{"op":%q,"before":%s,"after":%s,"source":{"connector":"postgresql","schema":"public","table":"items","db":"shop","snapshot":"false","lsn":%d,"sequence":"[\"%d\",\"%d\"]"},"ts_ms":1}`,
					op, before, after, lsn, lastCommit, lsn))
			}
			if _, there := h.rows[id]; !there {
				emit("c", "null", image(id, value))
				h.rows[id] = value
				continue
			}
			other := ids.Draw(t, "other id")
			_, taken := h.rows[other]
			switch rapid.SampledFrom([]string{"update", "delete", "key change", "key change in two"}).Draw(t, "change") {
			case "update":
				if full {
					emit("u", before(id), image(id, value))
				} else {
					emit("u", "null", image(id, value))
				}
				h.rows[id] = value
			case "delete":
				emit("d", before(id), "null")
				delete(h.rows, id)
			case "key change":
				if !taken {
					emit("u", before(id), image(other, value))
					delete(h.rows, id)
					h.rows[other] = value
				}
			case "key change in two":
				if !taken {
					emit("d", before(id), "null")
					emit("c", "null", image(other, value))
					delete(h.rows, id)
					h.rows[other] = value
				}
			}
		}
		lastCommit = lsn
	}
	return h
}

// encodeAll makes the rows of events as rowsFn does.
func encodeAll(t *rapid.T, k *keyer, events []change.Event) []change.Row {
	var rows []change.Row
	f := &maker{}
	d := destinationOf(k.plan)
	d.keyer = k
	for i := range events {
		e := &events[i]
		changes, err := k.split(e, e.Sequence, true, deadletter.Receipts(&e.Message, e.Part, e.Parts))
		if err != nil {
			t.Fatal(err)
		}
		for j := range changes {
			row, err := f.encode(t.Context(), d, e, &changes[j])
			if err != nil {
				t.Fatal(err)
			}
			f.keep(&row, changes[j].key)
			rows = append(rows, row)
		}
	}
	return rows
}

// coalesce combines rows as a runner may: in any order, in any tree.
func coalesce(t *rapid.T, rows []change.Row) change.Row {
	rows = rapid.Permutation(rows).Draw(t, "order of combining")
	for len(rows) > 1 {
		i := rapid.IntRange(0, len(rows)-2).Draw(t, "combined")
		rows[i] = change.Supersede(rows[i], rows[i+1])
		rows = slices.Delete(rows, i+1, i+2)
	}
	return rows[0]
}

// model is a CDC table by BigQuery's rule, sharing no code with the pipeline: of
// each key the row with the highest sequence, section by section as numbers, of
// equal ones the row that came last.
type model struct {
	t       *rapid.T
	message protoreflect.MessageDescriptor
	last    map[int64]map[string]any
}

func newModel(t *rapid.T, plan *rowproto.Plan) *model {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("row.proto"), Syntax: new("proto2"), MessageType: []*descriptorpb.DescriptorProto{plan.Descriptor()},
		Dependency: []string{storagepb.File_google_cloud_bigquery_storage_v1_annotations_proto.Path()},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return &model{t, file.Messages().Get(0), make(map[int64]map[string]any)}
}

func (m *model) apply(row change.Row) {
	message := dynamicpb.NewMessage(m.message)
	if err := proto.Unmarshal(row.Data, message); err != nil {
		m.t.Fatal(err)
	}
	columns := make(map[string]any)
	message.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(f.Name())
		if column := proto.GetExtension(f.Options(), storagepb.E_ColumnName).(string); column != "" {
			name = column
		}
		columns[name] = v.Interface()
		return true
	})
	id, ok := columns["id"].(int64)
	if !ok {
		m.t.Fatalf("a row without its key: %v", columns)
	}
	if last, ok := m.last[id]; !ok || later(columns, last) {
		m.last[id] = columns
	}
}

// later reports whether a is not earlier than b.
func later(a, b map[string]any) bool {
	left, right := strings.Split(a["_CHANGE_SEQUENCE_NUMBER"].(string), "/"), strings.Split(b["_CHANGE_SEQUENCE_NUMBER"].(string), "/")
	for i := range left {
		x, _ := new(big.Int).SetString(left[i], 16)
		y, _ := new(big.Int).SetString(right[i], 16)
		if c := x.Cmp(y); c != 0 {
			return c > 0
		}
	}
	return true
}

func (m *model) rows() map[int64]int64 {
	rows := make(map[int64]int64)
	for id, columns := range m.last {
		if columns["_CHANGE_TYPE"] == "UPSERT" {
			rows[id] = columns["v"].(int64)
		}
	}
	return rows
}

// rest is the source's side: which parts of which message have come to rest.
type rest struct {
	parts map[uint64]map[uint32]bool
	want  map[uint64]uint32
}

func newRest() *rest { return &rest{make(map[uint64]map[uint32]bool), make(map[uint64]uint32)} }

func (r *rest) add(t *rapid.T, receipts []change.Receipt) {
	for _, receipt := range receipts {
		if receipt == (change.Receipt{}) {
			continue
		}
		if want, ok := r.want[receipt.Token]; ok && want != receipt.Parts {
			t.Fatalf("message %d has %d parts and %d", receipt.Token, want, receipt.Parts)
		}
		r.want[receipt.Token] = receipt.Parts
		if r.parts[receipt.Token] == nil {
			r.parts[receipt.Token] = make(map[uint32]bool)
		}
		r.parts[receipt.Token][receipt.Part] = true
	}
}

func (r *rest) check(t *rapid.T, messages int) {
	for token := uint64(1); token <= uint64(messages); token++ {
		if len(r.parts[token]) == 0 || len(r.parts[token]) != int(r.want[token]) {
			state, _ := json.Marshal(r.parts[token])
			t.Fatalf("message %d is never acked: %s of %d parts", token, state, r.want[token])
		}
	}
}
