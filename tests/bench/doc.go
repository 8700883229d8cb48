// Package bench measures what the pipeline costs, beside what can't be done without.
// docs/benchmarks.md holds what came out, and go run ./tests/bench/all runs all of it.
//
//   - codec_test.go: a message's bytes to its row, beside tokenizing and the usual ways in Go
//   - write_test.go: rows to acknowledged, beside bare managedwriter
//   - worker_test.go: the DoFns one after the other, without a runner, beside tokenizing
//   - graph_test.go: pipeline.Build on Prism, beside the same graph of empty DoFns
//   - coalesce_test.go, latency_test.go: what coalescing saves, and how long messages take
//   - gate_test.go: what CI holds all of that to
//   - peers: other programs that do the same work
//
// The graph runs in one process, as in cmd/local: Prism, a Pub/Sub that makes its messages
// as they are taken, and a BigQuery that only counts. So figures are of two cores that do
// all of that, and only their ratios are worth anything elsewhere. tests/load measures the
// graph over time.
package bench
