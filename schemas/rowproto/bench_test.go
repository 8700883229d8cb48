package rowproto

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/table"
)

// benchTable is a table of orders with the types that orders have.
func benchTable() *table.Table {
	return &table.Table{
		Name: table.Name{Project: "p", Dataset: "shop", Table: "orders"},
		Columns: []table.Column{
			{Name: "order_id", Type: table.Int64, Mode: table.Required},
			{Name: "customer_id", Type: table.Int64},
			{Name: "status", Type: table.String},
			{Name: "currency", Type: table.String},
			{Name: "total", Type: table.Numeric, Precision: 12, Scale: 2, From: table.FromDecimal, FromScale: 2},
			{Name: "tax", Type: table.Numeric, Precision: 12, Scale: 2, From: table.FromDecimal, FromScale: 2},
			{Name: "placed_at", Type: table.Timestamp, From: table.FromMicros},
			{Name: "paid_at", Type: table.DateTime, From: table.FromMicros},
			{Name: "shipped_at", Type: table.DateTime, From: table.FromMicros},
			{Name: "note", Type: table.String},
			{Name: "address", Type: table.JSON},
			{Name: "tags", Type: table.String, Mode: table.Repeated},
			{Name: "priority", Type: table.Int64},
			{Name: "is_gift", Type: table.Bool},
			{Name: "weight", Type: table.Float64},
			{Name: "email", Type: table.String},
			{Name: "updated_at", Type: table.Timestamp},
		},
		PrimaryKey: []string{"order_id"},
	}
}

// benchMessage is a Debezium message of 1 KB without a schema.
const benchMessage = `{"before":null,"after":{"order_id":70012345,"customer_id":4711,"status":"paid","currency":"EUR","total":"MDk=","tax":"B88=",` +
	`"placed_at":1741507626005004,"paid_at":1741507629123456,"shipped_at":null,"note":"leave at the door, please ring twice",` +
	`"address":"{\"city\":\"Lyon\",\"zip\":\"69002\"}","tags":["new","gift"],"priority":3,"is_gift":true,"weight":1.25,` +
	`"email":"someone@example.com","updated_at":"2025-03-09T08:07:06.005004Z"},` +
	`"source":{"version":"3.4.0.Final","connector":"postgresql","name":"acme","ts_ms":1741507626005,"snapshot":"false","db":"shop",` +
	`"sequence":"[\"32777618392\",\"32777618640\"]","ts_us":1741507626005004,"ts_ns":1741507626005004000,"schema":"public","table":"orders",` +
	`"txId":901,"lsn":32777618640,"xmin":null,"origin":null,"origin_lsn":null},"transaction":null,"op":"c","ts_ms":1741507626400,` +
	`"ts_us":1741507626400123,"ts_ns":1741507626400123456}`

// typedRow is a row of twelve typed columns, as a message with a schema has them.
func typedRow() []change.Column {
	return []change.Column{
		{Name: "order_id", Value: change.Int64(70012345)},
		{Name: "customer_id", Value: change.Int64(4711)},
		{Name: "status", Value: change.String("paid")},
		{Name: "currency", Value: change.String("EUR")},
		{Name: "total", Value: change.Decimal("123.45")},
		{Name: "placed_at", Value: change.Timestamp(1741507626005004)},
		{Name: "paid_at", Value: change.DateTime(1741507629123456)},
		{Name: "note", Value: change.String("leave at the door, please ring twice")},
		{Name: "address", Value: change.JSON(`{"city":"Lyon","zip":"69002"}`)},
		{Name: "is_gift", Value: change.Bool(true)},
		{Name: "weight", Value: change.Float64(1.25)},
		{Name: "shipped_at", Value: change.Null()},
	}
}

func benchPlan(b *testing.B) *Plan {
	b.Helper()
	p, err := Compile(benchTable())
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func decodeBench(b *testing.B) (*envelope.Decoder, change.Message, []change.Event) {
	b.Helper()
	d, err := envelope.New(envelope.Options{Format: "debezium"})
	if err != nil {
		b.Fatal(err)
	}
	m := change.Message{Data: []byte(benchMessage), OrderingKey: `{"order_id":70012345}`}
	events, _, err := d.Decode(m, nil)
	if err != nil || len(events) != 1 {
		b.Fatalf("decoding: %v", err)
	}
	return d, m, events
}

func BenchmarkUpsert(b *testing.B) {
	_, _, events := decodeBench(b)
	for _, bench := range []struct {
		name string
		row  []change.Column
	}{{"typed 12 columns", typedRow()}, {"untyped 17 columns", events[0].After}} {
		b.Run(bench.name, func(b *testing.B) {
			p := benchPlan(b)
			dst, err := p.AppendUpsert(nil, bench.row, someSequence, RowOptions{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(dst)))
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = p.AppendUpsert(dst[:0], bench.row, someSequence, RowOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	p, row := benchPlan(b), typedRow()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = p.AppendKey(dst[:0], row); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMessage is what a message costs from its bytes to its row, beside
// what merely tokenizing its JSON costs.
func BenchmarkMessage(b *testing.B) {
	b.Run("tokenize", func(b *testing.B) {
		data := []byte(benchMessage)
		var buffer bytes.Buffer
		decoder := jsontext.NewDecoder(&buffer)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			buffer = *bytes.NewBuffer(data)
			decoder.Reset(&buffer)
			for range 1000 {
				if _, err := decoder.ReadToken(); err != nil {
					break
				}
			}
		}
	})
	b.Run("decode, key and encode", func(b *testing.B) {
		p := benchPlan(b)
		d, m, events := decodeBench(b)
		var row, key []byte
		b.SetBytes(int64(len(m.Data)))
		b.ReportAllocs()
		for b.Loop() {
			var err error
			if events, _, err = d.Decode(m, events[:0]); err != nil {
				b.Fatal(err)
			}
			if key, err = p.AppendKey(key[:0], events[0].Key); err != nil {
				b.Fatal(err)
			}
			if row, err = p.AppendUpsert(row[:0], events[0].After, events[0].Sequence, RowOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestUpsert_Allocations: nothing but dst may grow.
func TestUpsert_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector a sync.Pool drops what it is given at random")
	}
	p, err := Compile(benchTable())
	if err != nil {
		t.Fatal(err)
	}
	row := typedRow()
	untyped := []change.Column{
		{Name: "order_id", Value: change.Text("70012345")},
		{Name: "total", Value: change.Text("MDk=")},
		{Name: "placed_at", Value: change.Number("1741507626005004")},
		{Name: "tags", Value: change.Raw(`["new","gift"]`)},
		{Name: "address", Value: change.Text(`{"city":"Lyon","zip":"69002"}`)},
		{Name: "updated_at", Value: change.Text("2025-03-09T08:07:06.005004Z")},
		{Name: "weight", Value: change.Number("1.25")},
	}
	dst := make([]byte, 0, 4096)
	e := p.NewEncoder()
	for name, row := range map[string][]change.Column{"typed": row, "untyped": untyped} {
		allocations := testing.AllocsPerRun(100, func() {
			if _, err := e.AppendUpsert(dst, row, someSequence, RowOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.AppendKey(dst, row); err != nil {
				t.Fatal(err)
			}
			if _, err := e.AppendDelete(dst, row, someSequence); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%s: %v allocations for a row, its key and its DELETE", name, allocations)
		}
	}
}
