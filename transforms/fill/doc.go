// Package fill completes rows whose source left values out, from the other changes of
// the same row: PostgreSQL's unchanged TOAST, Oracle's LOBs, the updates of sources
// that hold only what changed. Only the changes of tables that ask for it come here
// (keyed.Completes).
//
//	                   what a changed key's row had ──▶ moves, by table
//	change ──▶ fill, by key ──────────────────────────────▶ row
//	             rows that lack what they had under another key ──┘
//
// # What is remembered
//
// Of each row a journal of its changes: the last one, and of the ones before it the
// values that may be asked for (settings.kept). A row is what its last change says,
// and where that leaves a value out, the value of the latest change before it that
// has one; a delete ends what may be asked for. That is the same whatever the order in
// which the changes came, and however often. When an older change comes late and
// alters the row, the row is made again, in a higher revision: revisions are the
// lowest bits of the row's sequence (change.Sequence.WithRevision), so that neither
// coalescing nor BigQuery ever compares two versions of a row that have the same
// sequence, which the order of ingestion would decide.
//
// A row that gets another key takes along what it had. Its old key tells the table's
// moves; the new key's rows that lack something ask there. Moves of moves are followed
// however many there are. All of this is for rows that were moved and have not had
// the value since: others never leave their key.
//
// More is remembered than the last row needs, for changes that come out of order around
// a delete or a changed key: 64 changes of the row, or 256 KiB of their values. That is
// where "whatever the order" ends. A change that comes later than 64 later ones of its
// row, and that a changed key took a value along from, may be taken for the value's
// last one under the old key: the row under the new key then has an older value than
// the source, until its next change that holds the column.
//
// Rows and moves are forgotten when nothing has needed them for fill.keep_for, and take
// no more than fill.max_bytes each: beyond it a row forgets its oldest values, and the
// earliest of the rows that wait for another key's are dead letters.
//
// # Rows met in the middle of their lives
//
// A pipeline that starts late, or has forgotten, knows no value for what a change
// leaves out. It never writes NULL or the placeholder instead. fill.first_seen decides:
// hold, the default, waits for what completes the row, then makes a dead letter of the
// change; reject doesn't wait; read asks BigQuery for the row first.
//
// # What is acked when
//
// The receipts of a change rest with the row that it makes, or that it alters, or that
// is later than it; those of a change that waits are kept with it, so that its message
// is not acked (invariant 1). What is remembered is not needed for what was acked: its
// rows are in BigQuery. But on a runner that keeps its state in memory, as Beam's
// local one does, what was remembered is gone after a restart, and the next change of
// a row may leave out what only memory had: first_seen decides again. With read it is
// exact, but for three cases. A row under a changed key that is not written yet, whose old
// row is deleted already: nothing has its values then, and it is a dead letter. And an
// update that comes again after its row's delete was written and acked, which it could
// not be completed for: it is a dead letter too, though nothing is lost, since BigQuery
// doesn't tell what it has deleted from what it never had. And a row that a killed process
// had sent and that BigQuery stores after the next process has read what was there before:
// if both made theirs of the same change, without some earlier change that came late to
// the killed one, the row of more revisions stays until the row's next change, and may be
// the older one. Nothing in the Write API's default stream keeps a dead writer's rows out;
// between its end and the first read there is a start.
package fill
