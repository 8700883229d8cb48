package envelope_test

import (
	"encoding/base64"
	"runtime"
	"strings"
	"testing"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// TestDecode_memory: whatever a message is, decoding it takes memory that its size
// explains, and a compressed one no more than what it may unpack to explains.
func TestDecode_memory(t *testing.T) {
	const unpacked = 64 << 20
	digits := strings.Repeat("9", 1<<20)
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	objects := strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000)
	schema := func(depth int) string {
		return `{"schema":` + strings.Repeat(`{"type":"struct","fields":[{"field":"a","type":"array","items":`, depth) + `{"type":"int32"}` + strings.Repeat(`}]}`, depth) +
			`,"payload":` + insert(`{"a":1}`) + `}`
	}
	decimal := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x7f", 1<<20)))
	typed := `{"schema":{"type":"struct","fields":[{"type":"struct","fields":[{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"150000"},"field":"x"}],"field":"after"}]},"payload":` + insert(`{"x":"`+decimal+`"}`) + `}`
	gzip := map[string]string{"content-encoding": "gzip"}
	for what, m := range map[string]change.Message{
		"a number of a million digits": {Data: []byte(insert(`{"x":` + digits + `}`))},
		"an exponent":                  {Data: []byte(insert(`{"x":1e999999999999}`))},
		"a position of digits":         {Data: []byte(`{"op":"c","source":{"connector":"postgresql","schema":"public","table":"t","lsn":` + digits + `},"after":{"id":1}}`)},
		"a name of a megabyte":         {Data: []byte(insert(`{"` + digits + `":1}`))},
		"a table of a megabyte":        {Data: []byte(`{"op":"c","source":{"connector":"postgresql","schema":"public","table":"` + digits + `","lsn":1},"after":{"id":1}}`)},
		"nested arrays":                {Data: []byte(insert(`{"x":` + deep + `}`))},
		"nested objects":               {Data: []byte(insert(`{"x":` + objects + `}`))},
		"an envelope of arrays":        {Data: []byte(deep)},
		"a nested schema":              {Data: []byte(schema(2_000))},
		"a decimal of a megabyte":      {Data: []byte(typed)},
		"a key of a megabyte":          {Data: []byte(insert(`{"id":1}`)), OrderingKey: `{"id":"` + digits + `"}`},
		"a nested key":                 {OrderingKey: deep},
		"a bomb of blanks":             {Data: packed(t, insert(`{"x":1,"y":"`+strings.Repeat(" ", unpacked+1)+`"}`)), Attributes: gzip},
		"a bomb of values":             {Data: packed(t, insert(`{"x":[`+strings.Repeat("1,", 5<<20)+`1]}`)), Attributes: gzip},
		"a bomb of bombs":              {Data: packed(t, string(packed(t, strings.Repeat("x", unpacked)))), Attributes: gzip},
	} {
		for _, format := range envelope.Formats() {
			if m.Attributes != nil && format != envelope.Auto {
				continue // all unpack alike, and that takes a while
			}
			d, err := envelope.New(envelope.Options{Format: format, TombstoneDeletes: true})
			if err != nil {
				t.Fatal(err)
			}
			limit := uint64(256*(len(m.Data)+len(m.OrderingKey)) + 4<<20)
			if m.Attributes != nil {
				limit = 6 * unpacked
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			events, _, err := d.Decode(m, nil)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > limit {
				t.Errorf("%s as %s: %d bytes of memory for %d, %d events, %.200v", what, format, took, len(m.Data), len(events), err)
			}
			if err != nil && len(err.Error()) > 2000 {
				t.Errorf("%s as %s: an error of %d bytes", what, format, len(err.Error()))
			}
		}
	}
}
