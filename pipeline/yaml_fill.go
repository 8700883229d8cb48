package pipeline

import (
	"github.com/goccy/go-yaml/ast"

	"beamcdc/schemas/table"
)

// fill reads how a table's rows are completed.
func (y *reader) fill(node ast.Node, key string) *table.Fill {
	f := new(table.Fill)
	y.mapping(node, key, fields{
		"first_seen":      y.word(&f.FirstSeen, table.FirstSeenWords...),
		"hold_for":        y.scalar(&f.HoldFor),
		"keep_for":        y.scalar(&f.KeepFor),
		"max_bytes":       y.scalar(&f.MaxBytes),
		"columns":         y.texts(&f.Columns, "[doc]"),
		"versions_column": y.scalar(&f.VersionsColumn),
	})
	return f
}
