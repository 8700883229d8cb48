package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/pipeline"
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/orders"
)

// codecInput is messages of a kind, and their table.
type codecInput struct {
	name, config string
	messages     []change.Message
	flat, schema bool
}

// codecInputs are the graph's messages and those of the shapes of one table. A turn over
// one of them lasts a millisecond or less, and is seldom interrupted.
func codecInputs() []codecInput {
	const turnBytes, most = 128 << 10, 100
	load := orders.Of(most)
	graph := codecInput{name: "graph", config: orders.Config}
	for i := range most {
		m := load.Message(i)
		graph.messages = append(graph.messages, change.Message{Data: m.GetData(), OrderingKey: m.GetOrderingKey()})
	}
	inputs := []codecInput{graph}
	for _, s := range shapes {
		if s.tables <= 1 {
			inputs = append(inputs, codecInput{name: s.name, config: s.config(), messages: s.messages(most, turnBytes), flat: s.flat, schema: s.schema})
		}
	}
	return inputs
}

func (in *codecInput) size() (bytes int) {
	for i := range in.messages {
		bytes += len(in.messages[i].Data)
	}
	return bytes
}

// each does something with each message.
func (in *codecInput) each(do func(*change.Message) error) func() error {
	return func() error { return each(in.messages, do) }
}

// TestCodec holds the usual ways to what ours does: the rows are the same.
func TestCodec(t *testing.T) {
	for _, in := range codecInputs() {
		t.Run(in.name, func(t *testing.T) {
			c := newCodec(t, in.config)
			u := newUsual(t, c, &in)
			for i := range in.messages {
				m := &in.messages[i]
				if err := c.encode(m); err != nil {
					t.Fatal(err)
				}
				for way, encode := range map[string]func([]byte) ([]byte, error){"map": u.byMap, "protojson": u.byProtoJSON} {
					row, err := encode(m.Data)
					if err != nil {
						t.Fatalf("%s: %v", way, err)
					}
					if diff := u.diff(t, c.row, row); diff != "" {
						t.Fatalf("%s: message %d, -ours +theirs:\n%s", way, i, diff)
					}
				}
			}
		})
	}
}

// BenchmarkCodec decodes messages and encodes their keys and rows, and does in turns what
// it is held against: merely tokenizing the same bytes; and the usual ways in Go to the
// same rows, which don't check what we check. It reports medians of the rounds' ratios of
// processor time: how many times the tokenizing ours takes, also of the quickest turns,
// and how many times ours the others take; and ours' allocations.
//
//	go test -run='^$' -bench=Codec -benchtime=300x ./tests/bench
func BenchmarkCodec(b *testing.B) {
	for _, in := range codecInputs() {
		b.Run(in.name, func(b *testing.B) { benchmarkCodec(b, &in) })
	}
}

func benchmarkCodec(b *testing.B, in *codecInput) {
	c := newCodec(b, in.config)
	u := newUsual(b, c, in)
	rowsJSON := make([][]byte, len(in.messages))
	for i := range in.messages {
		var err error
		if rowsJSON[i], err = u.rowJSON(in.messages[i].Data); err != nil {
			b.Fatal(err)
		}
	}
	byRow := func() error {
		for _, row := range rowsJSON {
			if _, err := u.ofRowJSON(row); err != nil {
				return err
			}
		}
		return nil
	}
	const ours, tokenizing, byMap, byProtoJSON, byProtoJSONAlone = 0, 1, 2, 3, 4
	t := takeTurns(
		in.each(c.encode),
		in.each(newTokenizer()),
		in.each(func(m *change.Message) error { _, err := u.byMap(m.Data); return err }),
		in.each(func(m *change.Message) error { _, err := u.byProtoJSON(m.Data); return err }),
		byRow,
	)
	for b.Loop() {
		t.round(b)
	}
	allocations := testing.AllocsPerRun(10, func() {
		if err := t.does[ours](); err != nil {
			b.Fatal(err)
		}
	})
	n := float64(len(in.messages))
	b.ReportMetric(median(t.ratios(ours, tokenizing)), "tokenize-times")
	b.ReportMetric(t.least(ours)/t.least(tokenizing), "quickest-tokenize-times")
	b.ReportMetric(median(t.ratios(byMap, ours)), "map-times-ours")
	b.ReportMetric(median(t.ratios(byProtoJSON, ours)), "protojson-times-ours")
	b.ReportMetric(median(t.ratios(byProtoJSONAlone, ours)), "protojson-alone-times-ours")
	b.ReportMetric(allocations/n, "allocs/message")
	b.ReportMetric(median(t.took[ours])/n*1e9, "codec-ns/message")
	b.ReportMetric(float64(in.size())/n, "B/message")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSchemaEnvelope tells what skipping the schema that comes with a message costs:
// by how much longer a message is decoded with it than without, as a part of how much
// longer it is tokenized. The quickest turns count, since it is a difference.
//
//	go test -run='^$' -bench=SchemaEnvelope -benchtime=1000x ./tests/bench
func BenchmarkSchemaEnvelope(b *testing.B) {
	for _, name := range []string{"5_columns", "30_columns", "300_columns"} {
		b.Run(name, func(b *testing.B) {
			s := newSchemaTurns(b, name)
			for b.Loop() {
				s.round(b)
			}
			b.ReportMetric(s.skipping(), "skip/tokenize")
			b.ReportMetric(s.bytes, "schema-B/message")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// schemaTurns decode and tokenize messages of a shape with their schema and without.
type schemaTurns struct {
	*turns
	bytes float64 // that the schema adds to a message
}

func newSchemaTurns(tb testing.TB, name string) *schemaTurns {
	tb.Helper()
	without, with := shapeOf(name), shapeOf(name+"_schema")
	var does []func() error
	var sizes []int
	for _, s := range []*shape{&with, &without} {
		in := codecInput{messages: s.messages(schemaTurnMessages, 1<<30)}
		c := newCodec(tb, s.config())
		does = append(does, in.each(c.decode), in.each(newTokenizer()))
		sizes = append(sizes, in.size())
	}
	return &schemaTurns{takeTurns(does...), float64(sizes[0]-sizes[1]) / schemaTurnMessages}
}

const schemaTurnMessages = 20

// skipping is what the schema adds to the decoding, as a part of what it adds to the tokenizing.
func (s *schemaTurns) skipping() float64 {
	return (s.least(0) - s.least(2)) / (s.least(1) - s.least(3))
}

// codec is what a DoFn holds for one table.
type codec struct {
	decoder  *envelope.Decoder
	encoder  *rowproto.Encoder
	plan     *rowproto.Plan
	table    *table.Table
	events   []change.Event
	key, row []byte
}

// newCodec is of the table of the configuration's first rule.
func newCodec(tb testing.TB, config string) *codec {
	tb.Helper()
	t := tableOf(tb, config, "orders")
	plan, err := rowproto.Compile(t)
	if err != nil {
		tb.Fatal(err)
	}
	decoder, err := envelope.New(envelope.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &codec{decoder: decoder, encoder: plan.NewEncoder(), plan: plan, table: t}
}

// tableOf is a table by the configuration's first rule.
func tableOf(tb testing.TB, config, name string) *table.Table {
	tb.Helper()
	options := pipeline.Parse("bench.yaml", []byte(config))
	if len(options.Tables) == 0 {
		tb.Fatal(options.Validate())
	}
	t, err := table.FromRule(table.Name{Project: project, Dataset: "shop", Table: name}, &options.Tables[0])
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func (c *codec) decode(m *change.Message) (err error) {
	c.events, _, err = c.decoder.Decode(*m, c.events[:0])
	if err == nil && len(c.events) != 1 {
		err = fmt.Errorf("a message made %d events", len(c.events))
	}
	return err
}

// encode makes the message's key and row.
func (c *codec) encode(m *change.Message) (err error) {
	if err := c.decode(m); err != nil {
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

// newTokenizer returns what reads all tokens of a message and does nothing with them.
func newTokenizer() func(*change.Message) error {
	var d jsontext.Decoder
	var buffer bytes.Buffer
	return func(m *change.Message) error {
		buffer = *bytes.NewBuffer(m.Data) // which the decoder reads where it is, and this allocates nothing
		d.Reset(&buffer)
		for {
			if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}
