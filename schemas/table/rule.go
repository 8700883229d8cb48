package table

import "time"

// Rule is one entry of the configuration's tables: which source tables it is
// for, where their rows go, and how.
type Rule struct {
	Source      string `json:"source"`      // pattern: parts joined by ".", * matches within a part
	Destination string `json:"destination"` // [project.]dataset.table; {schema} and {table} stand for the source's

	// PrimaryKey must be what BigQuery declares, and defaults to it, or for a table
	// that is created to the key that the first message names.
	PrimaryKey   []string      `json:"primary_key,omitempty"`
	Columns      []Column      `json:"columns,omitempty"` // of the table, or hints to some that BigQuery has
	ClusterBy    []string      `json:"cluster_by,omitempty"`
	PartitionBy  *Partition    `json:"partition_by,omitempty"`
	MaxStaleness time.Duration `json:"max_staleness,omitempty"`

	// Sequence is a CEL expression over the change that gives every change's sequence,
	// to match another writer of the table; "" for the format's own order. Package
	// expression says what it sees and may give.
	Sequence string `json:"sequence,omitempty"`

	// The words of the configuration; "" means the first of each.
	MissingPositions  string `json:"missing_positions,omitempty"`  // of a change without a position: reject, arrival
	UnavailableValues string `json:"unavailable_values,omitempty"` // that the source left out: reject, fill
	UnknownColumns    string `json:"unknown_columns,omitempty"`    // that the table lacks: reject, add, ignore
	UntypedColumns    string `json:"untyped_columns,omitempty"`    // that are to be added and whose messages don't type them: infer, string, reject
	BadValues         string `json:"bad_values,omitempty"`         // a Policy, of columns that have none of their own
	Deletes           string `json:"deletes,omitempty"`            // hard, soft
	Tombstones        string `json:"tombstones,omitempty"`         // empty messages: ignore, delete
	Truncates         string `json:"truncates,omitempty"`          // of the source's table: reject, delete_keys, recreate

	// Enrich are the steps that a row goes through before it is written, in order.
	Enrich []Step `json:"enrich,omitempty"`

	// MaxColumns is how many columns a table has at most once columns were added; 0
	// for BigQuery's 2,000.
	MaxColumns int `json:"max_columns,omitempty"`

	Fill       *Fill       `json:"fill,omitempty"`        // with unavailable_values: fill or deletes: soft; nil for the defaults
	SoftDelete *SoftDelete `json:"soft_delete,omitempty"` // with deletes: soft; nil for the defaults

	History string `json:"history,omitempty"` // [project.]dataset.table of the append-only table, like Destination
}
