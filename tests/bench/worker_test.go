package bench

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/pipeline"
	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

// TestWorker runs the worker path over a few messages of every shape, so that the
// benchmark and the gate can't rot.
func TestWorker(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			w := newWorker(t, &s)
			const messages = 50
			if rows := w.write(messages, s.messages(messages, 1<<30)); rows != messages {
				t.Errorf("%d messages made %d rows", messages, rows)
			}
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
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { benchmarkWorker(b, &s) })
	}
}

func benchmarkWorker(b *testing.B, s *shape) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const turnBytes = 16 << 20
	input := s.messages(max(4000, s.tables*2), turnBytes)
	var size int
	for i := range input {
		size += len(input[i].Data)
	}
	times := max(turnBytes/size, 1)
	messages := times * len(input)
	w := newWorker(b, s)
	empty := alive()
	w.write(len(input), input) // connects, compiles, fills caches
	full := alive()
	var tokens jsontext.Decoder
	var ratios, busy []float64
	var allocations uint64
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpuTime()
		if rows := w.write(messages, input); rows != messages {
			b.Fatalf("%d messages made %d rows", messages, rows)
		}
		ours := cpuTime() - start
		runtime.ReadMemStats(&after)
		allocations += after.Mallocs - before.Mallocs
		start = cpuTime()
		for range times {
			if err := each(input, func(m *change.Message) error { return tokenize(&tokens, m.Data) }); err != nil {
				b.Fatal(err)
			}
		}
		ratios = append(ratios, float64(ours)/float64(cpuTime()-start))
		busy = append(busy, ours.Seconds())
	}
	b.ReportMetric(median(ratios), "tokenize-times")
	b.ReportMetric(float64(times*size)/1e6/median(busy), "MB/s")
	b.ReportMetric(float64(messages)/median(busy), "changes/s")
	b.ReportMetric(float64(allocations)/float64(b.N*messages), "allocs/change")
	b.ReportMetric(float64(size)/float64(len(input)), "B/message")
	if s.tables > 1 {
		b.ReportMetric(float64(full-empty)/1e3/float64(s.tables), "KB/table")
	}
	b.ReportMetric(0, "ns/op")
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
}

func newWorker(tb testing.TB, s *shape) *worker {
	tb.Helper()
	config := s.config() + "dead_letters: {topic: projects/" + project + "/topics/dead}\n"
	grpcAddr, restAddr := startServer(tb, config)
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
	w := &worker{tb: tb}
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
		row := func(_ []byte, r change.Row) {
			rows++
			note(w.writer.ProcessElement(writing, 0, r, receiptAt, letterAt, wait))
		}
		event := func(e change.Event) {
			note(w.rows.ProcessElement(keying, e, row, divert, aside, aside, receipt, letter))
		}
		w.rows.StartBundle(row, divert, aside, aside, receipt, letter)
		w.writer.StartBundle(writing, receiptAt, letterAt, wait)
		for size, most := 0, i+bundleMessages; i < min(messages, most) && size < bundleBytes; i++ {
			m := &input[i%len(input)]
			size += len(m.Data)
			note(w.decode.ProcessElement(decoding, *m, event, receipt, letter))
		}
		note(w.writer.FinishBundle(writing, receiptAt, letterAt, wait))
		if err != nil {
			w.tb.Fatal(err)
		}
	}
	return rows
}
