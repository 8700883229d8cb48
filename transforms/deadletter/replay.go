package deadletter

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"beamcdc/schemas/change"
)

// AttributeReplay is the attribute of a message that was published again from its
// dead letter: how often that was done by now, when its message was first published,
// RFC 3339, and that one's ID, separated by spaces. Whatever goes by the order of
// publishing goes by the first time, so that a replay doesn't win over what came
// between. Whoever may publish to the source's topic may set it: they may publish
// any row with any position, too.
const AttributeReplay = attributePrefix + "replay"

// Attributes whose names begin with goog are Pub/Sub's own, as those that name the
// schema of a message's data: they can't be published, so a replay has them under
// the prefix.
const (
	attributePrefix = "beamcdc_"
	googlePrefix    = "goog"
)

// maxSkew is by how much a message may have been published before its first time by
// the clock of another Pub/Sub.
const maxSkew = time.Minute

// maxReplays bounds the number that comes in an attribute.
const maxReplays = 1_000_000

// ErrNoRoom is what keeps a message with all of Pub/Sub's 100 attributes from being
// published with one more.
var ErrNoRoom = errors.New("its attributes leave no room for " + AttributeReplay)

// ReplayAttributes returns the attributes to publish a letter's message with, of
// which the first time was published with ID and PublishTime. asNew leaves the
// reference to that time out. The error is ErrNoRoom.
func ReplayAttributes(m *change.Message, asNew bool) (map[string]string, error) {
	attributes := make(map[string]string, len(m.Attributes)+1)
	for name, value := range m.Attributes {
		if strings.HasPrefix(name, googlePrefix) {
			name = attributePrefix + name
		}
		attributes[name] = value
	}
	if asNew || m.ID == "" || m.PublishTime.IsZero() {
		return attributes, nil
	}
	if len(attributes) >= maxAttributes {
		return nil, ErrNoRoom
	}
	attributes[AttributeReplay] = fmt.Sprintf("%d %s %s", m.Replays+1, m.PublishTime.UTC().Format(time.RFC3339Nano), m.ID)
	return attributes, nil
}

// Original returns the message as it was when it was published the first time, but
// for its data, if it is a replay, and else as it is. The error says that the
// attribute of a replay can't be true.
func Original(m change.Message) (change.Message, error) {
	text, ok := m.Attributes[AttributeReplay]
	if !ok {
		return m, nil
	}
	count, rest, _ := strings.Cut(text, " ")
	first, id, _ := strings.Cut(rest, " ")
	replays, err := strconv.ParseUint(count, 10, 32)
	published, timeErr := time.Parse(time.RFC3339Nano, first)
	switch {
	case err != nil || replays == 0 || replays > maxReplays || timeErr != nil || id == "":
		return m, errors.New("the attribute " + AttributeReplay + " is not a number, a time and a message's ID")
	case !m.PublishTime.IsZero() && published.After(m.PublishTime.Add(maxSkew)):
		// It would win over every row to come until then.
		return m, errors.New("the attribute " + AttributeReplay + " has a time after the message's own")
	}
	attributes := maps.Clone(m.Attributes) // the map is the source's
	delete(attributes, AttributeReplay)
	for name, value := range m.Attributes {
		if own, ok := strings.CutPrefix(name, attributePrefix); ok && strings.HasPrefix(own, googlePrefix) {
			delete(attributes, name)
			if _, there := attributes[own]; !there { // the topic's schema has set it anew
				attributes[own] = value
			}
		}
	}
	if len(attributes) == 0 {
		attributes = nil
	}
	m.ID, m.PublishTime, m.Replays, m.Attributes = id, published.UTC(), uint32(replays), attributes
	return m, nil
}
