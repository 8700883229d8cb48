// Package change holds what the pipeline knows of a change to one row of a
// source table, from the message that brought it to the row that BigQuery gets:
//
//	Message  -> a Pub/Sub message, as it was published
//	Event    -> one change that an envelope decoder found in it
//	Value    -> a column's exact value: no float stands for an integer or a decimal
//	Sequence -> BigQuery's _CHANGE_SEQUENCE_NUMBER: the order of a key's changes
//	Key      -> the deterministic bytes of a primary key
//	Row      -> the change encoded for one destination table
//
// Everything here is a value: nothing blocks, logs, reads a clock or holds a
// resource. The package imports the standard library alone.
package change
