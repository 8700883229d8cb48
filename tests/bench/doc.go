// Package bench measures the whole graph, pipeline.Build on Prism, on realistic
// messages, beside the same graph of DoFns that do nothing. docs/benchmarks.md tells
// how, and what came out; tests/load measures it over time.
//
//	go test -run='^$' -bench=Graph -benchtime=10x -timeout=0 ./tests/bench
//
// Everything runs in one process, as in cmd/local: the graph, Prism, a Pub/Sub
// that makes its messages as they are taken, and a BigQuery that only counts. So
// figures are of two cores that do all of that, and only their ratios are worth
// anything elsewhere.
package bench
