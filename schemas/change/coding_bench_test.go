package change_test

import (
	"testing"
	"time"

	"beamcdc/schemas/change"
)

const benchmarkData = `{"before":{"order_id":1001,"status":"placed","total":"12.50","updated_at":1741507626005004,"note":null},` +
	`"after":{"order_id":1001,"status":"shipped","total":"12.50","updated_at":1741507926005004,"note":"left at the door"},` +
	`"source":{"version":"3.2.0.Final","connector":"postgresql","name":"shop","ts_ms":1741507926005,"snapshot":"false",` +
	`"db":"shop","sequence":"[\"24023119\",\"24023128\"]","schema":"public","table":"orders","txId":555,"lsn":24023128},` +
	`"op":"u","ts_ms":1741507926100}`

func benchmarkMessage() change.Message {
	return change.Message{
		ID: "11984302857392", Data: []byte(benchmarkData), OrderingKey: `{"order_id":1001}`,
		Attributes:  map[string]string{"schema": "public", "table": "orders"},
		PublishTime: time.Date(2025, 3, 9, 8, 7, 6, 5004000, time.UTC), Token: 4711,
	}
}

func benchmarkEvent() change.Event {
	image := func(status string) []change.Column {
		return []change.Column{
			{Name: "order_id", Value: change.Number("1001")},
			{Name: "status", Value: change.Text(status)},
			{Name: "total", Value: change.Text("12.50")},
			{Name: "updated_at", Value: change.Number("1741507926005004")},
			{Name: "note", Value: change.Null()},
		}
	}
	return change.Event{
		Message: benchmarkMessage(), Parts: 1, Table: "public.orders", Op: change.OpUpdate,
		Key:    []change.Column{{Name: "order_id", Value: change.Number("1001")}},
		Before: image("placed"), BeforeComplete: true, After: image("shipped"),
		Sequence: change.NewSequence(0, 24023119, 24023128, 1), Position: "0/16E9058",
		CommitTime: time.Date(2025, 3, 9, 8, 12, 6, 5000000, time.UTC),
	}
}

func benchmarkRow() change.Row {
	return change.Row{
		Table: "demo.shop.orders", Schema: 0x123456789abcdef0, Key: []byte("\x06\x031001"), Type: change.Upsert,
		Sequence: change.NewSequence(0, 24023119, 24023128, 1), Data: make([]byte, 90),
		CommitTime: time.Date(2025, 3, 9, 8, 12, 6, 5000000, time.UTC),
		Message:    benchmarkMessage(), Receipts: []change.Receipt{{Token: 4711, Parts: 1}, {Token: 4712, Parts: 1}},
		Superseded: 1, SupersededBytes: 90,
	}
}

func BenchmarkCoding(b *testing.B) {
	message, event, row := benchmarkMessage(), benchmarkEvent(), benchmarkRow()
	benchmarkCoding(b, "message", message, change.AppendMessage, change.ReadMessage)
	benchmarkCoding(b, "event", event, change.AppendEvent, change.ReadEvent)
	benchmarkCoding(b, "row", row, change.AppendRow, change.ReadRow)
	benchmarkCoding(b, "receipt", row.Receipts[0], change.AppendReceipt, change.ReadReceipt)
}

func benchmarkCoding[T any](b *testing.B, name string, x T, appendTo func([]byte, *T) []byte, read func([]byte) (T, error)) {
	coded := appendTo(nil, &x)
	b.Run("append/"+name, func(b *testing.B) {
		b.SetBytes(int64(len(coded)))
		b.ReportAllocs()
		dst := make([]byte, 0, len(coded))
		for b.Loop() {
			dst = appendTo(dst[:0], &x)
		}
	})
	b.Run("read/"+name, func(b *testing.B) {
		b.SetBytes(int64(len(coded)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := read(coded); err != nil {
				b.Fatal(err)
			}
		}
	})
}
