package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/truncate"
)

// empty deletes what the truncates of tables that follow them leave nothing of.
func (o *Options) empty(s beam.Scope, truncates beam.PCollection, letters, rested *[]beam.PCollection) {
	emptied, refused := truncate.DeleteKeys(s, o.writer(), truncates)
	*letters, *rested = append(*letters, refused), append(*rested, emptied)
}

// empties reports whether any table follows its source's truncates.
func (o *Options) empties() bool {
	return slices.ContainsFunc(o.Tables, func(r table.Rule) bool { return catalog.Follows(&r) })
}

// validateTruncates reports what contradicts a table that follows its source's truncates.
func (o *Options) validateTruncates(i int, report reporter) {
	r, at := &o.Tables[i], fmt.Sprintf("tables[%d].truncates", i)
	if r.Truncates == catalog.DeleteKeys && r.Deletes == "soft" {
		report(at, "delete_keys removes the rows, and `deletes: soft` keeps what the source deletes: leave one out")
	}
	if r.Truncates != catalog.Recreate {
		return
	}
	switch {
	case r.Deletes == "soft":
		report(at, "recreate removes the rows, and `deletes: soft` keeps what the source deletes: leave one out")
	case r.UnavailableValues == "fill":
		report(at, "recreate writes to one table after the other, and `unavailable_values: fill` completes rows of one: leave one out")
	case r.UnknownColumns == "add":
		report(at, "recreate has a view before the table, whose columns stay, and `unknown_columns: add` adds some: leave one out")
	case strings.Contains(r.Destination, "{"):
		report(at, "recreate takes a destination without {schema} and {table}: name each view by a rule of its own")
	}
	for _, c := range r.OwnColumns() {
		if findColumn(r.Columns, c.Name) != nil || slices.ContainsFunc(r.PrimaryKey, func(k string) bool { return strings.EqualFold(k, c.Name) }) {
			report(at, "recreate has a column %s of its own, which the view hides: leave it out", c.Name)
		}
	}
}
