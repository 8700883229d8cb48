package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"beamcdc/pipeline"
	"beamcdc/schemas/change"
	"beamcdc/tests/internal/orders"
	"beamcdc/transforms/deadletter"
)

// workerCases are the shapes, and one whose rows change by Zipf's law, some all the time,
// where those of the others are all changed once.
func workerCases() []workerCase {
	var cases []workerCase
	for _, s := range shapes {
		cases = append(cases, workerCase{shape: s})
	}
	zipf := workerCase{shape: shapeOf("30_columns"), zipf: true}
	zipf.name += "_zipf_keys"
	return append(cases, zipf)
}

type workerCase struct {
	shape
	zipf bool
}

// input is so many messages, fewer if they would be more than so many bytes.
func (c *workerCase) input(most, bytes int) []change.Message {
	if !c.zipf {
		return c.messages(most, bytes)
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), 1.1, 1, orders.Keys-1)
	var list []change.Message
	for len(list) < most && bytes > 0 {
		m := c.message(int(zipf.Uint64()))
		list, bytes = append(list, m), bytes-len(m.Data)
	}
	return list
}

// TestWorker runs the worker path over a few messages of every shape, so that the
// benchmark and the gate can't rot.
func TestWorker(t *testing.T) {
	for _, c := range workerCases() {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, &c.shape, counts)
			const messages = 50
			input := c.input(messages, 1<<30)
			if rows := w.write(messages, input); rows != messages {
				t.Errorf("%d messages made %d rows", messages, rows)
			}
			rows := w.encode(input)
			if len(rows) != messages {
				t.Errorf("%d messages made %d rows", messages, len(rows))
			}
			w.writeRows(rows, messages)
		})
	}
}

// BenchmarkWorker measures what a worker's core does between the runner's stages: the
// DoFns of pipeline.Build that decode, key and encode, and write, called one after the
// other without a runner, on one core (GOMAXPROCS=1), from a message's bytes to
// BigQuery's acknowledgement; and in turns the tokenizing of the same bytes. It reports
// processor time, all of it (gRPC, the kernel's part and garbage collection too); the
// server is another process.
//
//	go test -run='^$' -bench=Worker -benchtime=10x ./tests/bench
func BenchmarkWorker(b *testing.B) {
	for _, c := range workerCases() {
		b.Run(c.name, func(b *testing.B) { benchmarkWorker(b, &c) })
	}
}

func benchmarkWorker(b *testing.B, c *workerCase) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const turnBytes = 16 << 20
	input := c.input(max(4000, c.tables*2), turnBytes)
	var size int
	for i := range input {
		size += len(input[i].Data)
	}
	times := max(turnBytes/size, 1)
	messages := times * len(input)
	w := newWorker(b, &c.shape, counts)
	empty := alive()
	w.write(len(input), input) // connects, compiles, fills caches
	full := alive()
	var allocations uint64
	t := takeTurns(func() error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if rows := w.write(messages, input); rows != messages {
			return fmt.Errorf("%d messages made %d rows", messages, rows)
		}
		runtime.ReadMemStats(&after)
		allocations += after.Mallocs - before.Mallocs
		return nil
	}, repeat(times, func() error { return each(input, newTokenizer()) }))
	for b.Loop() {
		t.round(b)
	}
	busy := median(t.took[0])
	b.ReportMetric(median(t.ratios(0, 1)), "tokenize-times")
	b.ReportMetric(float64(times*size)/1e6/busy, "MB/s")
	b.ReportMetric(float64(messages)/busy, "changes/s")
	b.ReportMetric(float64(allocations)/float64(b.N*messages), "allocs/change")
	b.ReportMetric(float64(size)/float64(len(input)), "B/message")
	if c.tables > 1 {
		b.ReportMetric(float64(full-empty)/1e3/float64(c.tables), "KB/table")
	}
	b.ReportMetric(0, "ns/op")
}

// repeat does something so many times.
func repeat(times int, do func() error) func() error {
	return func() error {
		for range times {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}
}

// alive is what heap and stacks hold after a garbage collection, in bytes.
func alive() int64 {
	runtime.GC()
	runtime.GC() // of what finalizers left
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// messages are so many of the shape, fewer if they would be more than so many bytes.
func (s *shape) messages(most, bytes int) []change.Message {
	var list []change.Message
	for i := 0; i < most && bytes > 0; i++ {
		list = append(list, s.message(i))
		bytes -= len(list[i].Data)
	}
	return list
}

// The DoFns of the graph that do the work, as Beam calls them.
type (
	decodeDoFn interface {
		Setup() error
		ProcessElement(context.Context, change.Message, func(change.Event), func(change.Receipt), func(deadletter.Letter)) error
	}
	rowsDoFn interface {
		Setup(context.Context) error
		StartBundle(_ func([]byte, change.Row), _ func([]byte, change.RowChange), _, _ func(change.RowChange), _ func(change.Receipt), _ func(deadletter.Letter))
		ProcessElement(_ context.Context, _ change.Event, _ func([]byte, change.Row), _ func([]byte, change.RowChange), _, _ func(change.RowChange), _ func(change.Receipt), _ func(deadletter.Letter)) error
	}
	writeDoFn interface {
		Setup(context.Context) error
		StartBundle(context.Context, func(beam.EventTime, change.Receipt), func(beam.EventTime, deadletter.Letter), func(beam.EventTime, string, []byte))
		ProcessElement(context.Context, beam.EventTime, change.Row, func(beam.EventTime, change.Receipt), func(beam.EventTime, deadletter.Letter), func(beam.EventTime, string, []byte)) error
		FinishBundle(context.Context, func(beam.EventTime, change.Receipt), func(beam.EventTime, deadletter.Letter), func(beam.EventTime, string, []byte)) error
	}
)

// worker calls the graph's DoFns.
type worker struct {
	tb     testing.TB
	decode decodeDoFn
	rows   rowsDoFn
	writer writeDoFn
	bundle int

	grpcAddr string // of the server
}

// newWorker is one that writes to a server of its own.
func newWorker(tb testing.TB, s *shape, kind serverKind) *worker {
	tb.Helper()
	config := s.config() + "dead_letters: {topic: projects/" + project + "/topics/dead}\n"
	grpcAddr, restAddr := startServer(tb, config, kind)
	o := pipeline.Parse("worker.yaml", []byte(config))
	for setting, value := range map[string]string{
		"bigquery_project": project, "subscription": "projects/" + project + "/subscriptions/worker",
		"bigquery_rest_endpoint": restAddr, "bigquery_grpc_endpoint": grpcAddr, "bigquery_plaintext": "true",
	} {
		if err := o.Set(setting, value); err != nil {
			tb.Fatal(err)
		}
	}
	o.RunnerOwnsSource = true // Dataflow acks
	p, scope := beam.NewPipelineWithRoot()
	pipeline.Build(scope, o)
	edges, _, err := p.Build()
	if err != nil {
		tb.Fatal(err)
	}
	w := &worker{tb: tb, grpcAddr: grpcAddr}
	for _, edge := range edges {
		if edge.DoFn == nil {
			continue
		}
		switch fn := edge.DoFn.Recv.(type) {
		case decodeDoFn:
			w.decode = fn
		case rowsDoFn:
			w.rows = fn
		case writeDoFn:
			if w.writer == nil { // the rows', not the dead letters'
				w.writer = fn
			}
		}
	}
	if w.decode == nil || w.rows == nil || w.writer == nil {
		tb.Fatalf("the graph has other DoFns than this knows: %+v", w)
	}
	for _, err := range []error{w.decode.Setup(), w.rows.Setup(tb.Context()), w.writer.Setup(tb.Context())} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

// bundleBytes and bundleMessages are how large a bundle gets.
const (
	bundleBytes    = 4 << 20
	bundleMessages = 5000
)

// write writes so many messages, those of the input again and again, in bundles, and
// returns how many rows were made and acknowledged.
func (w *worker) write(messages int, input []change.Message) (rows int) {
	w.tb.Helper()
	for i := 0; i < messages; {
		b := w.begin(nil)
		for size, most := 0, i+bundleMessages; i < min(messages, most) && size < bundleBytes; i++ {
			m := &input[i%len(input)]
			size += len(m.Data)
			b.message(m)
		}
		b.finish()
		rows += b.rows
	}
	return rows
}

// encode returns the rows of messages.
func (w *worker) encode(input []change.Message) (rows []change.Row) {
	w.tb.Helper()
	b := w.begin(func(r change.Row) {
		r.Data, r.Key = bytes.Clone(r.Data), bytes.Clone(r.Key)
		rows = append(rows, r)
	})
	for i := range input {
		b.message(&input[i])
	}
	b.finish()
	return rows
}

// writeRows writes so many rows, those of the input again and again, in one bundle.
func (w *worker) writeRows(input []change.Row, rows int) {
	w.tb.Helper()
	b := w.begin(nil)
	for i := range rows {
		b.row(nil, input[i%len(input)])
	}
	b.finish()
}

// workerBundle is a bundle of the DoFns.
type workerBundle struct {
	rows    int // that were made
	message func(*change.Message)
	row     func([]byte, change.Row)
	finish  func() // ends the bundle, when all its rows are acknowledged
}

// begin begins a bundle. Rows go to take, or are written if it is nil.
func (w *worker) begin(take func(change.Row)) *workerBundle {
	w.bundle++
	ctx := metrics.SetBundleID(w.tb.Context(), strconv.Itoa(w.bundle))
	decoding, keying, writing := metrics.SetPTransformID(ctx, "decode"), metrics.SetPTransformID(ctx, "rows"), metrics.SetPTransformID(ctx, "write")
	var err error
	note := func(happened error) {
		if err == nil {
			err = happened
		}
	}
	letter := func(l deadletter.Letter) { w.tb.Errorf("dead letter: %s: %s", l.Reason, l.Error) }
	letterAt := func(_ beam.EventTime, l deadletter.Letter) { letter(l) }
	receipt, receiptAt := func(change.Receipt) {}, func(beam.EventTime, change.Receipt) {}
	wait := func(_ beam.EventTime, table string, _ []byte) { w.tb.Errorf("rows of %s wait", table) }
	divert, aside := func([]byte, change.RowChange) {}, func(change.RowChange) {}
	b := &workerBundle{}
	b.row = func(_ []byte, r change.Row) {
		b.rows++
		if take != nil {
			take(r)
			return
		}
		note(w.writer.ProcessElement(writing, 0, r, receiptAt, letterAt, wait))
	}
	event := func(e change.Event) {
		note(w.rows.ProcessElement(keying, e, b.row, divert, aside, aside, receipt, letter))
	}
	b.message = func(m *change.Message) { note(w.decode.ProcessElement(decoding, *m, event, receipt, letter)) }
	b.finish = func() {
		w.tb.Helper()
		note(w.writer.FinishBundle(writing, receiptAt, letterAt, wait))
		if err != nil {
			w.tb.Fatal(err)
		}
	}
	w.rows.StartBundle(b.row, divert, aside, aside, receipt, letter)
	w.writer.StartBundle(writing, receiptAt, letterAt, wait)
	return b
}
