package columns_test

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/envelope/columns"
)

// A message may name its table; without a name it is of the only one.
func TestTableAttribute(t *testing.T) {
	for _, format := range []string{"auto", "columns"} {
		for _, want := range []string{"", "public.orders"} {
			m := change.Message{Data: []byte(`{"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1","id":1}`)}
			if want != "" {
				m.Attributes = map[string]string{columns.TableAttribute: want}
			}
			decoder, err := envelope.New(envelope.Options{Format: format})
			if err != nil {
				t.Fatal(err)
			}
			events, _, err := decoder.Decode(m, nil)
			if err != nil || len(events) != 1 || events[0].Table != want {
				t.Errorf("%s: %+v, %v; want table %q", format, events, err, want)
			}
		}
	}
}
