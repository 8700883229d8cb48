// Package flat decodes what Debezium's ExtractNewRecordState transformation (and
// MongoDB's ExtractNewDocumentState) makes of change events: the row itself, with
// what was asked for of the rest as further members.
//
//	{"id": 7, "sku": "x", "__op": "u", "__table": "t", "__source_lsn": 130, "__deleted": "false"}
//
// It may have a schema: {"schema": …, "payload": …}. The key is the ordering key's.
//
// # Metadata
//
// A member whose name begins with the prefix, "__" unless another is
// configured, is metadata and no column, whatever it is called after it; a column
// called op or table is data. Names are read as the transformation makes them of
// its add.fields: "op" is __op, "source.lsn" is __source_lsn, and "lsn" is __lsn
// and means the same. Where fields are renamed ("lsn:SEQ"), or a column's name
// begins with the prefix, configure add.fields: then its fields are metadata, and
// nothing else is. __deleted has no other prefix and always is.
// An empty add.fields.prefix is not supported. Attributes of the message are read
// in the same way, since add.headers puts them there; a member of the row wins.
//
// # Positions
//
// The transformation drops the position unless add.fields keeps it. These sets
// give an order; with anything less a change has no sequence, and its Position
// says what to add:
//
//	PostgreSQL      lsn; better with sequence, which tells transactions apart
//	MySQL, MariaDB  file, pos; and row, without which rows of one statement tie
//	SQL Server      commit_lsn, change_lsn; and event_serial_no
//	Oracle          commit_scn, scn, and txSeq or rs_id and ssn
//	MongoDB         source.ts_ms, ord
//	Spanner         source.ts_ns, sequence, mod_number
//
// Which source it is tell the fields themselves, unless source.connector is there.
//
// # Kinds
//
//	__op c, u, d, r          create, update, delete, snapshot row
//	__deleted "true"         delete (delete.tombstone.handling.mode=rewrite)
//	neither                  update: the row as it is now; a snapshot row if __snapshot says so
//	empty                    tombstone: with the modes tombstone and drop the only trace of a delete
//	__op t, m                truncate, logical message
//	heartbeats, transaction markers, schema changes, notifications: as in package
//	debezium, since the transformation passes them
//
// A delete's row is its before image, of which only the key is to be trusted.
//
// # MongoDB
//
// An update's row is the whole document or, where the connector doesn't look it
// up (capture.mode), just the fields that the update set; nothing in the message
// tells which, nor which fields were removed. So its absent columns are
// unavailable, not NULL: such an update is written only if it has all columns.
// Don't let them be filled, since a removed field would keep its value; use
// package debezium's format, which says all of this. A __deleted of MongoDB's is
// true or false, not a text.
package flat
