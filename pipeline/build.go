package pipeline

import (
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/decode"
	"beamcdc/transforms/fill"
	"beamcdc/transforms/history"
	"beamcdc/transforms/keyed"
	"beamcdc/transforms/pubsubsource"
)

// Build adds the graph to the scope: one call a hop, dead letters and receipts
// beside. The options must be those of which Validate found nothing; Build panics
// on others.
//
//	read -> decode -> key and encode -> window and coalesce -> write -> ack
//	                    `- complete -> encode -´   (the tables that ask)
//	                    `- remember -> write -> ack   (the tables that ask)
//	           \             \                                /
//	            `-------------`------- dead letters ---------'
func Build(s beam.Scope, o Options) {
	if err := o.Validate(); err != nil {
		panic("pipeline.Build: " + err.Error())
	}
	messages := pubsubsource.Read(s, o.SourceConfig())
	events, controlled, undecodable := decode.Events(s, o.decoding(), messages)
	rows, incomplete, past, truncates, filtered, unkeyable := keyed.Rows(s, o.CatalogConfig(), o.rows(), events)
	letters, rested := []beam.PCollection{undecodable, unkeyable}, []beam.PCollection{controlled, filtered}
	var kept, unkeepable beam.PCollection
	if o.remembers() { // before all else that a setting may add, see history's What falls short
		kept, unkeepable = history.Rows(s, o.history(), past)
	}
	o.write(s, rows, &letters, &rested)
	if o.completes() {
		o.complete(s, incomplete, &letters, &rested)
	}
	if o.remembers() {
		o.remember(s, kept, unkeepable, &letters, &rested)
	}
	if o.empties() {
		o.empty(s, truncates, &letters, &rested)
	}
	// Invariant 1: a message is acked only when all its parts have come to rest at
	// one of these places.
	pubsubsource.Ack(s, o.SourceConfig(), append(o.store(s, letters...), rested...)...)
}

// write coalesces rows and writes them.
func (o *Options) write(s beam.Scope, rows beam.PCollection, letters, rested *[]beam.PCollection) {
	last := keyed.Coalesce(s, o.window(), rows)
	written, unwritable := bqcdc.Write(s, o.writer(), last)
	*letters, *rested = append(*letters, unwritable...), append(*rested, written...)
}

// complete completes rows from their other changes, makes them and writes them. Each
// collection of rows has hops of its own: Prism can stall on a Flatten of unbounded
// collections, and sequences order their rows anyway.
func (o *Options) complete(s beam.Scope, incomplete beam.PCollection, letters, rested *[]beam.PCollection) {
	complete, refused := fill.Fill(s, o.filling(), incomplete)
	*letters = append(*letters, refused...)
	for _, changes := range complete {
		rows, filtered, unmakeable := keyed.Completed(s, o.CatalogConfig(), o.rows(), changes)
		*letters, *rested = append(*letters, unmakeable), append(*rested, filtered)
		o.write(s, rows, letters, rested)
	}
}

// completes reports whether any table's rows are completed from their other changes.
func (o *Options) completes() bool {
	return slices.ContainsFunc(o.Tables, func(r table.Rule) bool { return keyed.Completes(&r) })
}

// store stores dead letters in the configured sink and returns their receipts.
func (o *Options) store(s beam.Scope, letters ...beam.PCollection) []beam.PCollection {
	if o.DeadLetters.Table == "" {
		return deadletter.Write(s, o.deadLetters(), letters...)
	}
	writer := o.letterWriter()
	var receipts []beam.PCollection
	for i := range letters {
		rows := deadletter.Rows(s, writer.Catalog, o.protection(), letters[i])
		written, refused := bqcdc.Write(s, writer, rows)
		for _, letters := range refused {
			deadletter.Refused(s, letters)
		}
		receipts = append(receipts, written...)
	}
	return receipts
}
