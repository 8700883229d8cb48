// Package debezium decodes Debezium's change events in JSON, as Debezium
// Server's Pub/Sub sink publishes them, with their schema or without.
//
//	{"before": null, "after": {"id": 7}, "source": {"connector": "postgresql", "lsn": 130, …}, "op": "c", "ts_ms": …}
//
// The shape is that of io.debezium.data.Envelope. With schemas enabled it is the
// payload of {"schema": …, "payload": …}, and values are typed by the schema
// (package connect). The row's key is the message's ordering key, which has a
// schema or not on its own account; without one the destination's key is looked
// up in the images.
//
// # Kinds
//
//	op c, u, d, r              create, update, delete, snapshot row
//	op t                       truncate, one message for each table
//	op m                       logical message
//	{"ts_ms": …} alone         heartbeat
//	status and event_count     transaction marker
//	ddl or tableChanges        schema change
//	aggregate_type, additional_data  notification
//	empty, null, {"schema": …, "payload": null}  tombstone
//
// Any other op is an error that names it. A changed key comes as a delete of the
// old key and a create of the new one, which have the headers __debezium.newkey
// and __debezium.oldkey.
//
// # Positions
//
//	PostgreSQL      sequence, lsn
//	MySQL, MariaDB  file, pos, row; not gtid, which is no number
//	SQL Server      commit_lsn, change_lsn, event_serial_no
//	Oracle          commit_scn, scn, and txSeq or rs_id and ssn: LogMiner's; XStream has none of them but
//	                lcr_position, and OpenLogReplicator no place within a transaction
//	MongoDB         ts_ms, ord, transaction.total_order
//	Spanner         ts_ns (or ts_us, ts_ms), sequence (or record_sequence), mod_number
//
// Package position tells what order they are. A snapshot's row has the position
// of the snapshot, below all changes after it; where it has none, as an
// incremental snapshot's, it is the lowest in its epoch. A change of any other
// connector, or without these, has no sequence.
//
// # Values that the source left out
//
// Debezium writes a placeholder for them (unavailable.value.placeholder), in a
// shape of the column's type: a text, its base64 or hex, an array of it or of its
// bytes' codes, a UUID, a map. In an update or a delete it is change.Unavailable,
// and in the create of a changed key, by its header. In any other new row it is
// data. In a key it is unavailable too, and the destination refuses the row.
//
// Spanner's connector writes null for columns that its change stream leaves out,
// as it does unless the stream captures NEW_ROW. Such an update's nulls are
// unavailable, except where the before image shows that there was a value.
//
// # MongoDB
//
// The images are texts of Extended JSON. The columns are _id and the document's
// other top-level fields; a field that is a document or an array is JSON, as it
// was written. The key is _id, from the ordering key's {"id": "…"}. An update
// without its document (capture.mode change_streams, or a document deleted since)
// has the fields that it set and NULL for those it removed, with
// AbsentUnavailable: what isn't there is unchanged. One that changes a part of a
// field or cuts an array is an error, since the rest of the field isn't in it.
// The document as one JSON column is not supported.
//
// # Traps
//
// What Debezium 3.6 with PostgreSQL 15 and MariaDB 10.11 leaves out or changes before
// it publishes anything, so that no reader can mend it:
//
//   - A snapshot that is interrupted is taken anew, and nothing tells of the rows
//     that were deleted between the two: those that the first one had published stay
//     in BigQuery. So does what was deleted before any later snapshot that is taken
//     again. Give such a snapshot a new table.
//   - The PostgreSQL connector can leave source.snapshot "true" on what it streams
//     after a restart. A "c" is taken for a snapshot's row only where the rest of
//     source has nothing that a streamed change alone has.
//   - It takes a new snapshot, without a word, where it has lost its offsets too.
//     FileOffsetBackingStore writes its file in place, and a process that is killed
//     meanwhile leaves none that can be read. Keep the offsets in another store, or
//     copies of the file.
//   - Truncates are dropped by default: they become messages by
//     skipped.operations=none.
//   - An incremental snapshot goes on as other changes come, and stands still where
//     none do. A heartbeat.interval.ms with a heartbeat.action.query makes some.
//   - The snapshots of the MySQL connector cut the fraction off a TIME; its changes
//     have it. A row keeps the cut value until it is changed.
//   - A bit string of PostgreSQL's has its lowest byte first, and none for the zeros
//     at its high end: the bytes don't tell how many bits there are.
package debezium
