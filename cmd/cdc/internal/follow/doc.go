// Package follow reads a table's own change history, range by range, and hands it on
// as rows of the columns format, so that a second table can follow the first.
//
// # Ranges
//
// A range is from a position up to, and without, another: what BigQuery's functions
// APPENDS and CHANGES take and return. The next begins where the last ended, and the
// position is stored once all of a range was handed on: a kill repeats a range, and
// leaves none out. Each is at most a day, which is BigQuery's limit for CHANGES, and
// ends a lag before BigQuery's own time, ten minutes for CHANGES, which doesn't tell of
// later ones.
//
// # The order
//
// A row's sequence is EPOCH/TIME/0/ORDINAL: the microseconds of _CHANGE_TIMESTAMP, and
// 0 for a DELETE, 1 for everything else. Two changes of a key at different times have
// the order of these times. At one time, that of one statement or apply, a key has one
// change, or a DELETE and an INSERT, of which the row that is there is the last. So
// whatever order rows come in, and however often, the second table becomes what the
// first was.
//
// # What isn't told
//
// A change of the primary key by DML is an UPDATE with the new key: of the old one
// nothing tells. Where changes come through the Storage Write API they are a DELETE and
// an UPSERT, and all is well. Rows of before enable_change_history was set, or older
// than the time travel window, are in no history: begin with a copy of the table.
package follow
