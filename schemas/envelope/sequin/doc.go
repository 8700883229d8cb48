// Package sequin decodes the messages of Sequin, which reads PostgreSQL:
//
//	{"record":{"id":7001,"price":123.45},"changes":{"price":120.00},"action":"update",
//	 "metadata":{"table_schema":"public","table_name":"orders","commit_timestamp":"2025-03-09T08:07:06.005004Z",
//	  "commit_lsn":32777618640,"commit_idx":1}}
//
// # Kinds of messages
//
//	insert  a create of record
//	update  an update to record, with changes as the before image
//	delete  a delete of record
//	read    a snapshot's row, of a backfill
//
// An update's changes hold the old values of the columns that changed: a key column
// there is a changed key, and the row under the old key is deleted. PostgreSQL
// tells Sequin of old values where the table's REPLICA IDENTITY is FULL; with any
// other changes is empty, and a changed key leaves the old row behind.
//
// # Position
//
// It is read of commit_lsn and commit_idx, which are the order of commits (see
// internal/position). A row of a backfill has no position of its own: its commit_lsn
// is that of a mark which Sequin writes after it has read the row, or null. It sorts
// lowest in its epoch, so that any change of the stream wins over it; raise the
// epoch where a backfill is to repair a table.
//
// # Values
//
// Nothing types them: numbers keep their digits, decimals too; dates and times are
// ISO texts; arrays and JSON are JSON.
//
// A column that an update's record lacks is unavailable, and so is one whose value
// is the text "unchanged_toast", which Sequin writes where it could not load a
// TOASTed value that did not change. Where Sequin writes null for such a value,
// nothing tells it from a NULL: give the table REPLICA IDENTITY FULL.
//
// A message names no key: the destination's declaration says what it is. Its
// attributes say nothing that isn't in it.
//
// # Not supported
//
// Transforms that change the shape. A transform that returns the row alone makes
// no message of this format, and no position.
package sequin
