package pipeline

import (
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/history"
)

// remember appends the rows that history.Rows made, of every change of the tables that
// have a history, the superseded ones too.
func (o *Options) remember(s beam.Scope, rows, unkeepable beam.PCollection, letters, rested *[]beam.PCollection) {
	appended, refused := bqcdc.Write(s, o.historyWriter(), rows)
	*letters, *rested = append(append(*letters, unkeepable), refused...), append(*rested, appended...)
}

// remembers reports whether any table's changes are kept.
func (o *Options) remembers() bool {
	return slices.ContainsFunc(o.Tables, func(r table.Rule) bool { return r.History != "" })
}

func (o *Options) history() history.Config {
	tables := o.CatalogConfig()
	return history.Config{Tables: tables, Histories: history.Catalog(tables), RetryFor: o.Runtime.RetryFor}
}

func init() { bqcdc.Declare(history.Namespace) }

// historyWriter is the configuration of the writer of histories: a second one, of plain
// rows (invariant 6).
func (o *Options) historyWriter() bqcdc.Config {
	writer := o.writer()
	writer.Catalog = o.history().Histories
	writer.Stage, writer.Namespace = history.Stage, history.Namespace
	return writer
}

// validateHistories reports histories that would share a table with something else, as
// far as names without placeholders tell; their names, and what rules share, is the
// router's to tell.
func (o *Options) validateHistories(router *table.Router, project string, report reporter) {
	if router == nil {
		return
	}
	letters, err := table.ParseName(o.DeadLetters.Table, project)
	hasLetters := o.DeadLetters.Table != "" && err == nil
	matches := router.Literals()
	for _, m := range matches {
		if m.History == (table.Name{}) {
			continue
		}
		key := fmt.Sprintf("tables[%d].history", m.Index)
		if hasLetters && m.History == letters {
			report(key, "%v is the dead letters' table, too", m.History)
		}
		view := history.Distinct(m.History)
		if hasLetters && view == letters {
			report(key, "%v, the dead letters' table, has the name of its view without duplicates", view)
		}
		for _, other := range matches {
			if other.Name == view || other.History == view {
				report(key, "%v, a table of tables[%d], has the name of its view without duplicates", view, other.Index)
			}
		}
	}
}
