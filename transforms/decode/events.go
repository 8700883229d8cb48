package decode

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	_ "beamcdc/transforms/coders" // of messages, events and receipts
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters: messages, events,
// control by kind, letters. Every message is
// counted under one of the last three, whatever the number of its events, so
// that messages = decoded + control + letters. Beside them positions_backwards
// counts events that a failed-over source may have sent.
const Namespace = "decode"

// Stage is the stage of this package's dead letters.
const Stage = "decode"

// reasonBadAttributes is the reason why a message that says to be a replay is none.
// The others are the envelope's.
const reasonBadAttributes = "bad_attributes"

func init() {
	dofn.Register(func(f *decodeFn) dofn.Func { return dofn.Func5x1(f.ProcessElement) })
	register.Emitter1[change.Event]()
	register.Emitter1[change.Receipt]()
	register.Emitter1[deadletter.Letter]()
}

var metrics = metric.In(Namespace)

var (
	messagesCounter = metrics.Counter("messages", metric.Messages, "Deliveries that were decoded.")
	decodedCounter  = metrics.Counter("decoded", metric.Messages, "Messages that made change events.")
	eventsCounter   = metrics.Counter("events", metric.Changes, "Change events that they made.")
	lettersCounter  = metrics.Counter("letters", metric.Letters, "Messages that can't be decoded: dead letters.")
	controlCounters = func() map[envelope.Control]beam.Counter {
		control := metrics.Counters("control", metric.Messages, "Messages that are no change: heartbeats, transaction marks, schema notices, tombstones, …", "kind")
		counters := make(map[envelope.Control]beam.Counter)
		for _, kind := range []envelope.Control{
			envelope.Heartbeat, envelope.Transaction, envelope.SchemaChange,
			envelope.Tombstone, envelope.LogicalMessage, envelope.Notification,
		} {
			counters[kind] = control.With(string(kind))
		}
		counters[""] = control.With(metric.Other)
		return counters
	}()
)

// Events decodes a PCollection<change.Message> and returns PCollections of
// change.Event, of change.Receipt (of control messages; empty where the runner
// acks) and of deadletter.Letter. It panics on a Config that isn't valid.
func Events(s beam.Scope, c Config, messages beam.PCollection) (events, receipts, letters beam.PCollection) {
	if err := c.Validate(); err != nil {
		panic("decode.Events: " + err.Error())
	}
	return beam.ParDo3(s.Scope("decode.Events"), &decodeFn{Config: c}, messages)
}

// decodeFn decodes one message at a time.
type decodeFn struct {
	Config Config

	decoder *envelope.Decoder
	events  []change.Event // reused from message to message
}

// Setup builds the decoder.
func (f *decodeFn) Setup() (err error) {
	f.decoder, err = NewDecoder(f.Config)
	return err
}

// ProcessElement decodes a message.
func (f *decodeFn) ProcessElement(
	ctx context.Context, m change.Message, emit func(change.Event), rest func(change.Receipt), refuse func(deadletter.Letter),
) error {
	messagesCounter.Inc(ctx, 1)
	m, err := deadletter.Original(m)
	var events []change.Event
	var control envelope.Control
	if err != nil {
		err = &envelope.Error{Reason: reasonBadAttributes, Err: err}
	} else {
		events, control, err = f.decoder.Decode(m, f.events[:0])
		f.events = events
	}
	if err == nil && control == "" && len(events) == 0 {
		// Invariant 4: nothing vanishes. A message that makes nothing would never be acked.
		err = &envelope.Error{Reason: "no_changes", Err: errors.New("the message holds no change")}
	}
	switch {
	case err != nil:
		var e *envelope.Error
		if !errors.As(err, &e) { // a schema can't be had now
			return fmt.Errorf("decoding message %s: %w", m.ID, err)
		}
		lettersCounter.Inc(ctx, 1)
		refuse(deadletter.Letter{
			Message: m, Stage: Stage, Reason: e.Reason, Error: e.Error(), Table: e.Table,
			Receipts: deadletter.Receipts(&m, 0, 1),
		})
	case control != "":
		counter, ok := controlCounters[control]
		if !ok {
			counter = controlCounters[""]
		}
		counter.Inc(ctx, 1)
		for _, r := range deadletter.Receipts(&m, 0, 1) {
			rest(r)
		}
	default:
		decodedCounter.Inc(ctx, 1)
		eventsCounter.Inc(ctx, int64(len(events)))
		f.watchPositions(ctx, events)
		for i := range events {
			emit(events[i])
		}
	}
	const usual = 4096
	if clear(events); cap(events) > usual { // they hold the message, and a message of very many changes room
		f.events = nil
	}
	return nil
}
