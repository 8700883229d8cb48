// Package dms decodes the JSON messages of AWS DMS, which writes them to Kinesis and
// Kafka:
//
//	{"data":{"id":7002,"qty":3},"before-image":{"id":7001},
//	 "metadata":{"timestamp":"2025-03-09T08:07:06.405004Z","record-type":"data","operation":"update","schema-name":"public","table-name":"orders",
//	  "transaction-id":9051,"transaction-record-id":3,"commit-timestamp":"2025-03-09T08:07:06.005004Z",
//	  "stream-position":"00000009/1A2B0048.4.00000009/1A2B0048"}}
//
// # Kinds of messages
//
// Of the record type "data":
//
//	load    a snapshot's row
//	insert  a create
//	update  an update, with before-image as the before image
//	delete  a delete
//
// Of the record type "control":
//
//	truncate-table                            a truncate
//	create-table, drop-table, add-column, …   a schema change
//
// A truncate has a position only if its control message tells a stream-position, which
// DMS doesn't document that it does; without one it is a dead letter, unless the table's
// missing_positions is arrival. Rows of a full load sort below every truncate of their epoch: raise the
// epoch for a load that follows one.
//
// A before-image (BeforeImageSettings) holds the columns that changed, or more: a
// key column there that differs is a changed key, and the row under the old key is
// deleted. Without before images a changed key leaves the old row behind: nothing
// in the message tells of it.
//
// # Position
//
// It is read of stream-position and transaction-record-id, for MySQL, MariaDB and
// PostgreSQL; for other sources of commit-timestamp and transaction-record-id (see
// internal/position for what each order is worth). Set the endpoint's
// IncludeTransactionDetails; without it a change has no sequence. A row of the full
// load has no position and sorts lowest in its epoch, so that any change of the
// stream wins over it; raise the epoch where a reload is to repair a table.
//
// # Values
//
// Nothing types them: numbers keep their digits; JSON columns are JSON in a text;
// binary columns are hexadecimal digits after 0x, or without it by NoHexPrefix, for
// which the destination's column needs "from: hex".
//
// A column that data lacks is NULL, in an update too: DMS leaves columns out that
// are NULL unless IncludeNullAndEmpty is set. Of a deleted row no more is trusted
// than its key.
//
// A message names no key: the destination's declaration says what it is. A message
// without a schema-name names the table alone.
//
// # Not supported
//
// CSV; the tables that DMS keeps of itself (awsdms_…) are tables like any other,
// whose changes "unlisted_tables: filter" drops.
package dms
