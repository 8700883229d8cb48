// Package canal decodes Canal's flat messages, which hold the rows of one event of
// MySQL's binary log:
//
//	{"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":"UPDATE","es":1741507626000,"ts":1741507626420,
//	 "mysqlType":{"id":"bigint unsigned","price":"decimal(10,2)"},"sqlType":{"id":-5,"price":3},
//	 "data":[{"id":"7001","price":"123.45"}],"old":[{"price":"120.00"}]}
//
// # Kinds of messages
//
//	INSERT    a create of each row of data
//	UPDATE    an update to each row of data, with the row of old at the same index as the before image
//	DELETE    a delete of each row of data
//	TRUNCATE  a truncate of the table
//	whatever else has isDdl, and QUERY, CREATE, ALTER, ERASE, RENAME, CINDEX, DINDEX: a schema change
//
// A row of old holds the columns that changed: a key column there is a changed key,
// and the row under the old key is deleted. Old versions of Canal leave rows
// without a change out of old; such a message is an error, since what belongs
// together can't be told.
//
// # Position
//
// There is none: a flat message has no file and no place in it, es is the
// statement's time, id begins anew with the server, and a GTID is no order. A
// change has no sequence, and Position says what to do about it: accept the order
// of arrival for the table (missing_positions: arrival), where the index in data
// orders a message's rows, or give the table a sequence of its own. The protobuf
// form of Canal, which has positions, isn't read.
//
// # Values
//
// Each is a text or null, and mysqlType says what it is, else sqlType: integers,
// unsigned ones too, and decimals are exact; binary columns and blobs are texts of
// ISO-8859-1 characters, one a byte, geometries too (MySQL's own form: four bytes of
// SRID and WKB); JSON columns are JSON. All others are text
// that the destination's column gives a meaning: dates and times, as MySQL writes
// them, zero dates among them, floats, enums, bits.
//
// The key is pkNames. A column that a row of data lacks is NULL: Canal writes them
// all.
//
// # Not supported
//
// Canal's protobuf messages; binlog_row_image other than FULL.
package canal
