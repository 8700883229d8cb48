package avro_test

import (
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/envelope/avro"
)

// BenchmarkDatastream reports how many times what the same change costs in JSON,
// which has no schema, Datastream's Avro costs. The two take turns, and the quickest
// of each is taken.
func BenchmarkDatastream(b *testing.B) {
	const rounds = 100
	inAvro := change.Message{Data: registered(datastreamValue(b))}
	reader, err := avro.New("")
	if err != nil {
		b.Fatal(err)
	}
	reader.Schemas = fixedSchema(datastreamSchema)
	if _, err := reader.Open(&inAvro); err != nil {
		b.Fatal(err)
	}
	text, _, _, err := reader.Next()
	if err != nil {
		b.Fatal(err)
	}
	messages := [2]change.Message{inAvro, {Data: []byte(text)}}
	var decoders [2]*envelope.Decoder // types from outside stay with the one that has them
	for i := range decoders {
		if decoders[i], err = newDecoder(options{Schemas: fixedSchema(datastreamSchema)}); err != nil {
			b.Fatal(err)
		}
	}
	fastest := [2]time.Duration{time.Hour, time.Hour}
	var events []change.Event
	for b.Loop() {
		for i, d := range decoders {
			start := time.Now()
			for range rounds {
				if events, _, err = d.Decode(messages[i], events[:0]); err != nil {
					b.Fatal(err)
				}
			}
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(fastest[0].Nanoseconds())/rounds, "avro-ns")
	b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "json-times")
}
