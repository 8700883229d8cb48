package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/tests/internal/orders"
)

// skews are how often rows change: Zipf's exponent, 0 for all alike.
var skews = []struct {
	name     string
	exponent float64
}{{"uniform", 0}, {"zipf_1.1", 1.1}, {"zipf_1.5", 1.5}}

// BenchmarkCoalesce tells what coalescing saves. 100,000 changes of 100,000 rows, about
// 350 encoded bytes each, are coalesced in windows of so many changes, as the graph does
// (one row a key and window, the one of the highest sequence). It reports the rows and
// bytes that are never sent, and how much less processor time the emulator's apply takes
// with what is sent than an apply of everything, into a table that has the rows of half
// the keys. The applies take turns, without Go's garbage collection in them, and the
// least of each counts: what else the machine does only adds to it.
//
//	go test -run='^$' -bench=Coalesce -benchtime=10x -timeout=0 ./tests/bench
func BenchmarkCoalesce(b *testing.B) {
	for _, skew := range skews {
		b.Run(skew.name, func(b *testing.B) { benchmarkCoalesce(b, changesOf(b, 100_000, skew.exponent)) })
	}
}

// encoded is an encoded row.
type encoded struct {
	key      int
	sequence change.Sequence
	data     []byte
}

// changesOf returns changes, in the order of their sequences.
func changesOf(tb testing.TB, changes int, exponent float64) []encoded {
	tb.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	draw := func() int { return random.IntN(orders.Keys) }
	if exponent > 0 {
		zipf := rand.NewZipf(random, exponent, 1, orders.Keys-1)
		draw = func() int { return int(zipf.Uint64()) }
	}
	c := newCodec(tb, orders.Config)
	rows := make([]encoded, changes)
	for i := range rows {
		key, op := draw(), byte('u')
		if random.IntN(50) == 0 {
			op = 'd'
		}
		m := orders.Message("orders", key, op, orders.Keys+i)
		if err := c.encode(&change.Message{Data: m.GetData(), OrderingKey: m.GetOrderingKey()}); err != nil {
			tb.Fatal(err)
		}
		rows[i] = encoded{key, c.events[0].Sequence, bytes.Clone(c.row)}
	}
	return rows
}

// coalesce returns the last row of each key and window of so many changes.
func coalesce(rows []encoded, window int) (last []encoded) {
	for len(rows) > 0 {
		n := min(window, len(rows))
		at := make(map[int]int, n)
		for _, r := range rows[:n] {
			switch i, ok := at[r.key]; {
			case !ok:
				at[r.key] = len(last)
				last = append(last, r)
			case last[i].sequence.Compare(r.sequence) < 0:
				last[i] = r
			}
		}
		rows = rows[n:]
	}
	return last
}

func sizeOf(rows []encoded) (bytes int) {
	for i := range rows {
		bytes += len(rows[i].data)
	}
	return bytes
}

func benchmarkCoalesce(b *testing.B, all []encoded) {
	baseline := baselineOf(b)
	windows := []int{1, 5_000, 25_000, 100_000} // the first leaves everything
	left, least := make([][]encoded, len(windows)), make([]time.Duration, len(windows))
	for i, window := range windows {
		left[i], least[i] = coalesce(all, window), time.Hour
	}
	for b.Loop() {
		for i, rows := range left {
			least[i] = min(least[i], applyOf(b, baseline, rows))
		}
	}
	for i, window := range windows[1:] {
		rows := left[i+1]
		report := func(saved float64, unit string) {
			b.ReportMetric(100*saved, fmt.Sprintf("%s@%d_changes", unit, window))
		}
		report(1-float64(len(rows))/float64(len(all)), "%rows-saved")
		report(1-float64(sizeOf(rows))/float64(sizeOf(all)), "%bytes-saved")
		report(1-least[i+1].Seconds()/least[0].Seconds(), "%apply-saved")
	}
	b.ReportMetric(least[0].Seconds()*1000, "apply-of-all-ms")
	b.ReportMetric(0, "ns/op")
}

// applyOf returns the processor time that a new emulator's apply of the rows takes.
func applyOf(b *testing.B, baseline, rows []encoded) time.Duration {
	b.Helper()
	ctx := b.Context()
	server, err := emulator.New(emulator.Options{Project: project})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	server.HoldApplies(true)
	t := tableOf(b, orders.Config, "orders")
	if err := errors.Join(server.CreateDataset(ctx, "shop"), runQuery(server.RESTAddr(), t.DDL())); err != nil {
		b.Fatal(err)
	}
	send(b, server.GRPCAddr(), t, baseline)
	if err := server.Apply(ctx, "shop", "orders"); err != nil {
		b.Fatal(err)
	}
	send(b, server.GRPCAddr(), t, rows)
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	start := cpuTime()
	if err := server.Apply(ctx, "shop", "orders"); err != nil {
		b.Fatal(err)
	}
	return cpuTime() - start
}

// baselineOf returns the rows of every other key, earlier than all changes.
func baselineOf(tb testing.TB) (rows []encoded) {
	tb.Helper()
	c := newCodec(tb, orders.Config)
	for key := 0; key < orders.Keys; key += 2 {
		m := orders.Message("orders", key, 'c', key)
		if err := c.encode(&change.Message{Data: m.GetData(), OrderingKey: m.GetOrderingKey()}); err != nil {
			tb.Fatal(err)
		}
		rows = append(rows, encoded{key, c.events[0].Sequence, bytes.Clone(c.row)})
	}
	return rows
}

// runQuery runs a statement.
func runQuery(restAddr, statement string) error {
	body, err := json.Marshal(map[string]any{"query": statement, "useLegacySql": false})
	if err != nil {
		return err
	}
	response, err := http.Post(restAddr+"/bigquery/v2/projects/"+project+"/queries", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", statement, response.Status, text)
	}
	return err
}

// send sends rows by bare managedwriter and waits until they are acknowledged.
func send(tb testing.TB, grpcAddr string, t *table.Table, rows []encoded) {
	tb.Helper()
	plan, err := rowproto.Compile(t)
	if err != nil {
		tb.Fatal(err)
	}
	client, err := managedwriter.NewClient(tb.Context(), project, option.WithEndpoint(grpcAddr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	stream, err := client.NewManagedStream(tb.Context(), managedwriter.WithSchemaDescriptor(plan.Descriptor()),
		managedwriter.WithDestinationTable(managedwriter.TableParentFromParts(project, t.Name.Dataset, t.Name.Table)))
	if err != nil {
		tb.Fatal(err)
	}
	var results []*managedwriter.AppendResult
	for len(rows) > 0 {
		n := min(5000, len(rows))
		batch := make([][]byte, n)
		for i := range batch {
			batch[i] = rows[i].data
		}
		result, err := stream.AppendRows(tb.Context(), batch)
		if err != nil {
			tb.Fatal(err)
		}
		results, rows = append(results, result), rows[n:]
	}
	for _, r := range results {
		if _, err := r.GetResult(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestCoalesce holds what the benchmark coalesces to what the graph would.
func TestCoalesce(t *testing.T) {
	all := changesOf(t, 2000, 1.5)
	const window = 500
	want := make(map[int]map[int]change.Row) // by window and key
	for i, r := range all {
		if want[i/window] == nil {
			want[i/window] = make(map[int]change.Row)
		}
		row := change.Row{Sequence: r.sequence, Data: r.data}
		if before, ok := want[i/window][r.key]; ok {
			row = change.Supersede(before, row)
		}
		want[i/window][r.key] = row
	}
	var rows int
	for _, w := range want {
		rows += len(w)
	}
	got := coalesce(all, window)
	if len(got) != rows {
		t.Errorf("%d rows are left, of the graph's %d", len(got), rows)
	}
	held := make(map[string]bool)
	for _, w := range want {
		for _, r := range w {
			held[string(r.Data)] = true
		}
	}
	for _, r := range got {
		if !held[string(r.data)] {
			t.Errorf("a row of key %d is left that the graph would not send", r.key)
		}
	}
}
