package bench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/schemas/change"
	"beamcdc/transforms/bqcdc"
)

// BenchmarkWrite sends the same encoded rows to one server in turns: by the graph's DoFn
// that writes, a bundle a turn, from change.Row to the acknowledgement of all; and by bare
// managedwriter, in requests of the same size that are made beforehand. The server is
// another process that counts rows, or the emulator. It reports how much of bare
// managedwriter's rate is left, and of what it does for a second of the processor's; the
// medians of the rounds.
//
//	go test -run='^$' -bench=Write$ -benchtime=20x ./tests/bench
func BenchmarkWrite(b *testing.B) {
	turnBytes := map[serverKind]int{counts: 16 << 20, emulates: 3 << 20}
	for _, kind := range []serverKind{counts, emulates} {
		for _, shape := range []string{"5_columns_200B", "30_columns", "300_columns"} {
			b.Run(fmt.Sprintf("%s/%s", kind, shape), func(b *testing.B) {
				w := newWriteTurns(b, shape, kind, turnBytes[kind])
				for b.Loop() {
					w.round(b)
				}
				b.ReportMetric(median(ratios(w.elapsed[1], w.elapsed[0])), "rate/bare")
				b.ReportMetric(median(w.ratios(1, 0)), "per-cpu/bare")
				b.ReportMetric(float64(w.rows)/median(w.elapsed[0]), "rows/s")
				b.ReportMetric(float64(w.rows)/median(w.elapsed[1]), "bare-rows/s")
				b.ReportMetric(float64(w.bytes)/float64(w.rows), "B/row")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkWriteTables is BenchmarkWrite where a bundle has few rows for each of many
// tables, as many bundles of a job of many tables have: what of the cost is each request's
// in managedwriter, too, is told from what is ours. Bare managedwriter has the same rows in
// the same requests, on streams that share connections.
//
//	go test -run='^$' -bench=WriteTables$ -benchtime=20x ./tests/bench
func BenchmarkWriteTables(b *testing.B) {
	for _, tables := range []int{100, 2000} {
		b.Run(strconv.Itoa(tables)+"_tables", func(b *testing.B) {
			w := newTablesTurns(b, tables, 4)
			for b.Loop() {
				w.round(b)
			}
			b.ReportMetric(median(ratios(w.elapsed[1], w.elapsed[0])), "rate/bare")
			b.ReportMetric(median(w.ratios(1, 0)), "per-cpu/bare")
			b.ReportMetric(median(w.took[0])/float64(w.requests)*1e6, "cpu-µs/request")
			b.ReportMetric(median(w.took[1])/float64(w.requests)*1e6, "bare-cpu-µs/request")
			b.ReportMetric(float64(w.rows)/float64(w.requests), "rows/request")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// tablesTurns are ours and bare managedwriter, with many tables.
type tablesTurns struct {
	*turns
	rows, requests int // of a turn
}

// newTablesTurns has turns of so many bundles, each of as many rows as the worker path's.
func newTablesTurns(tb testing.TB, tables, bundles int) *tablesTurns {
	tb.Helper()
	s := shapeOf(fmt.Sprintf("30_columns_%d_tables", tables))
	w := newWorker(tb, &s, counts)
	rows := w.encode(s.messages(bundleMessages, 1<<30))
	byTable := make(map[string][][]byte)
	for i := range rows {
		byTable[rows[i].Table] = append(byTable[rows[i].Table], rows[i].Data)
	}
	if len(byTable) != tables {
		tb.Fatalf("the rows are of %d tables, want %d", len(byTable), tables)
	}
	client := newBareClient(tb, w.grpcAddr, managedwriter.WithMultiplexing())
	var all []*bare
	for name, data := range byTable {
		table := name[strings.LastIndexByte(name, '.')+1:]
		all = append(all, &bare{stream: newBareStream(tb, client, &s, table), requests: [][][]byte{data}})
	}
	t := &tablesTurns{rows: bundles * len(rows), requests: bundles * tables}
	t.turns = takeTurns(
		repeat(bundles, func() error { w.writeRows(rows, len(rows)); return nil }),
		repeat(bundles, func() error { return writeAll(tb.Context(), all) }),
	)
	for _, do := range t.does { // connects
		if err := do(); err != nil {
			tb.Fatal(err)
		}
	}
	return t
}

// writeTurns are ours and bare managedwriter.
type writeTurns struct {
	*turns
	rows, bytes int // of a turn
}

// newWriteTurns has turns of about so many bytes of rows.
func newWriteTurns(tb testing.TB, name string, kind serverKind, bytes int) *writeTurns {
	tb.Helper()
	s := shapeOf(name)
	w := newWorker(tb, &s, kind)
	rows := w.encode(s.messages(2000, 4<<20)) // few, which stay hot, as those that come from an encoder
	bare := newBare(tb, &s, w.grpcAddr)
	t := &writeTurns{}
	var request [][]byte
	var size int
	for t.bytes < bytes {
		data := rows[t.rows%len(rows)].Data
		t.rows, t.bytes = t.rows+1, t.bytes+len(data)
		request, size = append(request, data), size+len(data)+3
		if size >= bqcdc.DefaultTargetRequestBytes || t.bytes >= bytes {
			bare.requests, request, size = append(bare.requests, request), nil, 0
		}
	}
	t.turns = takeTurns(
		func() error { w.writeRows(rows, t.rows); return nil },
		func() error { return bare.write(tb.Context()) },
	)
	for _, do := range t.does { // connects
		if err := do(); err != nil {
			tb.Fatal(err)
		}
	}
	return t
}

// bare is managedwriter alone.
type bare struct {
	stream   *managedwriter.ManagedStream
	requests [][][]byte
}

func newBare(tb testing.TB, s *shape, grpcAddr string) *bare {
	tb.Helper()
	return &bare{stream: newBareStream(tb, newBareClient(tb, grpcAddr), s, "t0")}
}

func newBareClient(tb testing.TB, grpcAddr string, options ...option.ClientOption) *managedwriter.Client {
	tb.Helper()
	client, err := managedwriter.NewClient(tb.Context(), project, append(options, option.WithEndpoint(grpcAddr), option.WithoutAuthentication(),
		option.WithTelemetryDisabled(), option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func newBareStream(tb testing.TB, client *managedwriter.Client, s *shape, table string) *managedwriter.ManagedStream {
	tb.Helper()
	stream, err := client.NewManagedStream(tb.Context(), managedwriter.WithSchemaDescriptor(newCodec(tb, s.config()).plan.Descriptor()),
		managedwriter.WithDestinationTable(managedwriter.TableParentFromParts(project, "shop", table)), managedwriter.EnableWriteRetries(true))
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}

func (b *bare) write(ctx context.Context) error { return writeAll(ctx, []*bare{b}) }

// writeAll sends all requests, and then waits for their answers.
func writeAll(ctx context.Context, all []*bare) error {
	var results []*managedwriter.AppendResult
	for _, b := range all {
		for _, rows := range b.requests {
			r, err := b.stream.AppendRows(ctx, rows)
			if err != nil {
				return err
			}
			results = append(results, r)
		}
	}
	for _, r := range results {
		if _, err := r.GetResult(ctx); err != nil {
			return err
		}
	}
	return nil
}

// TestWrite writes some rows to both servers, so that the benchmark can't rot.
func TestWrite(t *testing.T) {
	for _, kind := range []serverKind{counts, emulates} {
		s := shapeOf("5_columns_200B")
		w := newWorker(t, &s, kind)
		rows := w.encode(s.messages(50, 1<<30))
		w.writeRows(rows, len(rows))
		b := newBare(t, &s, w.grpcAddr)
		b.requests = [][][]byte{dataOf(rows)}
		if err := b.write(t.Context()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestWriteTables has one turn of bare managedwriter and one of ours, for the same reason.
func TestWriteTables(t *testing.T) { newTablesTurns(t, 100, 1) }

func dataOf(rows []change.Row) (data [][]byte) {
	for i := range rows {
		data = append(data, rows[i].Data)
	}
	return data
}
