// Package deadletter stores what the pipeline could not process.
//
// In: PCollections of [Letter], one for every stage that makes them. Out: the
// letters' receipts, each released only after its letter is stored (invariant 1:
// acked means durable). Topics and directories are written by [Write]; for a
// BigQuery table [Rows] makes rows of the letters, which the pipeline's own
// writer writes. A sink that can't be reached fails the bundle; a letter
// is never dropped (invariant 4: nothing vanishes).
//
// # What is stored
//
// A directory has a file of JSON for each letter, [Stored]; a redelivered message's
// letter replaces its file. A table has the columns of [TableRule]; data of more than
// [MaxPieceBytes] is in several rows, told apart by piece, of the same id.
//
// A topic gets the message's data as it was published, its attributes, and these:
//
//	beamcdc_stage         "decode", "key", "encode" or "write"
//	beamcdc_reason        why, as a word: "bad_json"
//	beamcdc_error         why, as a text
//	beamcdc_table         the source's table, or BigQuery's where only that is known
//	beamcdc_message_id    Pub/Sub's ID of the original message
//	beamcdc_publish_time  its publish time, RFC 3339
//	beamcdc_ordering_key  its ordering key; the letter has none, so that letters don't wait for each other
//	beamcdc_part          which of the message's changes failed, from 0
//	beamcdc_piece         "1/2" of a message that is too large with these attributes:
//	                      the letter comes in several messages, each with a part of the data
//
// What is empty is left out, values are cut to 1,024 bytes, and of a message that has
// nearly Pub/Sub's 100 attributes only the first of these find room.
//
// # How to replay
//
// By hand: publish the data, attributes and ordering key again, for a message with
// several letters once (equal message IDs). The attributes beamcdc_… may stay; they are
// read by nothing, and replaced if the message becomes a dead letter again. A change
// keeps its source's position, so a replay that comes late supersedes nothing later.
// It does where the table takes the order of publishing (missing_positions: arrival,
// tombstones: delete), or a row that was deleted more than two days ago, which BigQuery
// has forgotten. A letter that BigQuery itself refused has no data: its message ID
// tells which message to publish again from the source, or to seek to.
package deadletter
