package deadletter

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
)

// The attributes that a letter's message has besides its own. All begin with
// beamcdc_; a value is cut to Pub/Sub's 1,024 bytes.
const (
	AttributeStage       = "beamcdc_stage"
	AttributeReason      = "beamcdc_reason"
	AttributeError       = "beamcdc_error"
	AttributeTable       = "beamcdc_table"
	AttributeMessageID   = "beamcdc_message_id"
	AttributePart        = "beamcdc_part"
	AttributePublishTime = "beamcdc_publish_time" // RFC 3339
	AttributeOrderingKey = "beamcdc_ordering_key"
	AttributePiece       = "beamcdc_piece" // "1/2" … of a message too large to publish with these attributes
)

// Pub/Sub's limits: https://cloud.google.com/pubsub/quotas#resource_limits
const (
	maxAttributes     = 100
	maxAttributeValue = 1024
	maxPublishBytes   = pubsub.MaxPublishRequestBytes
)

// How much may be on its way to Pub/Sub before a bundle waits for the oldest.
const (
	maxPendingLetters = 1000
	maxPendingBytes   = 64 << 20
)

func init() {
	register.DoFn4x1[context.Context, beam.EventTime, Letter, func(beam.EventTime, change.Receipt), error](&topicFn{})
}

// topicFn publishes each letter and releases its receipts when Pub/Sub has it.
type topicFn struct {
	Config Config

	publisher *pubsub.Publisher
	counters  counters
	pending   []pending // oldest first
	bytes     int
}

// pending is a letter on its way.
type pending struct {
	stamped
	id      string
	results []*pubsub.PublishResult
	bytes   int
}

// Setup finds the process's publisher.
func (f *topicFn) Setup() (err error) {
	f.publisher, err = publisher(f.Config)
	return err
}

// StartBundle forgets what a failed bundle left.
func (f *topicFn) StartBundle(_ func(beam.EventTime, change.Receipt)) {
	f.pending, f.bytes = f.pending[:0], 0
}

// ProcessElement publishes the letter.
func (f *topicFn) ProcessElement(ctx context.Context, ts beam.EventTime, l Letter, emit func(beam.EventTime, change.Receipt)) error {
	p := pending{stamped: stamped{ts, l.Receipts}, id: l.Message.ID, bytes: len(l.Message.Data)}
	for _, m := range topicMessages(&l, cmp.Or(f.Config.MaxPublishBytes, maxPublishBytes)) {
		p.results = append(p.results, f.publisher.Publish(ctx, m))
	}
	f.counters.count(ctx, &l)
	f.pending = append(f.pending, p)
	f.bytes += p.bytes
	for len(f.pending) > maxPendingLetters || f.bytes > maxPendingBytes {
		if err := f.settleOldest(ctx, emit); err != nil {
			return err
		}
	}
	return nil
}

// FinishBundle waits for the letters that are still on their way.
func (f *topicFn) FinishBundle(ctx context.Context, emit func(beam.EventTime, change.Receipt)) error {
	for len(f.pending) > 0 {
		if err := f.settleOldest(ctx, emit); err != nil {
			return err
		}
	}
	return nil
}

// settleOldest waits for the oldest pending letter and releases its receipts.
func (f *topicFn) settleOldest(ctx context.Context, emit func(beam.EventTime, change.Receipt)) error {
	p := f.pending[0]
	for _, r := range p.results {
		// Invariant 1: no receipt before Pub/Sub has confirmed the letter.
		if _, err := r.Get(ctx); err != nil {
			return fmt.Errorf("publishing the dead letter of message %s to %s: %w", p.id, f.Config.Topic, err)
		}
	}
	for _, r := range p.receipts {
		emit(p.time, r)
	}
	f.pending = f.pending[1:]
	f.bytes -= p.bytes
	return nil
}

// topicMessages returns the messages that hold the letter: one, or, where that
// would be larger than limit, one for each piece of its data.
func topicMessages(l *Letter, limit int) []*pubsub.Message {
	attributes, size := topicAttributes(l)
	room := limit - size - 1024 // what surrounds data and attributes in the request
	pieces := 1
	if len(l.Message.Data) > room && room > 0 {
		pieces = (len(l.Message.Data) + room - 1) / room
	}
	if pieces == 1 {
		return []*pubsub.Message{{Data: l.Message.Data, Attributes: attributes}}
	}
	messages := make([]*pubsub.Message, pieces)
	for i := range messages {
		piece := maps.Clone(attributes)
		if len(piece) < maxAttributes {
			piece[AttributePiece] = strconv.Itoa(i+1) + "/" + strconv.Itoa(pieces)
		}
		start, end := i*room, min((i+1)*room, len(l.Message.Data))
		messages[i] = &pubsub.Message{Data: l.Message.Data[start:end], Attributes: piece}
	}
	return messages
}

// topicAttributes returns the message's own attributes and as many of the
// letter's as Pub/Sub's limit leaves room for, the most important first, and
// about how many bytes they take. The message's own are never left out; only
// those of an earlier letter, where a dead letter was published again.
func topicAttributes(l *Letter) (attributes map[string]string, size int) {
	publishTime := ""
	if !l.Message.PublishTime.IsZero() {
		publishTime = l.Message.PublishTime.UTC().Format(time.RFC3339Nano)
	}
	ours := []struct{ name, value string }{
		{AttributeStage, l.Stage},
		{AttributeReason, l.Reason},
		{AttributeError, l.Error},
		{AttributeOrderingKey, l.Message.OrderingKey},
		{AttributeMessageID, l.Message.ID},
		{AttributePublishTime, publishTime},
		{AttributeTable, l.Table},
		{AttributePart, strconv.FormatUint(uint64(l.Part), 10)},
	}
	attributes = make(map[string]string, len(l.Message.Attributes)+len(ours)+1)
	maps.Copy(attributes, l.Message.Attributes)
	delete(attributes, AttributePiece)
	for _, a := range ours {
		delete(attributes, a.name)
	}
	for _, a := range ours {
		if a.value != "" && len(attributes) < maxAttributes {
			attributes[a.name] = clip(a.value, maxAttributeValue)
		}
	}
	for name, value := range attributes {
		size += len(name) + len(value) + 16
	}
	return attributes, size
}
