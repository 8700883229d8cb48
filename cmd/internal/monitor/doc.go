// Package monitor serves what a pipeline in this process counts and whether it works, to
// Prometheus and to whoever restarts a process that doesn't: /metrics and /healthz.
//
// Both are for a network that is trusted: they are served without TLS and to anybody,
// and tell the names of tables, but no value of any row.
package monitor
