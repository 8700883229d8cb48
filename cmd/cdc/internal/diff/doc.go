// Package diff compares a source's table, or a file of rows, with its table in
// BigQuery, and publishes what would mend the difference.
//
// # What is equal
//
// A source's row and BigQuery's are equal where the pipeline would write for the
// one what the other is: both are encoded by rowproto, the source's row by the
// plan of the pipeline's rule, from and bad_values included, BigQuery's by the same
// plan without them, and compared column by column. JSON documents are compared by
// what they mean, since BigQuery writes them anew, and of floating-point numbers -0
// is 0 and NaN is NaN. A row that the pipeline would refuse is a difference of its
// own kind, with the reason.
//
// The rule's steps are done to the source's rows first, as far as the row alone tells
// what they make ([Enrichment]): a lookup's reference may be another by now, and when a
// change was committed, what it was and where, no row tells. Those columns are left out,
// by name and reason. A where over one of them, and a masked key, make a table that can't
// be compared.
//
// # How
//
// [Comparer] walks the table by ranges of its primary key. Where both sides can
// write the columns of a row as one text (see canonical.go), each range is counted
// and hashed by the databases, the source's by a query each and BigQuery's by one
// for many, and only ranges that differ are split, down to where their rows are read
// and compared. Hashes only ever spare the look at rows: a false difference costs a
// second look, and equal hashes of 128 bits are equal rows. Where a column has no
// such text, or the source can't give the keys in order of their bytes by an index,
// rows are compared one by one, the source's as they come, BigQuery's by ranges.
// Neither holds more than a range's rows in memory, nor more than [Options.Batch]
// differences.
//
// Both sides go on changing meanwhile, and BigQuery is behind. What differs is
// looked at again, twice at most, after a pause: only what still differs, and is not
// what the source had before either, is a difference.
package diff
