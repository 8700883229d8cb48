// Package decode finds the change events in messages.
//
// In: a PCollection of [change.Message]. Out: a PCollection of [change.Event];
// the receipts of messages that hold no row change (heartbeats, transaction
// marks, schema notices, tombstones), which come to rest here; and a dead letter
// for each message that can't be decoded (invariant 7: a bad element is a dead
// letter). A message makes either all its events or one dead letter, never both.
//
// # Schemas
//
// A message in Avro may name the schema that it was written with (package
// envelope/avro tells how). Events asks for it, once for each process: Pub/Sub,
// where the message's attributes name a schema of Pub/Sub's, and else the schema
// registry. A schema that is not there makes its messages dead letters with the
// reason unknown_schema, and is asked for again after 30 seconds. A registry that
// can't be reached, wants other credentials, or answers what no registry does is
// the world's fault: the bundle fails, after RetryFor where a repetition may help.
package decode
