package main

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"beamcdc/tests/internal/orders"
)

// The rows hold what the messages do: the other programs are measured beside real work.
func TestEncode(t *testing.T) {
	descriptor, _, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[byte]string{
		'u': `order_id: 70000007 customer_id: 9493 status: "shipped" currency: "EUR" total: "123.45" tax: "19.99"
			placed_at: 1741507626005004 paid_at: "2025-03-09T08:07:06.008004"
			note: "leave at the door, please ring twice; the bell is broken, so call the number on the label if nobody opens within a minute"
			address: "{\"street\":\"Rue de la République 12\",\"city\":\"Lyon\",\"zip\":\"69002\"}" tags: "new" tags: "gift"
			priority: 3 is_gift: true weight: 1.25 email: "someone@example.com" updated_at: 1741507626005004
			_CHANGE_TYPE: "UPSERT" _CHANGE_SEQUENCE_NUMBER: "7A1B2C7B8"`,
		'd': `order_id: 70000007 _CHANGE_TYPE: "DELETE" _CHANGE_SEQUENCE_NUMBER: "7A1B2C7B8"`,
	} {
		var e event
		if err := json.Unmarshal(orders.Message("orders", 7, op, 3).GetData(), &e); err != nil {
			t.Fatal(err)
		}
		data, err := encode(descriptor, &e)
		if err != nil {
			t.Fatal(err)
		}
		got, wanted := dynamicpb.NewMessage(descriptor), dynamicpb.NewMessage(descriptor)
		if err := proto.Unmarshal(data, got); err != nil {
			t.Fatal(err)
		}
		if err := prototext.Unmarshal([]byte(want), wanted); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(got, wanted) {
			t.Errorf("operation %c: got %v", op, prototext.Format(got))
		}
	}
}
