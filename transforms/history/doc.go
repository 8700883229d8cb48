// Package history keeps every change of a table in a second, append-only one.
//
// In: a PCollection<change.RowChange> of the tables whose rule has a history, one for
// each row that a change concerns, as keyed found it, before rows are coalesced: the
// superseded ones are in it too. Out: plain rows for a writer of their own (bqcdc, with
// [Catalog]), since CDC rows and plain rows never share a connection (invariant 6). A
// change's receipts are divided between its row and its history's, so that a message is
// acked only after both are stored (invariant 1).
//
// # The table
//
// A history has the same columns whatever its table has, so that it needs no change when
// that table gets columns, loses some, or has one widened:
//
//	change_id      STRING     the same whenever the change is delivered, in whatever message: a hash of the source's
//	                          table, key, sequence, operation, change_type, and place in its message
//	operation      STRING     what the source did: create, update, delete, snapshot, truncate
//	change_type    STRING     what that did to the row of this key: UPSERT or DELETE; NULL for truncate
//	sequence       STRING     _CHANGE_SEQUENCE_NUMBER with each section padded to 16 digits, so that texts sort as changes do
//	commit_time    TIMESTAMP  of the source; NULL if it doesn't say, and then in the partition of NULL
//	publish_time   TIMESTAMP  when Pub/Sub took the message
//	message_id     STRING     Pub/Sub's
//	source_table   STRING     the source's name of it
//	position       STRING     the source's own position, for people
//	key            STRING     the primary key as a JSON object, in the key's order: {"order_id":42}
//	before, after  JSON       the row, by column
//
// It is partitioned by the day of commit_time and clustered by key. create_tables
// creates it, and beside it a view of each change once, its name with _distinct after it:
// Pub/Sub delivers a message again, and the Write API may store a row twice.
//
// before and after hold the values that the table has, exactly, and not the message's
// spelling of them: see [rowproto.Encoder.AppendImage]. after lacks a column that the
// source left out (also with unavailable_values: fill, which completes the table alone)
// and has null for NULL. before has what the source tells, perhaps nothing or the key
// alone, and lacks values that the table can't hold, which are counted.
//
// # What a change becomes
//
//	create, update, snapshot   one row: UPSERT
//	delete                     one row: DELETE, without after
//	update of the key          two rows, both operation update: DELETE of the old key, UPSERT of the new one
//	truncate                   one row, without a key, with truncates: delete_keys; else none, since the table keeps its rows
//	a change that becomes a    none: the dead letter stands for table and history, and its replay gives both
//	dead letter before it is
//	written
//	a row that BigQuery        is in the history: it did happen; the dead letter is the table's
//	refuses
//
// A history's row that can't be made or that BigQuery refuses (a commit_time more than
// ten years ago, or more than a year ahead) is a dead letter of the stage history, and
// the table has its row.
//
// # The query that rebuilds the table
//
// [RebuildQuery] gives it for a table and its rule: of each key the change with the
// highest sequence, unless that is a DELETE, with each column cast back to its type. For
// a table of order_id and status:
//
//	SELECT
//	  CAST(JSON_VALUE(after, '$.order_id') AS INT64) AS `order_id`,
//	  JSON_VALUE(after, '$.status') AS `status`
//	FROM (
//	  SELECT sequence, change_type, after
//	  FROM `demo.shop.orders_history`
//	  WHERE change_type IS NOT NULL
//	  QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY sequence DESC, change_type DESC, publish_time DESC, message_id DESC) = 1
//	)
//	WHERE change_type = 'UPSERT'
//
// Add AND sequence <= '…' or AND commit_time <= '…' to the inner WHERE for the table as it
// was then. cdc rebuild prints the query of a configured table. It leaves out the columns
// that the table's settings need and no source has.
//
// # Failures
//
// A history that takes no rows keeps its messages from being acked, and so does its table:
// what is delivered again is in the view once. Neither is in the other's bundle, so that
// each gets its rows while BigQuery takes none for the other. But a bundle's end that waits
// for BigQuery stalls Beam's whole worker once the runner asks for its progress, for
// finish_for at most on Dataflow: until a history recovers, tables are late too.
//
// The counts have history_rows, and history_letters: of dead_letters those that a history
// lacks, beside what became of the change in its table.
//
// # What falls short
//
// With unavailable_values: fill the query takes each column's last value since the row's
// last DELETE. It does not follow a row whose key changed: what its source left out then is
// NULL until it is sent. With deletes: soft it makes the table of hard deletes. Where
// unknown_columns: add puts a value into a column beside its own, the history has a dead
// letter for that change.
//
// With enrich, after is the row as the table got it, and a row that a where removes a
// DELETE, so that the query still makes the table; a new row that a where leaves out is not
// in it. before is renamed, dropped and masked alike, without what set, lookup and metadata
// write, and NULL where a step can't be applied to it. Rows that are completed, by fill or
// soft deletes, are enriched after that: such a rule takes no history beside enrich.
//
// Changes that a user's sequence gives equal numbers have no order in the table, nor here:
// the later published wins.
//
// Beam numbers the names of the hop's Reshuffle by what is built before it in the graph,
// so that a version of the pipeline with more before it is another one for the update of a
// running job, which must be drained instead. Settings add nothing before it.
//
// A filter on commit_time does not reach through the view to the partitions: filter the
// table first, or query it directly.
package history
