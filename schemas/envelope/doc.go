// Package envelope decodes the envelopes in which change events travel: a
// Pub/Sub message in, change events out. It is pure: functions of bytes.
//
//	debezium       Debezium's JSON, with or without its schema: PostgreSQL, MySQL, MariaDB, SQL Server, Oracle, MongoDB, Spanner
//	debezium_flat  the same after ExtractNewRecordState: the row, and what was asked for of the rest
//	cloudevents    the same as CloudEvents, structured or binary
//	datastream     Google Cloud Datastream's JSON: PostgreSQL, MySQL, SQL Server, Oracle, MongoDB
//	maxwell, canal, wal2json, dms, spanner, sequin, columns  see their packages
//	auto           any of them, as each message's members tell
//
// Each format's package is a page on it: what it looks like, which positions are
// read, what each kind of message becomes, and what isn't supported.
//
// A message is one of three things: change events, a control message (Control
// says which kind), or an *Error. Nothing is both, and nothing is guessed: a
// message of no known format is an Error with the reason UnknownFormat, never a
// row; it says which format is the closest, and what the message lacks. A
// configured format is never told by the members, so that a column may be called
// op, source or payload.
//
// An empty message, in each of its forms, is a control message, a tombstone. With
// Options.TombstoneDeletes it is the delete of the row that its ordering key names,
// as Debezium writes keys, with their schema or without, whatever the format; the
// table is that of ExtractNewRecordState's headers, or unnamed. Where the ordering
// key names no columns it is an Error with the reason MissingKey. MongoDB's keys
// are not told apart: their column is id, and not the rows' _id.
//
// A message whose attribute content-encoding is gzip is unpacked first, to at
// most 64 MiB; its events keep the message as it was published. Pub/Sub itself
// has no such attribute: its clients' compression is between them and the
// service. A message in Avro is read as the JSON that it stands for (package avro).
//
// # Values
//
// Where the message has a schema, values are typed by it, exactly (the table is
// in package connect). Where it has none they are change.Number, Text, Raw, Bool
// and Null, digit for digit and byte for byte: what they mean is for the
// destination's column to say.
//
// A value that its source left out is change.Unavailable, whatever the shape of
// the placeholder that stands for it. In a new row the placeholder's text is
// data, but in the create of a changed key. Where a source leaves out unchanged
// columns altogether Event.AbsentUnavailable says so.
//
// # Images
//
// Event.BeforeComplete is set for deletes alone, where the format promises the
// whole row: Maxwell's, Canal's, and Spanner's whose old values are all there. A
// before image of Debezium's from PostgreSQL is null, the key, or the whole row
// with the values of types' zeros for what its replica identity leaves out, and
// nothing in the message tells the last two apart; from MySQL it depends on
// binlog_row_image. Datastream's deletes hold a row, of which its documentation
// promises no more than the key. Before an update Maxwell, Canal, DMS and Sequin
// tell the columns that changed.
//
// # Order
//
// Event.Sequence has four sections, the first of which is Options.Epoch (the
// table is in internal/position). Where the message's position can't be read it
// is zero, and Event.Position says why: what becomes of such a change is not for
// a decoder to decide. A row of a snapshot that has no position sorts lowest in
// its epoch.
//
// # Memory
//
// A message's JSON is checked once, by jsontext, and then walked over; a schema
// that was seen before is compared, not read. Values are substrings of Message.Data, or of
// chunks that the Decoder takes and never gives twice. A decoded event therefore
// stays valid, and keeps its message's memory.
package envelope
