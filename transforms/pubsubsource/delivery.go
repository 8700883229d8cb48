package pubsubsource

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/v2"

	"beamcdc/schemas/change"
)

// delivery is one delivery of a message, from its taking to its ack.
type delivery struct {
	message *pubsub.Message
	token   uint64
	size    int64
	taken   time.Time
	bundle  int64 // the bundle that emitted it; 0 while it is queued
	rest    parts
}

// element is what goes into the pipeline.
func (d *delivery) element() change.Message {
	return change.Message{
		ID:          d.message.ID,
		Data:        d.message.Data,
		Attributes:  d.message.Attributes,
		OrderingKey: d.message.OrderingKey,
		PublishTime: d.message.PublishTime,
		Token:       d.token,
	}
}

// release lets go what isn't needed once the message is in the pipeline. Its data stays
// until the ack: rows go without it, see [deadletter.Held].
func (d *delivery) release() { d.message.Attributes = nil }

// lastToken starts anywhere: the runner may hand a restarted process receipts
// that its predecessor gave the tokens for, and those must mean nothing here.
var lastToken = func() *atomic.Uint64 {
	var token atomic.Uint64
	token.Store(rand.Uint64())
	return &token
}()

// newToken returns a number that no other delivery of this process has. It is
// never 0, which stands for a delivery that the runner acks.
func newToken() uint64 {
	for {
		if token := lastToken.Add(1); token != 0 {
			return token
		}
	}
}

// parts is the set of a message's parts that have come to rest.
type parts struct {
	want  uint32
	count uint32
	first uint64   // parts 0 … 63
	more  []uint64 // parts 64 …
}

// add adds a part and reports whether all are there now. Adding one again is
// harmless. The caller has made sure that part < want.
func (p *parts) add(part, want uint32) (complete bool) {
	p.want = max(p.want, want)
	word := &p.first
	if i := int(part / 64); i > 0 {
		if len(p.more) < i {
			p.more = append(p.more, make([]uint64, i-len(p.more))...)
		}
		word = &p.more[i-1]
	}
	if bit := uint64(1) << (part % 64); *word&bit == 0 {
		*word |= bit
		p.count++
	}
	return p.count == p.want
}
