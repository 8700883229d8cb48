// Package enrichment takes rows through the steps of a table's `enrich`, in order,
// before they are written: it is to a row what the rest of the configuration is to
// its values.
//
// Steps see and make rows; a delete, which tells of its key alone, passes untouched. A
// row that can't be enriched is a dead letter of stage enrich, which names the step and
// the column and holds, like all, the message as it came: what a mask hides is not
// hidden there.
//
//	lookup    Joins the row to a reference table by columns that are equal:
//	          {csv: FILE, key: {customer_id: id}, columns: {customer_name: name}, refresh: 10m,
//	          on_miss: null | reject | defaults, defaults: {customer_name: unknown}}. The
//	          row's column stands before the reference's; a list is for equal names. The
//	          reference is csv, json_lines or parquet, a path on the workers or gs://…, or
//	          table or query, in BigQuery. nulls is the text that a CSV file writes for NULL.
//	set       Gives columns the values of CEL expressions: {gross: 'row.net * decimal("1.19")'}.
//	          All of a step see the row as it was before the step.
//	where     A CEL expression; the rows for which it holds stay.
//	metadata  Gives columns what is known of the change: {committed_at: commit_time}, or
//	          publish_time (TIMESTAMPs), sequence, operation, position, transaction,
//	          source_table, message_id (STRINGs); NULL where it is not known.
//	rename    {cust: customer}; all at once, so that {a: b, b: a} swaps two.
//	drop      [note]
//	mask      {columns: [email], by: sha256, key: {secret: projects/P/secrets/S}} or file or env.
//	          sha256 is the HMAC-SHA-256 in hexadecimal, aes_siv deterministic encryption in
//	          base64, which Tink, and BigQuery's DETERMINISTIC_DECRYPT functions with the same
//	          keyset, undo; in a BYTES column both are the bytes. null is NULL; last shows the
//	          last `keep` characters, and none of a text that has no more.
//
// # Types
//
// A column has, before it is written, the type of the table's column that it ends in,
// also under an earlier name; its values are read as the encoder would, from and
// bad_values included. So an INT64 is an int to an expression, a NUMERIC or BIGNUMERIC
// an exact decimal, and a lookup by an INT64 finds 7 under "007". What a step replaces
// or drops, and what the table doesn't have, has no type that could be known: it is what
// the message has, and a lookup compares its text.
//
// Expressions are compiled when the table is known: before anything starts where its
// rule lists its columns or BigQuery has it. An unknown column, a double for a NUMERIC,
// a text for an INT64 are errors then. Package expression says what they see.
//
// # Transactions
//
// A transaction is what the source calls it: Debezium's source.txId, else gtid, else
// server_transaction_id, else transaction.id (provide.transaction.metadata); Maxwell's gtid,
// else xid; Canal's gtid; wal2json's xid (include-xids); DMS's transaction-id; Datastream's
// tx_id; Spanner's serverTransactionId. Sequin and the columns format tell none, nor does
// Debezium of SQL Server and MongoDB without transaction.id, nor most snapshots.
// PostgreSQL's come again after four thousand million, Maxwell's xids after a restart.
//
// # Rows that a where leaves out
//
// A row that no longer matches must not stay in the table as it was, so its UPSERT
// becomes a DELETE with the same sequence; a row that matches again is an UPSERT again.
// A new row (operation create) that does not match needs no DELETE, since nothing had
// its key: it is counted and rests. Rows of a snapshot that don't match are DELETEs, so
// that a snapshot taken anew removes what it should, which for a first one of many rows
// is as much work as writing them. What a where says of a lookup's columns it says of
// the reference as it was when the change came: a later refresh changes no row.
//
// # The primary key
//
// Only rename, and mask by sha256 or aes_siv, may touch a column of the primary key:
// both are applied to the keys of deletes, and of rows whose key changes, too. They are
// refused beside fill and soft deletes, which find a row's changes by its key.
//
// # The history
//
// It has what the table gets: see package history. So what a mask hides or drop drops is
// not in it either, nor in its before images.
//
// # Lookups
//
// A key of which a part is NULL finds nothing. Two rows of the reference with one key
// are an error of loading, which names the columns; so is a value that the key's type
// can't hold. Rows lie in chunks of bytes without pointers: docs/benchmarks.md has what
// a million take. A reference is loaded once a process, before its first row (or the
// bundle fails), and read again each `refresh`; the old one serves until the new one is
// whole, and goes on when a read fails. Files that did not change are not read again.
// BigQuery bills the bytes of the columns that are asked for at each read.
//
// # Masks
//
// A value is masked by its canonical text: 42, 42.0 and "42" are one, on every worker
// and in every column, so that masked columns join. A key of sha256 has 16 bytes at
// least; one of aes_siv is 64 bytes, raw, in base64 or in hexadecimal, or a keyset of
// Tink's in JSON (BigQuery's KEYS.KEYSET_TO_JSON). A line's end after a key is not part
// of it. Keys are read once a process: a new version of a secret takes a new worker, and
// makes other values of the same ones.
package enrichment
