package rowproto

import (
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"github.com/google/go-cmp/cmp"
)

func TestUpsert_FirstSlice(t *testing.T) {
	p := compile(t,
		table.Column{Name: "name", Type: table.String},
		table.Column{Name: "paid", Type: table.Bool},
		table.Column{Name: "at", Type: table.Timestamp, From: table.FromMillis},
		table.Column{Name: "total", Type: table.Numeric, From: table.FromDecimal, FromScale: 2},
		table.Column{Name: "raw", Type: table.Bytes},
		table.Column{Name: "day", Type: table.Date},
		table.Column{Name: "gone", Type: table.String},
	)
	data, err := p.AppendUpsert([]byte("before"), row(
		change.Column{Name: "NAME", Value: change.Text("")},
		change.Column{Name: "paid", Value: change.Bool(false)},
		change.Column{Name: "at", Value: change.Number("1741507626386")},
		change.Column{Name: "total", Value: change.Text("z8c=")},
		change.Column{Name: "raw", Value: change.Text("3q2+7w==")},
		change.Column{Name: "day", Value: change.Number("-1")},
		change.Column{Name: "gone", Value: change.Null()},
	), someSequence, RowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if string(data[:6]) != "before" {
		t.Fatalf("what was in dst is gone: %q", data[:6])
	}
	want := map[string]any{
		"id": int64(7), "name": "", "paid": false, "at": int64(1741507626386000), "total": "-123.45",
		"raw": []byte{0xDE, 0xAD, 0xBE, 0xEF}, "day": int32(-1),
		"_CHANGE_TYPE": "UPSERT", "_CHANGE_SEQUENCE_NUMBER": "1/2/3/4",
	}
	if diff := cmp.Diff(want, read(t, messageType(t, p), data[6:])); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func TestDelete_KeyAlone(t *testing.T) {
	p := compile(t, table.Column{Name: "day", Type: table.Date, Mode: table.Required})
	data, err := p.AppendDelete(nil, row(change.Column{Name: "day", Value: change.Text("")}, change.Column{Name: "other"}), someSequence)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id": int64(7), "_CHANGE_TYPE": "DELETE", "_CHANGE_SEQUENCE_NUMBER": "1/2/3/4"}
	if diff := cmp.Diff(want, read(t, messageType(t, p), data)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}
