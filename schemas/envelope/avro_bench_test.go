package envelope_test

import (
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// BenchmarkAvro reports how long decoding a change in Avro takes, and how many
// times the same change in JSON, as json-times with its schema and
// schemaless-times without. They take turns, and the quickest of each is taken,
// so that a busy machine doesn't count.
func BenchmarkAvro(b *testing.B) {
	c := newConverter(b)
	d, err := envelope.New(envelope.Options{}, envelope.WithSchemas(c))
	if err != nil {
		b.Fatal(err)
	}
	const rounds = 100
	messages := [3]change.Message{c.convert(benchMessages[1].message), benchMessages[1].message, benchMessages[0].message}
	messages[0].OrderingKey = messages[2].OrderingKey // keys in Avro are not those of Pub/Sub
	messages[1].OrderingKey = messages[2].OrderingKey
	fastest := [3]time.Duration{time.Hour, time.Hour, time.Hour}
	var events []change.Event
	for b.Loop() {
		for i, m := range messages {
			start := time.Now()
			for range rounds {
				if events, _, err = d.Decode(m, events[:0]); err != nil {
					b.Fatal(err)
				}
			}
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(fastest[0].Nanoseconds())/rounds, "avro-ns")
	b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "json-times")
	b.ReportMetric(float64(fastest[0])/float64(fastest[2]), "schemaless-times")
}

// TestDecode_avroAllocates: a message in Avro costs one allocation more than in
// JSON, for what it becomes.
func TestDecode_avroAllocates(t *testing.T) {
	c := newConverter(t)
	d, err := envelope.New(envelope.Options{}, envelope.WithSchemas(c))
	if err != nil {
		t.Fatal(err)
	}
	m := c.convert(benchMessages[1].message)
	var events []change.Event
	if got := testing.AllocsPerRun(2000, func() {
		if events, _, err = d.Decode(m, events[:0]); err != nil {
			t.Fatal(err)
		}
	}); got > 3 {
		t.Errorf("%g allocations a message, want at most 3", got)
	}
}
