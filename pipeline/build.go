package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/decode"
	"beamcdc/transforms/keyed"
	"beamcdc/transforms/pubsubsource"
)

// Build adds the graph to the scope: one call a hop, dead letters and receipts
// beside. The options must be those of which Validate found nothing; Build panics
// on others.
//
//	read -> decode -> key and encode -> window and coalesce -> write -> ack
//	           \             \                                /
//	            `-------------`------- dead letters ---------'
func Build(s beam.Scope, o Options) {
	if err := o.Validate(); err != nil {
		panic("pipeline.Build: " + err.Error())
	}
	messages := pubsubsource.Read(s, o.SourceConfig())
	events, controlled, undecodable := decode.Events(s, o.decoding(), messages)
	rows, _, _, filtered, unkeyable := keyed.Rows(s, o.CatalogConfig(), o.rows(), events)
	last := keyed.Coalesce(s, o.window(), rows)
	written, unwritable := bqcdc.Write(s, o.writer(), last)
	stored := o.store(s, undecodable, unkeyable, unwritable)
	// Invariant 1: a message is acked only when all its parts have come to rest at
	// one of these places.
	pubsubsource.Ack(s, o.SourceConfig(), append(stored, controlled, filtered, written)...)
}

// store stores dead letters in the configured sink and returns their receipts.
func (o *Options) store(s beam.Scope, letters ...beam.PCollection) []beam.PCollection {
	if o.DeadLetters.Table == "" {
		return deadletter.Write(s, o.deadLetters(), letters...)
	}
	writer := o.letterWriter()
	receipts := make([]beam.PCollection, len(letters))
	for i := range letters {
		rows := deadletter.Rows(s, writer.Catalog, letters[i])
		written, refused := bqcdc.Write(s, writer, rows)
		deadletter.Refused(s, refused)
		receipts[i] = written
	}
	return receipts
}
