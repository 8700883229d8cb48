package pipeline

import "slices"

// RuleKey is a key of a table's rule. RuleKeys is what the documents say of them; a test
// holds it against what the file's reader takes.
type RuleKey struct {
	Path    string // below tables[]: "columns[].name"
	Takes   string // what its value is: "text", "duration", "list of columns"
	Default string // "" where there is none
	Help    string
}

var ruleKeys = []RuleKey{
	{"source", "text", "", "The source's tables, as the envelope names them: `schema.table`, `database.table` or `table`. `*` matches within a part; fewer parts match the end."},
	{"destination", "text", "", "`[project.]dataset.table`. `{schema}` and `{table}` stand for the source's."},
	{"primary_key", "list of columns", "BigQuery's", "Must be what BigQuery declares. Of a table that is created, by default the key that its first message names."},
	{"columns", "list", "BigQuery's", "The columns of a table that is created, or what is to be known of some that BigQuery has."},
	{"columns[].name", "text", "", "BigQuery's name of the column, in any case."},
	{"columns[].type", "type", "", "As GoogleSQL writes it: `INT64`, `\"NUMERIC(12,2)\"`, `ARRAY<STRING>`. [Types](types.md) has each."},
	{"columns[].mode", "NULLABLE, REQUIRED or REPEATED", "NULLABLE", "REPEATED is the type `ARRAY<…>`."},
	{"columns[].fields", "list of columns", "", "Of a STRUCT."},
	{"columns[].description", "text", "", "Goes to a table that is created."},
	{"columns[].from", "one of [these](types.md#what-a-value-means-from)", "what the message or the type says", "What a value means that its message doesn't type. It means it at any magnitude."},
	{"columns[].scale", "number", "", "Digits after the point, of `from: decimal`."},
	{"columns[].bad_values", "as the table's", "the table's", "What becomes of a value that the column can't hold."},
	{"cluster_by", "list of columns", "the first four of the primary key", "Of a table that is created."},
	{"partition_by", "mapping", "", "Of a table that is created."},
	{"partition_by.column", "text", "the time of ingestion", "A DATE, DATETIME or TIMESTAMP."},
	{"partition_by.type", "HOUR, DAY, MONTH or YEAR", "", "The span of a partition; required."},
	{"max_staleness", "duration", "BigQuery's: 0", "Of a table that is created: how old what a query sees may be, and so how often BigQuery applies changes."},
	{"sequence", "CEL expression", "the format's own order", "Orders the table's changes instead, to match another writer: a text or one to four numbers. See [order](order.md)."},
	{"max_columns", "number", "2000", "`unknown_columns: add` adds no column beyond that many."},
	{"fill", "mapping", "", "Of tables with `unavailable_values: fill` or `deletes: soft`."},
	{"fill.first_seen", "hold, read or reject", "hold", "A row that is first met in the middle of its life waits for what completes it, or is read from BigQuery, or is a dead letter."},
	{"fill.hold_for", "duration", "1m", "How long `hold` waits; then the change is a dead letter."},
	{"fill.keep_for", "duration", "for ever", "How long after its last change a row is remembered."},
	{"fill.max_bytes", "number", "4194304", "How much of one row is remembered."},
	{"fill.columns", "list of columns", "all that can be left out", "The columns that are remembered."},
	{"fill.versions_column", "text", "beamcdc_versions", "With `first_seen: read`: the STRING column that holds the sequences of the row's values."},
	{"soft_delete", "mapping", "", "Of tables with `deletes: soft`."},
	{"soft_delete.flag", "text", "is_deleted", "The BOOL column that is true for a deleted row."},
	{"soft_delete.time", "text", "deleted_at", "The TIMESTAMP column with the time of the delete's commit."},
	{"history", "text", "", "`[project.]dataset.table` to which every change is [appended](../transforms/history/doc.go), with a view without duplicates, `…_distinct`."},
	{"enrich", "list of steps", "", "What each row goes through before it is written, [in order](../schemas/enrichment/doc.go). A step has one of the keys below."},
	{"enrich[].lookup", "mapping", "", "Joins the row to a reference."},
	{"enrich[].lookup.csv", "path", "", "A file with a line of column names, on the workers or gs://…"},
	{"enrich[].lookup.json_lines", "path", "", "Such a file with an object a line."},
	{"enrich[].lookup.parquet", "path", "", "Such a file."},
	{"enrich[].lookup.table", "text", "", "`[project.]dataset.table` in BigQuery."},
	{"enrich[].lookup.query", "GoogleSQL", "", "A query's rows."},
	{"enrich[].lookup.nulls", "text", "an empty field", "What a CSV file writes for NULL."},
	{"enrich[].lookup.key", "{row's: reference's}", "", "The columns that must be equal."},
	{"enrich[].lookup.columns", "{row's: reference's}", "", "The columns that the row gets."},
	{"enrich[].lookup.refresh", "duration", "never", "How often the reference is read again."},
	{"enrich[].lookup.on_miss", "null, reject or defaults", "null", "Of a row that the reference lacks."},
	{"enrich[].lookup.defaults", "{column: value}", "", "For `on_miss: defaults`."},
	{"enrich[].set", "{column: CEL expression}", "", "Gives columns values computed from `row.COLUMN`."},
	{"enrich[].where", "CEL expression", "", "The rows that stay. One that stops matching is deleted."},
	{"enrich[].metadata", "{column: what}", "", "`commit_time`, `publish_time`, `sequence`, `operation`, `position`, `transaction`, `source_table`, `message_id`."},
	{"enrich[].rename", "{from: to}", "", "All at once."},
	{"enrich[].drop", "list of columns", "", "Left out of the row."},
	{"enrich[].mask", "mapping", "", "Hides values."},
	{"enrich[].mask.columns", "list of columns", "", "Whose values are hidden."},
	{"enrich[].mask.by", "sha256, aes_siv, null or last", "", "The HMAC, a deterministic encryption, NULL, or asterisks but for the last characters."},
	{"enrich[].mask.keep", "number", "0", "Of `last`: how many characters stay."},
	{"enrich[].mask.key", "mapping", "", "Of `sha256` and `aes_siv`: one of the three."},
	{"enrich[].mask.key.secret", "text", "", "Secret Manager's `projects/P/secrets/S`, with `/versions/V` or without."},
	{"enrich[].mask.key.file", "path", "", "On the workers."},
	{"enrich[].mask.key.env", "text", "", "An environment variable of the workers."},
}

// RuleKeys returns every key of a rule but those of RuleWords, in the documents' order.
func RuleKeys() []RuleKey { return slices.Clone(ruleKeys) }
