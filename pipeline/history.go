package pipeline

import (
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/history"
)

// remember appends every change of the tables that have a history to it, the superseded
// ones too.
func (o *Options) remember(s beam.Scope, past beam.PCollection, letters, rested *[]beam.PCollection) {
	rows, unkeepable := history.Rows(s, o.history(), past)
	appended, refused := bqcdc.Write(s, o.historyWriter(), rows)
	*letters, *rested = append(*letters, unkeepable, refused), append(*rested, appended)
}

// remembers reports whether any table's changes are kept.
func (o *Options) remembers() bool {
	return slices.ContainsFunc(o.Tables, func(r table.Rule) bool { return r.History != "" })
}

func (o *Options) history() history.Config {
	tables := o.CatalogConfig()
	return history.Config{Tables: tables, Histories: history.Catalog(tables), RetryFor: o.Runtime.RetryFor}
}

// historyWriter is the configuration of the writer of histories: a second one, of plain
// rows (invariant 6).
func (o *Options) historyWriter() bqcdc.Config {
	writer := o.writer()
	writer.Catalog = o.history().Histories
	writer.Stage, writer.Namespace = history.Stage, history.Namespace
	return writer
}
