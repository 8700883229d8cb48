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
// [MaxPieceBytes] is in several rows, told apart by piece, of the same id. A message
// that was published again makes other letters, whose IDs end in how often that was.
//
// A topic gets the message's data as it was published, its attributes, and these:
//
//	beamcdc_letter        the letter's ID
//	beamcdc_stage         "decode", "key", "encode" or "write"
//	beamcdc_reason        why, as a word: "bad_json"
//	beamcdc_error         why, as a text
//	beamcdc_table         the source's table, or BigQuery's where only that is known
//	beamcdc_message_id    Pub/Sub's ID of the original message
//	beamcdc_publish_time  its publish time, RFC 3339
//	beamcdc_ordering_key  its ordering key; the letter has none, so that letters don't wait for each other
//	beamcdc_part          which of the message's changes failed, from 0
//	beamcdc_replays       how often it had been published again
//	beamcdc_data          "left_out", "redacted" or "encrypted": see below
//	beamcdc_form          "json": the data is the letter as its file would be
//	beamcdc_piece         "1/2" of a message that is too large with these attributes:
//	                      the letter comes in several messages, each with a part of the data
//
// What is empty is left out, and values are cut to 1,024 bytes. Where the message's own
// attributes can't be published beside these, its letter has the form json: there are
// more than 88, or one has a name that begins with beamcdc_, or with goog, as those
// that name the schema of its data: Pub/Sub sets these and takes them from nobody.
//
// The changes of a message that would carry more than 8 MiB of copies of it don't carry
// its data. It is stored once, under the stage "message", by the message's ID, and its
// letters refer to it: data_left_out, or 0 pieces in a table. It comes with the first
// letter that is made before the rows are written. For a row that BigQuery refuses the
// process that took the message has kept its data, up to 256 MiB of such messages.
// Where the runner acks nobody has: neither a worker that the row came to, nor Pub/Sub
// after the ack; and to store each such message in advance, for the few that fail, would
// double what large transactions cost. Such a letter has the ID alone.
//
// [Protection] may leave the message's data, attributes and ordering key out, or encrypt
// the three together (AES-256-GCM, or Tink's keysets, bound to the message's ID): then
// data_form, beamcdc_data or, in a table, the attribute beamcdc_data says "redacted" or
// "encrypted". There is no hash of what was left out: a row of which all is known but a
// few digits could be guessed by it. The message's ID and time find it at the source.
//
// # How to replay
//
// By cdc dead-letters replay, which sets the attribute [AttributeReplay]; or by hand:
// publish data, attributes and ordering key again, for a message with several letters
// once. Without that attribute a replay is the newest change to those who go by the
// order of publishing. Other attributes beamcdc_… are read by nothing.
package deadletter
