package table

import "time"

// Rule is one entry of the configuration's tables: which source tables it is
// for, where their rows go, and how.
type Rule struct {
	Source       string        `json:"source"`      // pattern: parts joined by ".", * matches within a part
	Destination  string        `json:"destination"` // [project.]dataset.table; {schema} and {table} stand for the source's
	PrimaryKey   []string      `json:"primary_key,omitempty"`
	Columns      []Column      `json:"columns,omitempty"`
	ClusterBy    []string      `json:"cluster_by,omitempty"`
	PartitionBy  *Partition    `json:"partition_by,omitempty"`
	MaxStaleness time.Duration `json:"max_staleness,omitempty"`
	Sequence     string        `json:"sequence,omitempty"` // CEL expression; "" for the format's own order

	// The words of the configuration; "" means the default.
	MissingPositions  string `json:"missing_positions,omitempty"`
	UnavailableValues string `json:"unavailable_values,omitempty"`
	UnknownColumns    string `json:"unknown_columns,omitempty"`
	BadValues         string `json:"bad_values,omitempty"`
	Deletes           string `json:"deletes,omitempty"`
	Tombstones        string `json:"tombstones,omitempty"`
	Truncates         string `json:"truncates,omitempty"`

	History string `json:"history,omitempty"` // [project.]dataset.table of the append-only table, like Destination
}
