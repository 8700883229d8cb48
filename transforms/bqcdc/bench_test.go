package bqcdc

import (
	"bytes"
	"fmt"
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
// the rows per second of both and their ratio.
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

	input := make([]change.Row, rows)
	var batches [][][]byte
	var batch [][]byte
	for i := range input {
		input[i] = testRow("p.d.t", string(bytes.Repeat([]byte{byte(i)}, size)), uint64(i+1))
		batch = append(batch, input[i].Data)
		if len(batch)*(size+3) >= DefaultTargetRequestBytes || i == rows-1 {
			batches, batch = append(batches, batch), nil
		}
	}
	ours := func() {
		bundle := w.begin(b.Context())
		rested := 0
		take := func(r *result) { rested += restedRows(r) }
		for i := range input {
			if err := bundle.collect(take); err != nil {
				b.Fatal(err)
			}
			if err := bundle.add(&input[i], 0); err != nil {
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
	var took [2]time.Duration
	for b.Loop() {
		for i, f := range []func(){ours, theirs} {
			start := time.Now()
			f()
			took[i] += time.Since(start)
		}
	}
	perSecond := func(d time.Duration) float64 { return float64(rows) * float64(b.N) / d.Seconds() }
	b.ReportMetric(perSecond(took[0]), "rows/s")
	b.ReportMetric(perSecond(took[1]), "bare-rows/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}
