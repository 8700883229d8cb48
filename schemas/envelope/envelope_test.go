package envelope_test

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// decode decodes one message with a decoder of its own.
func decode(t testing.TB, o envelope.Options, m change.Message) ([]change.Event, envelope.Control, error) {
	t.Helper()
	d, err := envelope.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d.Decode(m, nil)
}

func TestDecode_DebeziumPostgres(t *testing.T) {
	m := change.Message{
		OrderingKey: `{"line_id":7001}`,
		Data: []byte(`{"before":null,
 "after":{"line_id":7001,"sku":"BOLT-M4","qty":3,"price":"MDk=","made_at":1741507626005004,"note":"x"},
 "source":{"version":"3.4.0.Final","connector":"postgresql","name":"acme","ts_ms":1741507626005,"ts_us":1741507626005004,"ts_ns":1741507626005004000,
           "snapshot":"false","db":"shop","sequence":"[\"32777618392\",\"32777618640\"]","schema":"public","table":"order_line",
           "txId":901,"lsn":32777618640,"xmin":null,"origin":null,"origin_lsn":null},
 "transaction":null,
 "op":"c","ts_ms":1741507626400}`),
	}
	events, control, err := decode(t, envelope.Options{Format: "debezium", Epoch: 7}, m)
	if err != nil || control != "" || len(events) != 1 {
		t.Fatalf("Decode = %d events, control %q, error %v", len(events), control, err)
	}
	e := events[0]
	if e.Table != "public.order_line" || e.Op != change.OpCreate || e.Parts != 1 || e.Before != nil {
		t.Errorf("event = %+v", e)
	}
	if got, want := e.Sequence.String(), "7/7A1B2C4D0/7A1B2C4D0/1"; got != want {
		t.Errorf("sequence = %s, want %s (position %s)", got, want, e.Position)
	}
	if id, _ := change.Find(e.Key, "line_id"); id.Kind() != change.KindNumber || id.Text() != "7001" {
		t.Errorf("key = %+v", e.Key)
	}
	if v, _ := change.Find(e.After, "price"); v.Kind() != change.KindText || v.Text() != "MDk=" {
		t.Errorf("price = %+v", v)
	}
	if got := e.CommitTime.UnixMicro(); got != 1741507626005004 {
		t.Errorf("commit time = %d", got)
	}
}
