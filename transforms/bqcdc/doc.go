// Package bqcdc writes CDC rows to BigQuery: UPSERTs and DELETEs that carry a
// sequence, through the Storage Write API's default streams.
//
// In: a PCollection<change.Row>, encoded for their tables. Out: the receipts of the
// rows that BigQuery has acknowledged, and dead letters for the rows that it can't
// be made to take. A bundle ends only after all its rows have come to rest
// (invariant 1), a connection carries CDC rows only (invariant 6), and a world that
// is out of order fails the bundle instead of filling the dead letters
// (invariant 7).
//
// Tables of plain rows ([catalog.Config].Plain) are written the same way: their rows
// need no sequence, none of them supersedes another, and what is sent twice, because
// an acknowledgement was lost, is there twice. Their connections are their own.
//
// # Requests
//
// A bundle's rows are gathered by table and schema into requests of 2 MiB, never
// above 9,000,000 bytes with the descriptor and all framing. A full request is
// sent at once, on a goroutine of its own, and the DoFn goes on; what has been
// acknowledged meanwhile is emitted with the next row. Requests and bytes in
// flight are bounded for the process. Their order means nothing: sequences order
// the rows. They are packed as they come, and sent as they were packed: see packed.go.
//
// A row's way: bundle.go gathers it, send.go sends its request and waits for it, deliver.go
// tries until it has come to rest, try.go appends once, outcome.go tells what that came to.
//
// # Words
//
//	lane     where a bundle gathers the rows of one stream to a request
//	delivery a request on its way, from its first append until each of its rows rests
//	trunk    a client with the streams that go through it: each with a connection of its
//	         own, or all on a shared one
//	apart    of a stream: on a connection of its own, though most share one
//	alone    of rows: appended on a stream that nothing else uses, for one append
//	aside    of rows: out of their bundle, in the state of the stage that is waitFn
//	leaves   rows may go aside for whatever reason: see "Where rows wait"
//	grows    the table may be altered to follow its source, so that rows may go aside
//	         for BigQuery's writers to know their schema
//	young    such a table was altered or made so lately that the writers may not know it
//	patient  of rows: they have been aside, and are tried although the stream is in trouble
//	patience how often and how long something was tried without progress, and may yet be
//	lags     a stream's rows were not taken lately: the next ones go aside, or wait for it
//	fence    a table's latest truncate that its rows have to be above: fence.go, and
//	         view.go where the table is a view
//
// # Streams
//
// A process has a stream for each table and schema that it writes. They outlive
// bundles, as Beam never tears a DoFn down; idle ones are closed. A stream's schema
// never changes, and managedwriter's own retries are off: see intercept.go.
//
// The first OwnConnections streams have a connection each, and those that come while
// all are taken share SharedConnections others, rows with a sequence and plain ones
// apart (invariant 6). A stream is bound to its connection until it is closed. What is
// special about a shared connection:
//
//   - It ends for all its tables at once. Of an error that ended it nobody knows which
//     table it is about: a table that got one that would fail its bundle gets a connection
//     of its own next, and is believed there.
//   - A new schema may be seen by new connections only: a table whose schema BigQuery's
//     writers don't know gets one of its own next, too.
//   - One that is silent, or that can't be opened, is replaced with all its streams.
//
// managedwriter never gives back the room in its flow control that a failed opening took.
// A stream that waits for such room looks silent, and is replaced after AppendTimeout.
//
// # What an append comes to
//
//	outcome          known by                                          what follows
//	acknowledged     no error, no row_errors                           receipts are emitted
//	rejected_rows    row_errors, whatever the status says              those rows are dead letters, the rest is sent again until none is named
//	too_large        the server's text                                 halved; a single row is a dead letter. Unless the response itself says
//	                                                                   so, first sent alone: a broken connection blames all its requests
//	schema_mismatch  SCHEMA_MISMATCH_EXTRA_FIELDS, NOT_FOUND, texts    a new stream, after a pause: the Write API sees a new table or column
//	                                                                   minutes later than tables.get
//	throttled        RESOURCE_EXHAUSTED                                a pause; the connection is kept
//	transient        any other code, EOF, silence for AppendTimeout    a pause; a new stream, or a new shared connection, unless it is the first time
//	permanent        INVALID_ARGUMENT, PERMISSION_DENIED, …            the bundle fails with one error; the next one gets a new stream
//
// Pauses are random up to a limit that doubles. Whatever the outcome, the rows may have
// been stored: they are sent again as they were, and their sequences make that, and any
// order of requests, the same table. A request that makes no progress for RetryFor, ten
// minutes, fails its bundle.
//
// # Where rows wait
//
// A wait in FinishBundle stalls all that a Beam worker does, while one in ProcessElement
// stalls nobody. So a request is sent as soon as it is full, and what a bundle's end waits
// for is bounded:
//
//   - Where a runner repeats bundles and acks by itself (Dataflow), the end of a bundle
//     waits for FinishFor. Then the bundle fails, and is repeated: its messages are the
//     runner's, and it holds back as many as it likes. A table that did not take rows twice
//     in a row is in trouble; a bundle that comes upon one waits for it while it takes its
//     rows, so that bundles don't stall the worker one after the other for one table.
//   - On one machine (Aside) a failed bundle would end the job. Rows of which nothing was
//     heard for FinishFor leave their bundle and wait in the state of a stage of their own,
//     by table, for a timer, which tries a megabyte of them first. Later rows of the stream
//     follow them at once, until a try succeeds; other tables' rows are written meanwhile. A
//     table that takes none for RetryFor ends the job with BigQuery's words. What BigQuery
//     is merely slow with, as long as it answers others, stays in its bundle: sending it
//     again would make things worse.
//
// Memory is bounded all the while. Requests and bytes in flight are, and a bundle that would
// exceed them takes no more rows. Rows that wait aside are parts of messages that are not
// acked yet, so that they count against what the source may have outstanding, and it stops
// taking messages.
//
// # Tables that follow their source
//
// BigQuery's writers know an added column minutes after tables.get does. Rows that
// hold it (schema_mismatch) don't wait in their bundle on any runner: they wait in that
// stage's state, for WaitFor at most, while rows of the schema before and of other tables are
// written. So does a row that BigQuery names while the table is young: its writers may still
// take a column for REQUIRED. A runner that persists no state has not acked their messages.
// Rows of other tables are schema_mismatch after a table was made, or dropped and made
// again: they are tried on new connections, like other rows that are tried again.
//
// # What falls short
//
// A row whose schema's fingerprint is not known here is no reason to fail, nor can
// it be encoded again. The catalog is asked, which reads the table again and tries
// the versions that it may have had before: columns and fields added and types widened
// are undone, and what REQUIRED and parameters were is in no fingerprint. If that does
// not tell the schema, the row becomes a dead letter (schema_changed), from which it can
// be replayed. That happens to good rows if a column was dropped or renamed in BigQuery
// within the seconds that they were on their way: what they hold has no place there any
// more, and to carry every row's schema with it would cost more than the row.
//
// A row that BigQuery rejects may have superseded an older one in its window that
// BigQuery would have taken: its receipts wait for the dead letter, and the table
// stays without both until it is replayed.
//
// Two rows of one key with equal sequences and different bytes, in one request,
// are BigQuery's to choose from.
package bqcdc
