// Package deadletter stores what the pipeline could not process.
//
// In: PCollections of [Letter], one for every stage that makes them. Out: the
// letters' receipts, each released only after its letter is stored (invariant 1:
// acked means durable). Topics and directories are written by [Write]; for a
// BigQuery table [Rows] makes rows of the letters, which the pipeline's own
// writer writes. A sink that can't be reached fails the bundle; a letter
// is never dropped (invariant 4: nothing vanishes).
package deadletter
