// Load runs the pipeline's graph under load and tells how long messages take from
// publish to acknowledged, and what grows meanwhile.
//
//	go run ./tests/load -scenario soak -duration 1h -out /tmp/load
//	go run ./tests/load -scenario all -duration 1m
//
// The graph is pipeline.Build on Beam's Prism, as in cmd/local, in one process with
// a Pub/Sub that makes its messages as they are taken and a BigQuery that only counts.
// Messages are published at a rate, whether or not the pipeline can follow: what
// it does not take waits in Pub/Sub and counts in the latency.
//
// A run ends when all is acked. It fails if the pipeline does, if a message is lost,
// or written and acked more or less often than it should be. docs/benchmarks.md tells
// what came out.
package main
