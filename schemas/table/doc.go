// Package table describes destination tables: their columns, primary key and
// options, the rules by which a source table finds its destination, and the DDL
// that creates one. It is pure: who asks BigQuery is transforms/catalog.
//
// # A table that follows its source
//
// With `unknown_columns: add` the pipeline alters BigQuery's table when a row asks for
// it. Nothing is dropped, renamed or made stricter: a column that the source drops is
// NULL from then on, and one that it renames is a new one.
//
//	the row has                   the table gets
//	a column that it lacks        the column, NULLABLE, of the type that the message gives its value; an array
//	                              is REPEATED, or JSON where BigQuery has no such array. NULL, a typed array
//	                              without elements and an object of NULLs say nothing: the column comes later
//	NULL in a REQUIRED column     NULLABLE instead
//	a value that is too long      STRING or NUMERIC instead of STRING(n) or NUMERIC(p, s), and INT64 becomes
//	                              NUMERIC or BIGNUMERIC, NUMERIC becomes BIGNUMERIC, in place
//	a value of another type       a column beside: "total_string" beside total, which is NULL in that row
//	a field that a STRUCT lacks   the field, by the same rules; a field's type never changes
//
// Where the message types its values (Debezium with schemas, Avro, Spanner, wal2json),
// the type is the message's, logical types included: see change.Kind. Where it doesn't,
// untyped_columns says: `infer` makes numbers INT64, NUMERIC, BIGNUMERIC or FLOAT64,
// whichever comes first in that order and is exact; `string` makes them STRING, digit
// for digit; `reject` makes the row a dead letter. Texts are STRING and documents JSON in
// both, whatever they look like. A column of that name under the rule's `columns` beats
// all of it.
//
// A column beside takes what BigQuery can't change a column's type for: a double or a
// text in a column of integers, an instant in a DATE. INT64 never becomes FLOAT64 in
// place: BigQuery would round what is there. What its message doesn't type goes beside
// only as a number that is a double's, and an integer without a unit is never moved out
// of a DATE or TIMESTAMP: its `from` is missing. Such a value stays bad, and is its
// policy's. The column is known by its description; its name is [BesideName]'s. The
// columns of a primary key never change.
//
// A name that BigQuery doesn't take, or can't tell from another, is [LegalName]'s and
// [Renamer]'s to change, the same in every process. No more columns than max_columns are
// added, whatever the messages hold: what is beyond is a dead letter.
package table
