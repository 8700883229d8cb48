// Package truncate takes from a table what its source's TRUNCATE deleted: of tables
// with one of the settings
//
//	truncates: delete_keys
//	truncates: recreate
//
// BigQuery takes no TRUNCATE, and no DELETE, of a table that a change stream writes. So
// a truncate becomes a CDC DELETE of each key that the table has, or a new table behind
// a view. The first is what most of this is about; what is different in the second is
// under "A new table".
//
// # What holds
//
// A truncate has a sequence from its position, s. After any order, repetition, crash
// and retry, no row is left whose last change is at s or below it, and every row that
// was changed later is as its last change has it, whichever was written first.
//
// # How
//
// Each table has a fence: the highest sequence of its truncates. It stands in a label
// of BigQuery's table (package catalog), is only ever raised, and is read anew when
// what is known of it is older than a lease L, ten seconds unless runtime.truncate_wait
// says otherwise.
//
//  1. [DeleteKeys] raises the fence to s.
//  2. It waits for L and the table's max_staleness.
//  3. It reads the table's keys by a query, and writes a DELETE at s for each.
//  4. It notes that in another label, so that a truncate that is delivered again ends
//     here, and lets the message rest.
//
// The writer (package bqcdc) looks at the fence twice. An UPSERT at or below the fence
// that it knows is sent as a DELETE at the fence. And when a request is acknowledged, it
// compares the request's rows with a fence that was read no longer than L before: those
// that are at or below are followed by DELETEs at the fence, and rest only with these.
//
// # Why that is enough
//
// BigQuery keeps of each key the row with the highest sequence. A DELETE at s removes
// no row above s, so that what was changed later stays. What is to be shown is that for
// every key with a row at or below s stored, a DELETE at s or above is stored in the end.
//
// Take such a row. Its change is processed until some try ends well, and it is not
// left out of that try, but written: as it is or as a DELETE at a fence. In the second
// case there is the DELETE, if the fence was s or above; if it was lower, the key has no
// row from this try. Else let the try's append be acknowledged at time a, and be
// followed by a look at a fence that was read no earlier than a-L.
//
//   - The fence was s or above when it was read: the writer stores the DELETE.
//   - It was not. Then it was raised to s later than a-L, so that the keys were read
//     after a. The row was acknowledged, so the query sees its key, or sees none because
//     the key's last row is a DELETE already or is above s, and stays as it is.
//
// A try that fails, or whose worker dies between the append and the look, may store its
// row at any time, even after the keys were read; but the change is tried again, and the
// try that ends well is one of the above: its key gets its DELETE. The same goes for
// rows that a lost worker still has in flight. Of several truncates the highest decides:
// its own keys are read after it raised the fence, and an earlier one that comes later,
// or that finds a higher fence when it would read, rests at once.
//
// The two labels are written with the table's ETag, so that none of several who raise
// them is lost. L is measured by each worker's own clock as a length of time; clocks
// need not agree, but must run at one speed. BigQuery's tables.get must tell of every
// tables.patch that has ended. A query sees an acknowledged row at once,
// unless the table has a max_staleness: then it may read a baseline that is as old.
//
// # What it costs
//
// One tables.get for each table, worker and half a lease while rows come; a query that
// reads the key columns; and a DELETE for each key, which BigQuery applies like any
// other. The query's result is read page by page. A table of very many rows is faster
// truncated by hand: stop the pipeline, replace the table, start it again.
//
// The pipeline's account needs bigquery.tables.update for the labels,
// bigquery.tables.getData and bigquery.jobs.create for the query.
//
// # What falls short
//
// Between the truncate and its DELETEs, for L and max_staleness at least, queries see
// rows that the source no longer has. A pipeline on one machine that is asked to stop
// waits as long for the truncates under way; killed, it leaves them to its successor.
//
// Who takes the labels beamcdc_truncated and beamcdc_emptied off the table makes the
// pipeline forget: older changes that arrive after that bring their rows back. (Tools
// that set all labels of a table, like Terraform, have to ignore these.)
//
// Other writers of the table know no fence. Their older rows stay if they come after
// the keys were read.
//
// A truncate without a position is a dead letter, or with `missing_positions: arrival`
// is ordered by when Pub/Sub took it: right only if the table's other changes are, too. A
// sequence expression is evaluated for the truncate, which has no key and no images.
// Changes with exactly the truncate's sequence count as from before it.
//
// A table whose rule requires a partition filter refuses the query, and the truncate is
// a dead letter. The table keeps its fence then: replay the letter once that is mended.
//
// A TRUNCATE of a partition, or ALTER TABLE … DROP PARTITION, is no truncate of a table,
// and what formats make of it is theirs: PostgreSQL names the partition, MySQL
// publishes nothing. TRUNCATE … CASCADE and TRUNCATE of several tables are one message for
// each table. What a source publishes of a TRUNCATE, package envelope's formats say.
//
// deletes: soft can't be combined with this. A history has a row for each truncate.
//
// # A new table
//
// With `truncates: recreate` the destination, shop.orders, is a view. Behind it is the
// table shop.orders_g0, and after a truncate another, shop.orders_g_ and the truncate's
// sequence in base 36, created as the one before was. create_tables creates the view and
// the first table. Without it both must be there: the table with the source's columns,
// of which only those of the key are REQUIRED, and two of the pipeline's own,
//
//	beamcdc_sequence STRING  the sequence of the row's change, each section of 16 digits
//	beamcdc_deleted  BOOL    whether the row is deleted
//
// and the view as
//
//	SELECT * EXCEPT (beamcdc_sequence, beamcdc_deleted) FROM `project.shop.orders_g0`
//	WHERE beamcdc_deleted IS NOT TRUE
//
// A delete is written as an UPSERT that hides the row: it can be read back, as a DELETE
// could not. That is needed, since changes from after a truncate may be written before
// it arrives, and an older change of such a row must not bring it back.
//
// The fence stands in the labels of the view. A truncate at s
//
//  1. creates the new table, and then in one tables.patch raises the fence to s and
//     points the view to it, unless an earlier truncate is not through yet: then it does
//     that one's steps first. So rows are never in more than two tables.
//  2. It waits for L and the old table's max_staleness.
//  3. It reads the rows above s from the old table, the hidden ones too, and writes each
//     to the new one, with its own sequence.
//  4. It notes that in the label beamcdc_emptied, and has the old table expire a day later.
//
// The writer sends a row above the fence that it knows to that fence's table; one at or
// below it is of no more use, and rests. After the acknowledgement it looks again, as
// above: if the fence has risen, a row above it is sent once more, to the new table.
//
// Why that is enough: a fence's table gets nothing at or below it, neither from a writer
// nor from a copy, so that the view shows nothing from before the truncate. Take the last
// change of a key, n, above the last fence, and the try of it that ends well. Its last
// append was acknowledged at a, into the table of a fence f that a look no earlier than
// a-L still found. If f is the last, n is where it is to be. Else the fence was raised
// later than a-L, so that the copy from f's table began after a, and has n, the
// highest of its key; and the copies from there on have it, since each begins when the
// one before is noted. Tries that fail, and copies that were given up or done twice, store
// changes of the key with their own sequences, which lose to n.
//
// What it costs: one row for each that was deleted, until the next truncate; a query
// that reads the old table whole, but writes only what is from after the truncate:
// much less than delete_keys for a large table. Rows that came before the truncate
// they are later than are missing from the view for L at least. The account
// needs bigquery.tables.create besides.
//
// What falls short: deletes: soft, unavailable_values: fill, unknown_columns: add,
// destinations with {schema} or {table}, and RANGE columns are refused. Who adds a column
// adds it to the table behind the view, and then sets the view's query again, without
// touching its labels (tables.patch does that). Access and policies that hang on the table,
// row access policies, tags and grants, don't come along to a new one; grant on the view or
// the dataset. A worker that is killed just as it raises the fence can leave an empty
// table behind. The old table of the latest truncate expires only after
// beamcdc_emptied was set, at the latest at the next truncate.
package truncate
