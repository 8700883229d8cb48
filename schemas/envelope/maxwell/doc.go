// Package maxwell decodes the messages of Maxwell's daemon, which reads MySQL's and
// MariaDB's binary log:
//
//	{"database":"shop","table":"orders","type":"update","ts":1741507630,"xid":88105,"xoffset":0,
//	 "position":"mysql-bin.000042:7310","primary_key_columns":["id"],"data":{"id":7002,"qty":3},"old":{"qty":2}}
//
// # Kinds of messages
//
//	insert                               a create of data
//	update                               an update to data, with old as the before image
//	delete                               a delete of data
//	bootstrap-insert                     a snapshot's row
//	bootstrap-start, bootstrap-complete  a notification
//	table-create, -alter, -drop,         a schema change (output_ddl)
//	database-create, -alter, -drop
//
// An update's old holds the columns that changed, and no others: a key column
// there is a changed key, and the row under the old key is deleted. Maxwell says
// nothing of a TRUNCATE.
//
// # Position
//
// It is read of position and xoffset, or commit, which stands in the place of the
// last row's xoffset (see internal/position). Set Maxwell's
// output_binlog_position=true, which is not its default; output_xoffset and
// output_commit_info are. Without a position a change has no sequence: a GTID and
// the time are no order. A bootstrapped row has none and sorts lowest in its
// epoch, so that any change in the stream wins over it; raise the epoch where a
// bootstrap is to repair a table.
//
// # Values
//
// Nothing types them: numbers keep their digits, dates and times are MySQL's
// text, zero dates ("0000-00-00") among them, sets are arrays of texts, JSON
// columns are JSON, binary columns are base64. A column that data lacks is NULL,
// as output_nulls=false leaves it out. The zero bytes that a BINARY(n) ends with are in
// no message: MySQL's binary log leaves them out, and Maxwell doesn't put them back.
//
// The key is primary_key_columns where there is one (output_primary_key_columns);
// else the destination's declaration says what it is.
//
// # Not supported
//
// Encrypted messages; binlog_row_image other than FULL, with which an update
// lacks unchanged columns that would become NULL; field names changed by
// output_naming_strategy.
package maxwell
