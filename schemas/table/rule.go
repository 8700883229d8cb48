package table

import "time"

// Rule is one entry of the configuration's tables: which source tables it is
// for, where their rows go, and how.
type Rule struct {
	Source       string // pattern: parts joined by ".", * matches within a part
	Destination  string // [project.]dataset.table; {schema} and {table} stand for the source's
	PrimaryKey   []string
	Columns      []Column
	ClusterBy    []string
	PartitionBy  *Partition
	MaxStaleness time.Duration
	Sequence     string // CEL expression; "" for the format's own order
	MissingPositions,
	UnavailableValues,
	UnknownColumns,
	BadValues,
	Deletes,
	Tombstones,
	Truncates string // the words of the configuration; "" means the default
	History string
}
