// Package decode finds the change events in messages.
//
// In: a PCollection of [change.Message]. Out: a PCollection of [change.Event];
// the receipts of messages that hold no row change (heartbeats, transaction
// marks, schema notices, tombstones), which come to rest here; and a dead letter
// for each message that can't be decoded (invariant 7: a bad element is a dead
// letter). A message makes either all its events or one dead letter, never both.
package decode
