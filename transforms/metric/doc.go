// Package metric declares the pipeline's metrics, each with its unit and what it means,
// so that one table can list them all (docs/metrics.md) and whoever serves them knows
// what they are.
//
// They are Beam's metrics: a bundle that fails counts nothing, and the runner adds up
// what the workers counted. Dataflow shows them as user counters, by their names alone;
// in a process that runs the pipeline itself, the package internal/counters adds them
// up and serves them. What this package adds costs nothing when a metric is used:
// declared metrics are Beam's own.
//
// A metric with labels is a counter for each combination of values that was met, named
// NAME/VALUE/VALUE…, such as rows_by_table/upsert/acknowledged/project.dataset.table:
// Beam's metrics have no labels. Values come from messages where they are tables and
// columns, so that their number is bounded: see [Counters].
package metric
