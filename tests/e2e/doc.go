// Package e2e tests the whole: the real commands, Pub/Sub, BigQuery's emulator
// and the graph between them. Its tests run cmd/local, which is the whole system
// in one process, and cmd/launch against a Pub/Sub and an emulator that outlive
// it, and compare tables, dead letters and counts with what must come out.
//
// They build the commands once, and are skipped by -short.
package e2e
