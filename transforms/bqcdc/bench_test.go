package bqcdc

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/schemas/change"
)

// BenchmarkWriter sends the same encoded rows to one server in turns: through
// this package, from change.Row to the acknowledged result, and by bare
// managedwriter calls in requests of the same size, made beforehand. It reports
// the rows per second of both, and the ratios of their times and of the processor's
// (the server's included): above 1 this package is the faster.
//
//	go test -run='^$' -bench=Writer -benchtime=20x ./transforms/bqcdc
func BenchmarkWriter(b *testing.B) {
	for _, size := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) { benchmarkWriter(b, size, 40_000_000/size) })
	}
}

func benchmarkWriter(b *testing.B, size, rows int) {
	s := newWriteServer(b)
	s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) { // acknowledge, keep nothing
		return &storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_AppendResult_{}}, nil
	}
	w := newTestWriter(b, testConfig(s))
	client, err := managedwriter.NewClient(b.Context(), "p", option.WithEndpoint(s.addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	bare, err := client.NewManagedStream(b.Context(), managedwriter.WithDestinationTable(resourceName("p.d.t")),
		managedwriter.WithSchemaDescriptor(testDescriptor()), managedwriter.EnableWriteRetries(true))
	if err != nil {
		b.Fatal(err)
	}

	// Rows come hot from a decoder: a few are sent again and again, so that the
	// benchmark does not measure how fast memory gives up a hundred megabytes.
	input := make([]change.Row, min(rows, 2000))
	var batches [][][]byte
	var batch [][]byte
	for i := range input {
		input[i] = testRow("p.d.t", string(bytes.Repeat([]byte{byte(i)}, size)), uint64(i+1))
	}
	for i := range rows {
		batch = append(batch, input[i%len(input)].Data)
		if len(batch)*(size+3) >= DefaultTargetRequestBytes || i == rows-1 {
			batches, batch = append(batches, batch), nil
		}
	}
	ours := func() {
		bundle := w.begin(b.Context())
		rested := 0
		take := func(r *result) { rested += restedRows(r) }
		for i := range rows {
			if err := bundle.collect(take); err != nil {
				b.Fatal(err)
			}
			if err := bundle.add(&input[i%len(input)], 0); err != nil {
				b.Fatal(err)
			}
		}
		if err := bundle.finish(take); err != nil || rested != rows {
			b.Fatalf("%d of %d rows rest: %v", rested, rows, err)
		}
	}
	theirs := func() {
		var results []*managedwriter.AppendResult
		for _, rows := range batches {
			r, err := bare.AppendRows(b.Context(), rows)
			if err != nil {
				b.Fatal(err)
			}
			results = append(results, r)
		}
		for _, r := range results {
			if _, err := r.GetResult(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	ours()
	theirs()
	var took, worked [2]time.Duration
	for b.Loop() {
		for i, f := range []func(){ours, theirs} {
			start, busy := time.Now(), cpuTime(b)
			f()
			took[i] += time.Since(start)
			worked[i] += cpuTime(b) - busy
		}
	}
	perSecond := func(d time.Duration) float64 { return float64(rows) * float64(b.N) / d.Seconds() }
	b.ReportMetric(perSecond(took[0]), "rows/s")
	b.ReportMetric(perSecond(took[1]), "bare-rows/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	b.ReportMetric(worked[1].Seconds()/worked[0].Seconds(), "cpu-ratio")
	b.ReportMetric(0, "ns/op")
}

// cpuTime is what the process has used so far: it tells more than the clock on a
// machine that others use too.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkManyTables writes a row to each of 2,000 tables in turn, in bundles of a
// hundred rows: with connections that are shared beyond the first forty, and, beside it,
// with a hundred that each serve one table until they are closed for another one. The
// server takes as long to tell a stream's region, which opening one asks for, as a near one
// does. It reports the ratio of their times: above 1 sharing is the faster.
//
//	go test -run='^$' -bench=ManyTables -benchtime=3x ./transforms/bqcdc
func BenchmarkManyTables(b *testing.B) {
	for _, latency := range []time.Duration{0, 5 * time.Millisecond} {
		b.Run(fmt.Sprint("latency=", latency), func(b *testing.B) {
			s := newWriteServer(b)
			s.get = func(context.Context, string) error { time.Sleep(latency); return nil }
			s.answer = func(*appendCall) (*storagepb.AppendRowsResponse, error) { // acknowledge, keep nothing
				return &storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_AppendResult_{}}, nil
			}
			c := testConfig(s)
			c.AppendTimeout, c.RetryFor, c.FinishFor = time.Minute, time.Minute, time.Minute
			sharing := newTestWriter(b, c)
			c.OwnConnections = 100
			owning := newTestWriter(b, c)
			owning.streams.endpoint.sharedConnections = 0
			rows := rowsOf(2000)
			round := func(w *writer) time.Duration {
				start := time.Now()
				for part := range slices.Chunk(rows, 100) {
					bundle := w.begin(b.Context())
					for i := range part {
						if err := bundle.add(&part[i], 0); err != nil {
							b.Fatal(err)
						}
					}
					if err := bundle.finish(func(*result) {}); err != nil {
						b.Fatal(err)
					}
				}
				return time.Since(start)
			}
			round(sharing) // opens the streams
			var took [2]time.Duration
			for b.Loop() {
				for i, w := range []*writer{sharing, owning} {
					took[i] += round(w)
				}
			}
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
			b.ReportMetric(float64(len(rows))*float64(b.N)/took[0].Seconds(), "rows/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
