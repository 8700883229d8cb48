package letters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"

	"beamcdc/transforms/deadletter"
)

// The outcomes of a letter's replay.
const (
	outcomeReplayed = "replayed"      // published, and marked
	outcomeWould    = "would_replay"  // of a dry run
	outcomeRefused  = "refused"       // it would do harm, or has no message
	outcomeFailed   = "failed"        // it was not published
	outcomeUnmarked = "left_unmarked" // published, but not marked: the next replay publishes it again
)

// outcome is what became of a letter.
type outcome struct {
	Letter    string `json:"letter"`
	Outcome   string `json:"outcome"`
	Why       string `json:"why,omitempty"`
	MessageID string `json:"message_id,omitempty"` // of what was published
	Bytes     int    `json:"bytes,omitempty"`
	Repaired  bool   `json:"repaired,omitempty"`
	Data      string `json:"data,omitempty"`    // of a dry run: what a repair made, where it is text
	Warning   string `json:"warning,omitempty"` // about what a repair made
}

// replayer replays messages.
type replayer struct {
	sink      sink
	messages  map[messageKey]*Head
	publisher publisher // nil for a dry run
	repair    repair    // nil for none
	ages      ager
	old       bool // replays what is older than BigQuery's memory of deletes, too
	asNew     bool // leaves out the time of first publishing
	now       func() time.Time
	report    func(outcome) error
	progress  func(done, all int)
}

// publisher publishes a message, after those before. What it returns waits until
// Pub/Sub has confirmed it, and returns its ID.
type publisher interface {
	publish(ctx context.Context, m *pubsub.Message) (confirmed func(context.Context) (id string, err error))
}

// tally counts outcomes.
type tally map[string]int

// batch is how many messages are on their way before their letters are marked
// together: marking one is a request to the sink.
const (
	batchMessages = 100
	batchBytes    = 32 << 20
)

// flight is a message on its way, with its letters.
type flight struct {
	letters   []*Head
	bytes     int
	repaired  bool
	warning   string
	confirmed func(context.Context) (id string, err error)
}

// run replays the letters' messages, one after the other by their first IDs, each
// once, and returns how the letters fared. The error is that of a sink or an output
// that fails; what was published by then is marked, where that is possible.
func (r *replayer) run(ctx context.Context, letters []*Head) (tally, error) {
	counts := make(tally)
	var flights []flight
	bytes := 0
	land := func() error {
		err := r.land(ctx, flights, counts)
		flights, bytes = flights[:0], 0
		return err
	}
	groups := byMessage(letters)
	for i, group := range groups {
		if ctx.Err() != nil {
			break
		}
		r.progress(i, len(groups))
		f, stop, err := r.start(ctx, group, counts)
		if err != nil {
			return counts, errors.Join(err, land())
		}
		if stop {
			continue
		}
		flights, bytes = append(flights, f), bytes+f.bytes
		if len(flights) >= batchMessages || bytes >= batchBytes {
			if err := land(); err != nil {
				return counts, err
			}
		}
	}
	return counts, errors.Join(land(), context.Cause(ctx))
}

// byMessage returns the letters of each message, in the order of the letters.
func byMessage(letters []*Head) [][]*Head {
	var groups [][]*Head
	at := make(map[messageKey]int)
	for _, h := range letters {
		key := h.message()
		i, ok := at[key]
		if !ok || h.MessageID == "" { // of a broken letter nothing is known
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], h)
	}
	return groups
}

// start publishes the message of a group of letters, without waiting for the answer.
// It reports true where there is nothing to wait for: the group's outcome is told.
func (r *replayer) start(ctx context.Context, group []*Head, counts tally) (f flight, told bool, err error) {
	refuse := func(what, why string) (flight, bool, error) {
		return flight{}, true, r.tell(group, counts, outcome{Outcome: what, Why: why})
	}
	// Any of the letters that has its message will do.
	var stored deadletter.Stored
	why := ""
	for _, h := range group {
		if stored, why = loadWhole(ctx, r.sink, h, r.messages); why == "" {
			break
		}
	}
	if why != "" {
		return refuse(outcomeRefused, why)
	}
	m := stored.Message()
	repaired, warning := false, ""
	if r.repair != nil {
		data, err := r.repair(ctx, &m)
		if err != nil {
			return refuse(outcomeRefused, err.Error())
		}
		repaired = string(data) != string(m.Data)
		warning = slipped(m.Data, data)
		m.Data = data
	}
	if oldest := r.ages.oldest(&m); !r.old && (oldest.IsZero() || r.now().Sub(oldest) >= forgetAfter) {
		when := "its change has no time, and may be"
		if !oldest.IsZero() {
			when = "its change is of " + oldest.UTC().Format(time.RFC3339) + ","
		}
		return refuse(outcomeRefused, when+" older than BigQuery remembers deletes, two days: if its row was deleted since, it would come back; -forgotten_deletes replays it all the same")
	}
	attributes, err := deadletter.ReplayAttributes(&m, r.asNew)
	if err != nil {
		return refuse(outcomeRefused, err.Error()+"; -as_new publishes it without")
	}
	if len(m.Data) == 0 && len(attributes) == 0 {
		return refuse(outcomeRefused, "Pub/Sub takes no message without data and attributes")
	}
	if r.publisher == nil {
		o := outcome{Outcome: outcomeWould, Bytes: len(m.Data), Repaired: repaired, Warning: warning}
		if repaired && utf8.Valid(m.Data) {
			o.Data = string(m.Data)
		}
		return flight{}, true, r.tell(group, counts, o)
	}
	return flight{
		letters: group, bytes: len(m.Data), repaired: repaired, warning: warning,
		confirmed: r.publisher.publish(ctx, &pubsub.Message{Data: m.Data, Attributes: attributes, OrderingKey: m.OrderingKey}),
	}, false, nil
}

// land waits for messages on their way, marks the letters of those that were
// published, and tells what became of each.
func (r *replayer) land(ctx context.Context, flights []flight, counts tally) error {
	// What is on its way is waited for and marked after an interrupt, too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	var published []*Head
	ids, errs := make([]string, len(flights)), make([]error, len(flights))
	for i, f := range flights {
		if ids[i], errs[i] = f.confirmed(ctx); errs[i] == nil {
			published = append(published, f.letters...)
			published = append(published, r.shared(f.letters)...)
		}
	}
	var markErr error
	if len(published) > 0 {
		markErr = r.sink.done(ctx, published)
	}
	for i, f := range flights {
		o := outcome{Outcome: outcomeReplayed, MessageID: ids[i], Bytes: f.bytes, Repaired: f.repaired, Warning: f.warning}
		switch {
		case errs[i] != nil:
			o = outcome{Outcome: outcomeFailed, Why: errs[i].Error()}
		case markErr != nil:
			o.Outcome, o.Why = outcomeUnmarked, markErr.Error()
		}
		if err := r.tell(f.letters, counts, o); err != nil {
			return err
		}
	}
	if markErr != nil {
		return fmt.Errorf("marking letters as replayed in %s: %w", r.sink, markErr)
	}
	return nil
}

// shared returns the message that is stored by itself for such letters.
func (r *replayer) shared(letters []*Head) []*Head {
	if message := r.messages[letters[0].message()]; message != nil {
		return []*Head{message}
	}
	return nil
}

func (r *replayer) tell(letters []*Head, counts tally, o outcome) error {
	for _, h := range letters {
		o.Letter = h.name()
		counts[o.Outcome]++
		if err := r.report(o); err != nil {
			return err
		}
	}
	return nil
}

// name is what a letter is called: one that can't be read has no ID.
func (h *Head) name() string {
	if h.ID == "" {
		return h.key
	}
	return h.ID
}

// topicPublisher publishes to a topic, one request a message: the messages of one
// request share its fate, and one that is too large would take others with it.
type topicPublisher struct {
	client    *pubsub.Client
	publisher *pubsub.Publisher
}

func newPublisher(ctx context.Context, topic string, options []option.ClientOption) (*topicPublisher, error) {
	name, err := topicProject(topic)
	if err != nil {
		return nil, err
	}
	client, err := pubsub.NewClient(ctx, name, options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to Pub/Sub: %w", err)
	}
	p := &topicPublisher{client, client.Publisher(topic)}
	p.publisher.EnableMessageOrdering = true // or it refuses ordering keys
	p.publisher.PublishSettings.CountThreshold = 1
	p.publisher.PublishSettings.Timeout = time.Minute
	return p, nil
}

func (p *topicPublisher) publish(ctx context.Context, m *pubsub.Message) func(context.Context) (string, error) {
	result := p.publisher.Publish(ctx, m)
	return func(ctx context.Context) (string, error) {
		id, err := result.Get(ctx)
		if err != nil && m.OrderingKey != "" {
			p.publisher.ResumePublish(m.OrderingKey) // it refuses the key's other messages else
		}
		return id, err
	}
}

func (p *topicPublisher) close() {
	p.publisher.Stop()
	_ = p.client.Close() // all that was published has its answer
}

// reporter writes outcomes for people or as JSON lines.
func reporter(w io.Writer, asJSON bool) func(outcome) error {
	if asJSON {
		return func(o outcome) error { return writeJSON(w, o) }
	}
	return func(o outcome) error {
		text := safe(o.Letter) + "  " + o.Outcome
		if o.MessageID != "" {
			text += " as message " + safe(o.MessageID)
		}
		if o.Repaired {
			text += ", repaired"
		}
		if o.Why != "" {
			text += ": " + safe(o.Why)
		}
		if o.Warning != "" {
			text += "\n  warning: " + safe(o.Warning)
		}
		if o.Data != "" {
			text += "\n  new data: " + safe(o.Data)
		}
		_, err := io.WriteString(w, text+"\n")
		return err
	}
}
