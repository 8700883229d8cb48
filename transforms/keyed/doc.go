// Package keyed turns change events into rows by primary key, and keeps of each
// key only the last.
//
// [Rows] routes an event to its destination table, finds its key among the
// table's key columns, makes two rows of a changed key (a DELETE of the old one,
// an UPSERT of the new one, in that order by sequence), and encodes them. What
// can't become a row is a dead letter here, before rows are compared with each
// other: if a change that can't be encoded superseded one that can and then
// became a dead letter, the table would depend on what happened to share a
// window (invariant 2: convergence).
//
// The changes of tables whose rows are completed first ([Completes]) leave Rows by
// key before they are encoded, and come back to [Completed]. Both make rows by one
// maker.
//
// [Coalesce] then lets of all rows of a key and window only the one with the
// highest sequence go on, standing for the others.
//
// A change's way: rows.go takes the event, destination.go finds its table, order.go its
// sequence, key.go its key, and makes of it one row change or two; maker.go encodes each,
// by way of enriched.go, where its rule has steps, and of evolve.go, where its table may grow;
// refusal.go says why one becomes a dead letter. completed.go brings back those that were
// completed first, and coalesce.go picks the last of a key.
//
// A rowChange is within this package: what the keyer makes of an event, of memory that is
// used again. A change.RowChange is what leaves it for another stage: the event with its
// key, table and receipts.
package keyed
