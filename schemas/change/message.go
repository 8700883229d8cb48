package change

import (
	"time"
	"unsafe"
)

// Message is a Pub/Sub message as it was published. It is kept with every
// change made from it, so that a dead letter holds the original bytes.
type Message struct {
	ID          string            // Pub/Sub's message ID: the same for every delivery of the message
	Data        []byte            // never modified: values may share its memory
	Attributes  map[string]string // nil when there are none
	OrderingKey string            // "" when there is none
	PublishTime time.Time         // when Pub/Sub took it
	Token       uint64            // what the source knows this delivery by; 0 where the runner acks
	Replays     uint32            // how often it was published again from its dead letter; ID and PublishTime are those of the first time

	// DataLeftOut says that Data is nil because the message's many changes would
	// carry too many copies of it.
	DataLeftOut bool
}

// Text returns the data as a string without copying it.
func (m *Message) Text() string { return unsafe.String(unsafe.SliceData(m.Data), len(m.Data)) }

// Receipt is one part of a delivered message that has come to rest: its row is
// in BigQuery, was superseded by one that is, or its dead letter is stored. A
// message is acked when all its parts have come to rest, each any number of times.
type Receipt struct {
	Token uint64 // Message.Token
	Part  uint32 // 0 … Parts-1
	Parts uint32 // how many parts the message has: at least 1
}
