package deadletter

import (
	"cmp"
	"context"
	"fmt"

	"cloud.google.com/go/pubsub/v2"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/transforms/dofn"
)

// The attributes that a letter's message has besides its own. All begin with
// beamcdc_; a value is cut to Pub/Sub's 1,024 bytes.
const (
	AttributeLetter      = attributePrefix + "letter" // the letter's ID
	AttributeStage       = attributePrefix + "stage"
	AttributeReason      = attributePrefix + "reason"
	AttributeError       = attributePrefix + "error"
	AttributeTable       = attributePrefix + "table"
	AttributeMessageID   = attributePrefix + "message_id"
	AttributePart        = attributePrefix + "part"
	AttributePublishTime = attributePrefix + "publish_time" // RFC 3339
	AttributeOrderingKey = attributePrefix + "ordering_key"
	AttributeReplays     = attributePrefix + "replays"
	AttributeData        = attributePrefix + "data"  // "left_out": it is in the message of stage "message"; or a Stored.DataForm
	AttributeForm        = attributePrefix + "form"  // "json": the data is the letter as its file would be
	AttributePiece       = attributePrefix + "piece" // "1/2" … of a message too large to publish with these attributes
)

// ourAttributes is how many attributes a letter's message has besides its own, at most.
const ourAttributes = 12

// The values of AttributeForm and AttributeData.
const (
	formJSON    = "json"
	dataLeftOut = "left_out"
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
	dofn.Register(func(f *topicFn) dofn.Func { return dofn.Func4x1(f.ProcessElement) })
}

// topicFn publishes each letter and releases its receipts when Pub/Sub has it.
type topicFn struct {
	Config Config

	publisher *pubsub.Publisher
	protector protector
	sharing   sharing
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
func (f *topicFn) Setup(ctx context.Context) (err error) {
	if f.protector, err = newProtector(ctx, f.Config.Protection); err != nil {
		return err
	}
	f.publisher, err = publisher(f.Config)
	return err
}

// StartBundle forgets what a failed bundle left.
func (f *topicFn) StartBundle(_ func(beam.EventTime, change.Receipt)) {
	f.pending, f.bytes, f.sharing = f.pending[:0], 0, sharing{}
}

// ProcessElement publishes the letter.
func (f *topicFn) ProcessElement(ctx context.Context, ts beam.EventTime, l Letter, emit func(beam.EventTime, change.Receipt)) error {
	p := pending{stamped: stamped{ts, l.Receipts}, id: l.Message.ID}
	f.sharing.complete(&l)
	items, err := l.items(&f.protector)
	if err != nil {
		return fmt.Errorf("publishing the dead letter of message %s: %w", l.Message.ID, err)
	}
	for _, item := range items {
		messages, err := topicMessages(&item, cmp.Or(f.Config.MaxPublishBytes, maxPublishBytes))
		if err != nil {
			return fmt.Errorf("publishing the dead letter of message %s: %w", l.Message.ID, err)
		}
		for _, m := range messages {
			p.results = append(p.results, f.publisher.Publish(ctx, m))
			p.bytes += len(m.Data)
		}
	}
	count(ctx, &l)
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
