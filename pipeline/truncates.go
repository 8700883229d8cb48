package pipeline

import (
	"fmt"
	"slices"

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
	return slices.ContainsFunc(o.Tables, func(r table.Rule) bool { return r.Truncates == catalog.DeleteKeys })
}

// validateTruncates reports what contradicts a table that follows its source's truncates.
func (o *Options) validateTruncates(i int, report reporter) {
	if r := &o.Tables[i]; r.Truncates == catalog.DeleteKeys && r.Deletes == "soft" {
		report(fmt.Sprintf("tables[%d].truncates", i), "delete_keys removes the rows, and `deletes: soft` keeps what the source deletes: leave one out")
	}
}
