package history

import (
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// The columns of a history that the queries over it name.
const (
	changeID   = "change_id"
	operation  = "operation"
	changeType = "change_type"
	sequence   = "sequence"
	commitTime = "commit_time"
	publish    = "publish_time"
	messageID  = "message_id"
	key        = "key"
	after      = "after"
)

// Columns returns the columns of every history: they don't depend on the table whose
// changes it has, so that nothing has to follow when that table changes.
func Columns() []table.Column {
	required := func(name string, t table.Type, description string) table.Column {
		return table.Column{Name: name, Type: t, Mode: table.Required, Description: description}
	}
	column := func(name string, t table.Type, description string) table.Column {
		return table.Column{Name: name, Type: t, Description: description}
	}
	return []table.Column{
		required(changeID, table.String, "the same whenever the change is delivered"),
		required(operation, table.String, "what the source did: create, update, delete, snapshot or truncate"),
		column(changeType, table.String, "what it did to the row of this key: UPSERT or DELETE; NULL for truncate"),
		column(sequence, table.String, "_CHANGE_SEQUENCE_NUMBER, each section padded to 16 digits: its texts sort as the changes do"),
		column(commitTime, table.Timestamp, "when the source committed it; NULL if it doesn't say"),
		column(publish, table.Timestamp, "when Pub/Sub took the message"),
		column(messageID, table.String, "Pub/Sub's ID of the message"),
		column("source_table", table.String, "the source's name of the table"),
		column("position", table.String, "the source's own position, for people"),
		column(key, table.String, "the primary key as a JSON object; NULL for truncate"),
		column("before", table.JSON, "the row before the change, as far as the source tells"),
		column(after, table.JSON, "the row after the change; NULL for a DELETE"),
	}
}

// Table returns the history of this name as it is created: partitioned by the day of
// the commit, in which changes without one are in the partition of NULL, and clustered
// by the key.
func Table(name table.Name) *table.Table {
	return &table.Table{
		Name: name, Columns: Columns(),
		PartitionBy: &table.Partition{Column: commitTime, Type: "DAY"},
		ClusterBy:   []string{key},
		Description: "Every change of a table, appended by beamcdc; a change may be there more than once, see " + Distinct(name).Table,
	}
}

// Distinct returns the name of the history's view without duplicates: the history's
// with _distinct after it.
func Distinct(name table.Name) table.Name {
	name.Table += "_distinct"
	return name
}

// View returns the history's view without duplicates.
func View(name table.Name) catalog.View {
	return catalog.View{Name: Distinct(name), Query: DistinctQuery(name), Description: "The changes of " + name.Table + ", each once."}
}
