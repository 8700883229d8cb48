package envelope_test

import (
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// BenchmarkFormats reports what decoding the same row costs in each format, against
// Debezium's without a schema: byte-times is of a byte, message-times of a message.
// The two take turns, and the quickest of each is taken, so that a busy machine
// doesn't count.
func BenchmarkFormats(b *testing.B) {
	for _, bm := range benchMessages {
		b.Run(bm.name, func(b *testing.B) { benchmarkFormat(b, bm.format, bm.message) })
	}
	for name, data := range streamMessages {
		b.Run(name, func(b *testing.B) {
			format, _, _ := strings.Cut(name, "/")
			benchmarkFormat(b, format, change.Message{Data: []byte(data)})
		})
	}
}

func benchmarkFormat(b *testing.B, format string, m change.Message) {
	const rounds = 100
	messages := [2]change.Message{m, benchMessages[0].message}
	var decoders [2]*envelope.Decoder
	for i, format := range []string{format, benchMessages[0].format} {
		d, err := envelope.New(envelope.Options{Format: format})
		if err != nil {
			b.Fatal(err)
		}
		decoders[i] = d
	}
	fastest := [2]time.Duration{time.Hour, time.Hour}
	var events []change.Event
	for b.Loop() {
		for i, d := range decoders {
			start := time.Now()
			for range rounds {
				var err error
				if events, _, err = d.Decode(messages[i], events[:0]); err != nil {
					b.Fatal(err)
				}
			}
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	times := float64(fastest[0]) / float64(fastest[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(fastest[0].Nanoseconds())/rounds, "decode-ns")
	b.ReportMetric(float64(len(m.Data)), "bytes")
	b.ReportMetric(times, "message-times")
	b.ReportMetric(times*float64(len(messages[1].Data))/float64(len(m.Data)), "byte-times")
}
