// Package expression evaluates the configuration's expressions, which are written
// in CEL (cel.dev), over one change event at a time.
//
// An expression sees:
//
//	data          the message's JSON, whatever its format; an error where it is compressed or Avro
//	attributes    the message's attributes: a map of strings
//	ordering_key  the message's ordering key; "" for none
//	message_id    Pub/Sub's ID of the message
//	publish_time  when Pub/Sub took the message: a timestamp
//	table         the source's name of the table: "public.orders"
//	op            "create", "update", "delete", "snapshot", "truncate"
//	key           the key columns that the message names: a map by column
//	before        the row before the change, as far as the message tells
//	after         the row after the change; empty for a delete
//	commit_time   when the source committed the change; 1970 where unknown
//	part          which of the message's changes it is, from 0
//
// and, besides CEL's own functions and its extension for strings:
//
//	hex("1F")                       the number that the hexadecimal digits mean: 31u
//	lsn("16/B374D848")              PostgreSQL's position as one number
//	file_number("mysql-bin.000042") the number that ends a binary log's name: 42u
//
// Numbers are exact: an integer of the message is an int, beyond 63 bits a uint,
// beyond 64 bits its digits as a string, and so is a decimal. NULL is null; a
// value that the source left out is absent, so that reading it is an error.
//
// The numbers have to differ wherever a row's changes do: of two changes of one row
// with equal numbers none is the later one, and which of them stays depends on how
// they come. "[data.ts, part]" alone leaves two changes of one millisecond that way,
// since part counts within a message and is 0 in most; add what the source counts by:
// "[data.ts, data.seq]", "[lsn(data.lsn), part]".
//
// # Rows
//
// The expressions of enrich ([CompileRow]) see data, attributes, ordering_key, message_id,
// publish_time, table, op, commit_time and part alike, and
//
//	row       the row as it is at the step: row.total, row.`a name`
//	before    the row before the change: whole where the source tells all of it, else its
//	          key alone; has(before.total) tells
//	sequence  the change's sequence, in BigQuery's form
//	position  the source's own
//
// commit_time is null where unknown. A column has its table's type, where that is known:
//
//	BOOL bool, INT64 int, FLOAT64 double, BYTES bytes, TIMESTAMP timestamp
//	NUMERIC, BIGNUMERIC            decimal, exact
//	STRING, INTERVAL, GEOGRAPHY    string
//	DATE, TIME, DATETIME           string: "2026-03-09", "09:28:27.903734",
//	                               "2026-03-09T09:28:27.903734", whose order is the times'
//	JSON, STRUCT, RANGE            what the document or struct holds
//	ARRAY                          list
//
// Any may be null. Decimals have +, -, *, comparisons with a decimal or a whole number on
// the right, and
//
//	decimal("1.19")     a decimal of a text or a whole number; not of a double
//	round(d, 2)         with so many digits after the point, halves away from zero
//	divide(a, b, 2)     the same of a quotient
//	string(d), int(d)   exactly, or an error
//	double(d)           the nearest double
//
// What an expression gives must be what the column holds: an int or a decimal for a
// NUMERIC, never a double; a list for an ARRAY, a map for a STRUCT or JSON.
//
// What is misspelled or of the wrong type is an error when the expression is
// compiled, as far as CEL can tell. Errors of evaluation hold no value.
package expression
