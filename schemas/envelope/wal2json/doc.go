// Package wal2json decodes what PostgreSQL's output plugin wal2json writes, in both
// of its formats, one JSON value a message. The first has a transaction in a
// message, the second a change:
//
//	{"xid":901,"nextlsn":"7/A1B2C3D8","timestamp":"2025-03-09 08:07:06.005004+00","change":[
//	  {"kind":"update","schema":"public","table":"orders","columnnames":["id","qty"],"columntypes":["bigint","integer"],"columnvalues":[7002,3],
//	   "oldkeys":{"keynames":["id"],"keytypes":["bigint"],"keyvalues":[7001]}}]}
//
//	{"action":"U","lsn":"7/A1B2C300","schema":"public","table":"orders","columns":[{"name":"id","type":"bigint","value":7002}],
//	 "identity":[{"name":"id","type":"bigint","value":7001}],"pk":[{"name":"id","type":"bigint"}]}
//
// # Kinds of messages
//
//	insert, I    a create
//	update, U    an update; oldkeys, or identity, is the before image
//	delete, D    a delete; oldkeys, or identity, is the before image
//	truncate, T  a truncate
//	message, M   a logical message, where the message holds no change besides
//	B, C         a transaction's begin and end, as is a change array that is empty
//
// A message of the first format makes as many changes as its transaction has. The
// key is pk where there is one (include-pk), else an update's oldkeys or identity, if
// that is less than the row. In the before image a key that differs from the new
// one is a changed key: the row under the old key is deleted.
//
// # Position
//
// Set the plugin's include-lsn; without it a change has no sequence. In the first
// format a change is ordered by its transaction's end and its place in it, which
// is the order of commits. In the second each message has the LSN of its own
// change alone, and only B and C have the commit's; that LSN is the order of
// commits for each key, though not between keys, and that is enough where
// BigQuery's key is a unique key of the source (see internal/position for why, and
// where it isn't). The two formats' sequences don't compare: raise the epoch when
// format-version changes.
//
// # Values
//
// With include-types, which is the plugin's default, integers, numerics of any
// size, floats, booleans, bytea (hexadecimal digits without \x), JSON and texts
// are typed exactly. Dates, times and intervals are the server's text, in its
// DateStyle, and arrays are PostgreSQL's array text: for the destination's column
// to read, which reads the DateStyle ISO alone. Without the types numbers keep their
// digits, and a bytea column needs "from: hex". NaN and the infinities are null, as the plugin writes them, which
// nothing tells from a NULL: set numeric-data-types-as-string where the plugin has it;
// Debian's 2.5 for PostgreSQL 15 doesn't.
//
// A column that an update lacks is unchanged: the plugin leaves TOASTed values out
// that did not change. With REPLICA IDENTITY FULL the before image has it, and it
// is taken from there; else it is unavailable, and such an update is a dead letter.
//
// # Not supported
//
// write-in-chunks, whose pieces are no JSON; pretty-print is. A second value in
// one message is an error.
package wal2json
