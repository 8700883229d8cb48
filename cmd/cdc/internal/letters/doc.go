// Package letters is the command cdc dead-letters: it lists, shows and replays the
// dead letters of a directory, a BigQuery table or a Pub/Sub topic.
//
// A sink is read twice: once for what is known of each letter, which is kept in
// memory, and then, letter by letter, for its message, which is not. A topic can be
// read once only; its messages wait in a temporary file meanwhile.
//
// Letters are replayed by their message: one that made several is published once. The
// message is published first, then its letters are marked. A crash between the two
// leads to a second publish, which is harmless: both have the same position, or the
// same time of first publishing, and so the same sequence.
package letters
