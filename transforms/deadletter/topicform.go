package deadletter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

// topicMessages returns the messages that hold the letter: one, or, where that
// would be larger than limit, one for each piece of its data.
//
// A letter whose own attributes can't be published beside ours is written as JSON:
// where there are too many, where they have our names, or where they are Pub/Sub's own.
func topicMessages(l *Letter, limit int) ([]*pubsub.Message, error) {
	attributes, data := topicAttributes(l), l.Message.Data
	if fitsAttributes(l.Message.Attributes) {
		maps.Copy(attributes, l.Message.Attributes)
	} else {
		text, err := json.Marshal(l.stored())
		if err != nil {
			return nil, err
		}
		attributes[AttributeForm], data = formJSON, text
	}
	size := 1024 // what surrounds data and attributes in the request
	for name, value := range attributes {
		size += len(name) + len(value) + 16
	}
	if len(data) <= limit-size {
		return []*pubsub.Message{{Data: data, Attributes: attributes}}, nil
	}
	// Attributes alone are bounded by their number and length: 128 kB.
	room := max(limit-size, 1<<10)
	pieces := (len(data) + room - 1) / room
	messages := make([]*pubsub.Message, pieces)
	for i := range messages {
		piece := maps.Clone(attributes)
		piece[AttributePiece] = strconv.Itoa(i+1) + "/" + strconv.Itoa(pieces)
		messages[i] = &pubsub.Message{Data: data[i*room : min((i+1)*room, len(data))], Attributes: piece}
	}
	return messages, nil
}

// fitsAttributes reports whether a message's own attributes can be published again
// with ours beside them, and told from them.
func fitsAttributes(own map[string]string) bool {
	for name := range own {
		if strings.HasPrefix(name, attributePrefix) || strings.HasPrefix(name, googlePrefix) {
			return false
		}
	}
	return len(own)+ourAttributes <= maxAttributes
}

// topicAttributes returns what the letter's message has besides its own attributes.
func topicAttributes(l *Letter) map[string]string {
	attributes := make(map[string]string, ourAttributes+len(l.Message.Attributes))
	add := func(name, value string) {
		if value != "" {
			attributes[name] = clip(value, maxAttributeValue)
		}
	}
	add(AttributeLetter, l.ID())
	add(AttributeStage, l.Stage)
	add(AttributeReason, l.Reason)
	add(AttributeError, l.Error)
	add(AttributeTable, l.Table)
	add(AttributeMessageID, l.Message.ID)
	add(AttributePart, strconv.FormatUint(uint64(l.Part), 10))
	add(AttributeOrderingKey, l.Message.OrderingKey)
	if !l.Message.PublishTime.IsZero() {
		add(AttributePublishTime, l.Message.PublishTime.UTC().Format(time.RFC3339Nano))
	}
	if l.Message.Replays > 0 {
		add(AttributeReplays, strconv.FormatUint(uint64(l.Message.Replays), 10))
	}
	if l.Message.DataLeftOut {
		add(AttributeData, dataLeftOut)
	}
	add(AttributeData, l.DataForm)
	return attributes
}

// TopicPiece returns the ID of the letter that a message of the topic holds a piece
// of, which one it is, and of how many: 1 of 1 where the letter is in one message. It
// is false for a message that is no letter, or says what can't be.
func TopicPiece(attributes map[string]string) (id string, number, count int, ok bool) {
	head, err := TopicHead(attributes)
	if err != nil {
		return "", 0, 0, false
	}
	text, inPieces := attributes[AttributePiece]
	if !inPieces {
		return head.ID, 1, 1, true
	}
	first, second, _ := strings.Cut(text, "/")
	number, err = strconv.Atoi(first)
	count, countErr := strconv.Atoi(second)
	ok = err == nil && countErr == nil && 1 <= number && number <= count && count <= maxTopicPieces
	return head.ID, number, count, ok
}

// maxTopicPieces bounds what an attribute may claim: a message of 10 MB as JSON, in
// pieces of a kilobyte.
const maxTopicPieces = 20_000

// TopicLetter returns a letter by the attributes of one of its messages and its data,
// joined.
func TopicLetter(attributes map[string]string, data []byte) (Stored, error) {
	s, err := TopicHead(attributes)
	if err != nil {
		return Stored{}, fmt.Errorf("reading a dead letter from its topic: %w", err)
	}
	if attributes[AttributeForm] == formJSON {
		id := s.ID
		if s, err = ParseStored(data); err != nil {
			return Stored{}, fmt.Errorf("reading dead letter %s from its topic: %w", id, err)
		}
		return s, nil
	}
	s.DataBase64 = data
	for name, value := range attributes {
		// The client's own, for traces, aren't the message's.
		if strings.HasPrefix(name, attributePrefix) || strings.HasPrefix(name, googlePrefix) {
			continue
		}
		if s.Attributes == nil {
			s.Attributes = make(map[string]string)
		}
		s.Attributes[name] = value
	}
	return s, nil
}

// TopicHead returns what the attributes of a message tell of the letter that it holds
// a piece of: all but the message's own attributes and data.
func TopicHead(attributes map[string]string) (Stored, error) {
	of := func(name string) string { return attributes[name] }
	s := Stored{
		ID: of(AttributeLetter), Stage: of(AttributeStage), Reason: of(AttributeReason), Error: of(AttributeError), Table: of(AttributeTable),
		MessageID: of(AttributeMessageID), OrderingKey: of(AttributeOrderingKey), DataLeftOut: of(AttributeData) == dataLeftOut,
	}
	if s.Stage == "" || s.MessageID == "" {
		return s, errors.New("it has no " + AttributeStage + " or no " + AttributeMessageID)
	}
	if form := of(AttributeData); form == FormRedacted || form == FormEncrypted {
		s.DataForm = form
	}
	for _, number := range []struct {
		name string
		to   *uint32
	}{{AttributePart, &s.Part}, {AttributeReplays, &s.Replays}} {
		if text := of(number.name); text != "" {
			n, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				return s, errors.New(number.name + " is no number")
			}
			*number.to = uint32(n)
		}
	}
	if text := of(AttributePublishTime); text != "" {
		var err error
		if s.PublishTime, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return s, errors.New(AttributePublishTime + " is no time")
		}
	}
	if s.ID == "" {
		s.ID = idOf(s.MessageID, s.Stage, s.Part, s.Replays)
	}
	return s, nil
}
