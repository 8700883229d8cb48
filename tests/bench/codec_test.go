package bench

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/pipeline"
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/orders"
)

// BenchmarkCodec decodes the graph's messages and encodes their keys and rows, and
// in turns merely tokenizes the same bytes. It reports the quickest turn of each,
// so that a busy machine doesn't count, how many times the tokenizing ours takes,
// and its allocations.
//
//	go test -run='^$' -bench=Codec -benchtime=2000x ./tests/bench
func BenchmarkCodec(b *testing.B) {
	const messages = 100 // a turn lasts less than a millisecond, and is seldom interrupted
	load := orders.Of(messages)
	input := make([]change.Message, messages)
	for i := range input {
		m := load.Message(i)
		input[i] = change.Message{Data: m.GetData(), OrderingKey: m.GetOrderingKey()}
	}
	codec := newCodec(b)
	var tokens jsontext.Decoder
	turns := [2]func() error{
		func() error { return each(input, codec.encode) },
		func() error { return each(input, func(m *change.Message) error { return tokenize(&tokens, m.Data) }) },
	}
	quickest := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, turn := range turns {
			start := time.Now()
			if err := turn(); err != nil {
				b.Fatal(err)
			}
			quickest[i] = min(quickest[i], time.Since(start))
		}
	}
	allocations := testing.AllocsPerRun(10, func() {
		if err := turns[0](); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(float64(quickest[0].Nanoseconds())/messages, "codec-ns/message")
	b.ReportMetric(float64(quickest[1].Nanoseconds())/messages, "tokenize-ns/message")
	b.ReportMetric(float64(quickest[0])/float64(quickest[1]), "tokenize-times")
	b.ReportMetric(allocations/messages, "allocs/message")
	b.ReportMetric(0, "ns/op")
}

// codec is what a DoFn holds for one table.
type codec struct {
	decoder  *envelope.Decoder
	encoder  *rowproto.Encoder
	events   []change.Event
	key, row []byte
}

func newCodec(tb testing.TB) *codec {
	tb.Helper()
	options := pipeline.Parse("bench.yaml", []byte(orders.Config))
	t, err := table.FromRule(table.Name{Project: project, Dataset: "shop", Table: "orders"}, &options.Tables[0])
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := rowproto.Compile(t)
	if err != nil {
		tb.Fatal(err)
	}
	decoder, err := envelope.New(envelope.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &codec{decoder: decoder, encoder: plan.NewEncoder()}
}

// encode makes the message's key and row.
func (c *codec) encode(m *change.Message) (err error) {
	if c.events, _, err = c.decoder.Decode(*m, c.events[:0]); err != nil {
		return err
	}
	e := &c.events[0]
	if c.key, err = c.encoder.AppendKey(c.key[:0], e.Key); err != nil {
		return err
	}
	if e.Op == change.OpDelete {
		c.row, err = c.encoder.AppendDelete(c.row[:0], e.Key, e.Sequence)
	} else {
		c.row, err = c.encoder.AppendUpsert(c.row[:0], e.After, e.Sequence, rowproto.RowOptions{})
	}
	return err
}

func each(messages []change.Message, do func(*change.Message) error) error {
	for i := range messages {
		if err := do(&messages[i]); err != nil {
			return err
		}
	}
	return nil
}

func tokenize(d *jsontext.Decoder, data []byte) error {
	d.Reset(bytes.NewBuffer(data))
	for {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
