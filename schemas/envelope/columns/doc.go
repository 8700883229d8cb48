// Package columns decodes messages that are rows already, with BigQuery's own two
// columns beside the table's, as Pub/Sub's BigQuery subscriptions take them:
//
//	{"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"7/A1B2C3D8","id":7001,"price":"123.45"}
//
// # Kinds of messages
//
//	UPSERT  an update, of which nothing tells whether the row is new
//	DELETE  a delete; no more is needed than the key's columns
//
// In any case of letters. A message without a _CHANGE_TYPE, or with any other, is an
// error: INSERT too, which BigQuery doesn't take in a change stream.
//
// A row names no table. The message's attribute cdc_table does, as the rules have it
// ("public.orders"); a message without one goes to the only table that is configured.
//
// # Position
//
// The sequence is _CHANGE_SEQUENCE_NUMBER as it is: one to four sections of 1 to 16
// hexadecimal digits, in any case of letters, joined by slashes. It is compared with
// what other writers of the table send, and so nothing is added to it: no epoch
// leads it, and its sections are not made four. All rows of a table should have the
// same number of them, whoever writes it, since BigQuery doesn't say how FFF ranks
// against FFF/0. Rows of one key with equal sequences are the message's own fault:
// the last to reach BigQuery wins.
//
// A message without one, or with null, has no sequence, and Position says so. One
// that can't be read is an error, and never a change without a sequence.
//
// # Values
//
// Nothing types them. A column that the message lacks is NULL: an UPSERT is the
// whole row.
//
// What else the message has is the row's, whatever it is called: op, source,
// payload, metadata.
package columns
