package envelope_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// insert is a Debezium message around a row.
func insert(row string) string {
	return `{"op":"c","source":{"connector":"postgresql","schema":"public","table":"t","lsn":1},"after":` + row + `}`
}

// TestDecode_badJSON: what is no single JSON value of RFC 7493 is an error that
// says where, and says nothing of a row.
func TestDecode_badJSON(t *testing.T) {
	const secret = "secret-4711"
	for what, data := range map[string]string{
		"cut off":                     insert(`{"id":1,"note":"` + secret + `"}`)[:60],
		"nothing but a brace":         `{`,
		"no JSON":                     `INSERT INTO t`,
		"an envelope of bytes":        "\x01\x00\x00\x00\x05",
		"more after it":               insert(`{"id":1}`) + `{}`,
		"a second line":               insert(`{"id":1}`) + "\n" + insert(`{"id":2}`),
		"a repeated member":           `{"op":"c","op":"d","source":{},"after":{}}`,
		"a repeated column":           insert(`{"id":1,"id":2}`),
		"a repeated column, escaped":  insert(`{"id":1,"\u0069d":2}`),
		"a repeated name in a column": insert(`{"id":1,"doc":{"a":1,"a":2}}`),
		"text that isn't UTF-8":       insert("{\"note\":\"" + secret + "\xff\"}"),
		"a lone surrogate":            insert(`{"note":"` + secret + `\ud800"}`),
		"a control character":         insert("{\"note\":\"" + secret + "\x01\"}"),
		"a bare NaN":                  insert(`{"x":NaN}`),
		"a leading zero":              insert(`{"x":007}`),
		"single quotes":               insert(`{'x':1}`),
		"a trailing comma":            insert(`{"x":1,}`),
		"a comment":                   insert(`{"x":1/*` + secret + `*/}`),
		"a byte order mark":           "\ufeff" + insert(`{"x":1}`),
		"ten thousand deep":           insert(`{"x":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`),
		"a long name in the way":      insert(`{"` + strings.Repeat("n", 1<<20) + `":}`),
	} {
		for _, format := range envelope.Formats() {
			events, control, err := decode(t, envelope.Options{Format: format}, change.Message{Data: []byte(data)})
			e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
			switch {
			case len(events) > 0 || control != "" || !ok:
				t.Errorf("%s as %s: %d events, control %q, error %v, want an error", what, format, len(events), control, err)
			case e.Reason != envelope.BadJSON:
				t.Errorf("%s as %s: %s (%v), want %s", what, format, e.Reason, err, envelope.BadJSON)
			case strings.Contains(err.Error(), secret) || len(err.Error()) > 500:
				t.Errorf("%s as %s: the error tells too much: %.600v", what, format, err)
			}
		}
	}
}

// TestDecode_large: what is large or deep, but JSON, comes through exactly.
// TestDecode_memory tells what memory that takes, and scan's TestChecker_looks how
// often names are looked for.
func TestDecode_large(t *testing.T) {
	digits := strings.Repeat("9", 1<<20)
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	var wide strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&wide, `"c%d":%d,`, i, i)
	}
	for what, test := range map[string]struct {
		column string
		want   change.Value
	}{
		"a number of a million digits": {digits, change.Number(digits)},
		"a gigantic exponent":          {`1e999999999999`, change.Number(`1e999999999999`)},
		"nesting":                      {deep, change.Raw(deep)},
		"a text of a megabyte":         {`"` + digits + `"`, change.Text(digits)},
		"a text of escapes":            {`"` + strings.Repeat(`\u00e9`, 1<<17) + `"`, change.Text(strings.Repeat("é", 1<<17))},
	} {
		events, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(insert(`{` + wide.String() + `"x":` + test.column + `}`))})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		after := events[0].After
		if len(after) != 5001 {
			t.Errorf("%s: %d columns, want 5001", what, len(after))
		}
		if got, _ := change.Find(after, "x"); got.Kind() != test.want.Kind() || got.Text() != test.want.Text() {
			t.Errorf("%s: %s of %d bytes, want %s of %d", what, got.Kind(), len(got.Text()), test.want.Kind(), len(test.want.Text()))
		}
	}
}

// TestDecode_sharesNothing: an event stays as it is while its decoder goes on,
// and the message's bytes are never written to.
func TestDecode_sharesNothing(t *testing.T) {
	for _, bm := range benchMessages {
		d, err := envelope.New(envelope.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Clone(bm.message.Data)
		m := change.Message{Data: data, OrderingKey: bm.message.OrderingKey}
		events, control, err := d.Decode(m, nil)
		want := describe(events, control, err)
		for i := range 500 {
			other := change.Message{
				Data:        []byte(insert(fmt.Sprintf(`{"id":%d,"note":"\u00e9%d","a":"\n","b":"\t","c":null}`, i, i))),
				OrderingKey: fmt.Sprintf(`{"id":%d}`, i),
			}
			if _, _, err := d.Decode(other, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := describe(events, control, err); got != want {
			t.Errorf("%s: after 500 more messages the event is\n%s\nwas\n%s", bm.name, got, want)
		}
		if !bytes.Equal(data, bm.message.Data) {
			t.Errorf("%s: decoding changed the message's bytes", bm.name)
		}
	}
}

// TestDecode_noValueInErrors: an error names column and schema, and holds no
// value of the row.
func TestDecode_noValueInErrors(t *testing.T) {
	const secret = "secret-4711"
	for _, field := range []string{
		`{"type":"int32","field":"x"}`,
		`{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"},"field":"x"}`,
		`{"type":"string","name":"io.debezium.time.ZonedTimestamp","field":"x"}`,
		`{"type":"string","name":"io.debezium.time.Interval","field":"x"}`,
		`{"type":"array","items":{"type":"int32"},"field":"x"}`,
		`{"type":"struct","fields":[],"name":"io.debezium.data.VariableScaleDecimal","field":"x"}`,
	} {
		data := `{"schema":{"type":"struct","fields":[{"type":"struct","fields":[` + field + `],"field":"after"}]},"payload":` + insert(`{"x":"`+secret+`"}`) + `}`
		_, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(data)})
		e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
		if !ok || e.Reason != envelope.BadValue || e.Table != "public.t" {
			t.Errorf("%s: error %v, want %s in public.t", field, err, envelope.BadValue)
			continue
		}
		if text := err.Error(); strings.Contains(text, secret) || !strings.Contains(text, "column x (") || !strings.Contains(text, "public.t") || !strings.Contains(text, "0/1") {
			t.Errorf("%s: %v, want it to name table, column, schema and position, and no value", field, err)
		}
	}
}

// TestDecode_longPosition: a position is a message's own text, which an error bounds.
func TestDecode_longPosition(t *testing.T) {
	long := strings.Repeat("binlog", 1<<16) + ".1"
	for _, data := range []string{
		`{"op":"c","source":{"connector":"mysql","table":"t","file":"` + long + `","pos":4}}`,
		`{"source_metadata":{"table":"t","database":"b","change_type":"INSERT","log_file":"` + long + `","log_position":4}}`,
	} {
		_, _, err := decode(t, envelope.Options{}, change.Message{Data: []byte(data)})
		e, ok := err.(*envelope.Error) //nolint:errorlint // Decode promises this very type
		if !ok || e.Reason != envelope.MissingImage || len(e.Error()) > 1100 || !strings.Contains(e.Error(), "position: binlog") {
			t.Errorf("error %.1200v", err)
		}
	}
}

// TestDecode_allocates: what decoding costs in allocations, on average and rounded
// down, since memory is taken in chunks.
func TestDecode_allocates(t *testing.T) {
	for _, bm := range benchMessages {
		limit := 0.0
		switch bm.name {
		case "schema": // its array's elements
			limit = 1
		case "mongodb": // its document's text
			limit = 1
		}
		d, err := envelope.New(envelope.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var events []change.Event
		if got := testing.AllocsPerRun(2000, func() {
			if events, _, err = d.Decode(bm.message, events[:0]); err != nil {
				t.Fatal(err)
			}
		}); got > limit {
			t.Errorf("%s: %g allocations a message, want at most %g", bm.name, got, limit)
		}
	}
}
