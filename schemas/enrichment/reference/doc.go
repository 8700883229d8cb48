// Package reference reads the files that a lookup joins rows to: CSV, JSON Lines and
// Parquet.
//
// Each reader passes the rows' values of the columns that are asked for, in the order
// in which they are, to a function that may keep nothing of them. Columns are found by
// their names, else by their names without regard to case. Its errors tell the row or
// line and the column, and hold no value.
//
//	CSV         RFC 4180, in UTF-8, the first line the columns' names. All values are untyped
//	            texts; the text that stands for NULL is given: an empty field, or say \N.
//	JSON Lines  objects, one after the other. A member's value is as a message's without a
//	            schema; one that is not there is NULL.
//	Parquet     columns that are neither repeated nor in a group. Values have the type of
//	            the file: integers with and without sign, decimals, dates, times and
//	            timestamps (those without a zone are DATETIMEs; nanoseconds are cut
//	            downwards to microseconds), texts, UUIDs, JSON, bytes.
//
// A Parquet file says itself how much memory its pages take, and the library believes
// it: a reference is the operator's own file, not a stranger's.
package reference
