package letters

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/transforms/deadletter"
)

// waiting is for how long a subscription may have nothing to give before it is taken
// to be empty: Pub/Sub doesn't tell.
type waiting time.Duration

const (
	pullMessages    = 50 // of 10 MB each, at most, in one answer
	deadlineSeconds = 60
	extendEvery     = 20 * time.Second
	handlesACall    = 500 // of which each has some 200 bytes; a request may have 512 KiB
	giveBackWithin  = 20 * time.Second
)

// topic is a sink of messages, seen through a subscription. What is pulled stays
// unacked, and others don't get it, until close gives it back; done acks.
type topic struct {
	subscription string
	wait         time.Duration
	client       *pubsub.Client
	spool        *spool
	letters      map[string]*topicLetter
	stop         context.CancelFunc
	extending    sync.WaitGroup

	mu      sync.Mutex
	handles map[string]string // the ack IDs of what is pulled and not acked, by Pub/Sub's message ID
}

// topicLetter is a letter's messages.
type topicLetter struct {
	attributes map[string]string
	pieces     map[int]place
	count      int
	ids        []string // Pub/Sub's
}

func openTopic(ctx context.Context, options []option.ClientOption, f from) (sink, error) {
	name, err := project(f.subscription)
	if err != nil {
		return nil, err
	}
	client, err := pubsub.NewClient(ctx, name, options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to Pub/Sub: %w", err)
	}
	s, err := newSpool()
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	extend, stop := context.WithCancel(context.WithoutCancel(ctx))
	t := &topic{
		subscription: f.subscription, wait: time.Duration(f.wait), client: client, spool: s, stop: stop,
		letters: make(map[string]*topicLetter), handles: make(map[string]string),
	}
	t.extending.Go(func() { t.extend(extend) })
	return t, nil
}

func (t *topic) String() string { return "subscription " + t.subscription }

// extend keeps what is pulled from being delivered again, until ctx ends.
func (t *topic) extend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(extendEvery):
		}
		_ = t.setDeadlines(ctx, deadlineSeconds) // what isn't extended comes again: twice is harmless
	}
}

func (t *topic) setDeadlines(ctx context.Context, seconds int32) error {
	t.mu.Lock()
	handles := make([]string, 0, len(t.handles))
	for _, handle := range t.handles {
		handles = append(handles, handle)
	}
	t.mu.Unlock()
	for some := range slices.Chunk(handles, handlesACall) {
		err := t.client.SubscriptionAdminClient.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{
			Subscription: t.subscription, AckIds: some, AckDeadlineSeconds: seconds,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// heads pulls until nothing new has come for a while.
func (t *topic) heads(ctx context.Context) ([]Head, error) {
	foreign := 0
	for quiet := time.Now(); time.Since(quiet) < t.wait; {
		messages, err := t.pull(ctx, t.wait-time.Since(quiet))
		if err != nil {
			return nil, fmt.Errorf("pulling from %s: %w", t.subscription, err)
		}
		var fresh []string
		for _, m := range messages {
			id := m.GetMessage().GetMessageId()
			t.mu.Lock()
			_, again := t.handles[id]
			t.handles[id] = m.GetAckId() // of the latest delivery
			t.mu.Unlock()
			if again {
				continue
			}
			quiet = time.Now()
			fresh = append(fresh, m.GetAckId())
			ok, err := t.take(m.GetMessage())
			if err != nil {
				return nil, err
			}
			if !ok {
				foreign++
			}
		}
		if len(fresh) > 0 { // the subscription's own deadline may be shorter than extendEvery
			err := t.client.SubscriptionAdminClient.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{
				Subscription: t.subscription, AckIds: fresh, AckDeadlineSeconds: deadlineSeconds,
			})
			if err != nil {
				return nil, fmt.Errorf("holding messages of %s: %w", t.subscription, err)
			}
		}
	}
	var heads []Head
	for key, l := range t.letters {
		stored, err := deadletter.TopicHead(l.attributes)
		if err != nil {
			return nil, err // take has read it
		}
		h := Head{Stored: stored, key: key}
		for _, p := range l.pieces {
			h.Size += int64(p.size)
		}
		if len(l.pieces) < l.count {
			h.Broken = fmt.Sprintf("%d of its %d pieces have come; the others may be on their way, or with another subscriber", len(l.pieces), l.count)
		}
		heads = append(heads, h)
	}
	if foreign > 0 {
		heads = append(heads, Head{Broken: fmt.Sprintf("%d messages of the subscription are no dead letters", foreign)})
	}
	return heads, nil
}

// pull returns what one call gives, within the time.
func (t *topic) pull(ctx context.Context, within time.Duration) ([]*pubsubpb.ReceivedMessage, error) {
	one, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, err := t.client.SubscriptionAdminClient.Pull(one, &pubsubpb.PullRequest{Subscription: t.subscription, MaxMessages: pullMessages})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if one.Err() != nil || status.Code(err) == codes.DeadlineExceeded {
			return nil, nil // it had nothing to give
		}
		return nil, err
	}
	return answer.GetReceivedMessages(), nil
}

// take keeps a message, and reports whether it is a piece of a letter.
func (t *topic) take(m *pubsubpb.PubsubMessage) (bool, error) {
	id, number, count, ok := deadletter.TopicPiece(m.GetAttributes())
	if !ok {
		return false, nil
	}
	// Copies of a letter, from a message that was delivered twice, are one; pieces of
	// different cuts are no letter together.
	key := fmt.Sprintf("%s %d", id, count)
	l := t.letters[key]
	if l == nil {
		l = &topicLetter{attributes: m.GetAttributes(), pieces: make(map[int]place), count: count}
		t.letters[key] = l
	}
	l.ids = append(l.ids, m.GetMessageId())
	if _, there := l.pieces[number]; there {
		return true, nil
	}
	p, err := t.spool.put(m.GetData())
	l.pieces[number] = p
	return true, err
}

func (t *topic) load(_ context.Context, h *Head) (deadletter.Stored, error) {
	l := t.letters[h.key]
	if l == nil {
		return deadletter.Stored{}, errBroken
	}
	var data []byte
	for number := range l.count {
		piece, err := t.spool.get(l.pieces[number+1])
		if err != nil {
			return deadletter.Stored{}, err
		}
		data = append(data, piece...)
	}
	return deadletter.TopicLetter(l.attributes, data)
}

// done acks the letters' messages.
func (t *topic) done(ctx context.Context, heads []*Head) error {
	var ids, handles []string
	t.mu.Lock()
	for _, h := range heads {
		for _, id := range t.letters[h.key].ids {
			if handle, ok := t.handles[id]; ok {
				ids, handles = append(ids, id), append(handles, handle)
			}
		}
	}
	t.mu.Unlock()
	for some := range slices.Chunk(handles, handlesACall) {
		err := t.client.SubscriptionAdminClient.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: t.subscription, AckIds: some})
		if err != nil {
			return err
		}
	}
	t.mu.Lock()
	for _, id := range ids {
		delete(t.handles, id)
	}
	t.mu.Unlock()
	return nil
}

// close gives back what wasn't acked, at once.
func (t *topic) close() error {
	t.stop()
	t.extending.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), giveBackWithin)
	defer cancel()
	err := t.setDeadlines(ctx, 0)
	if err != nil {
		err = fmt.Errorf("giving messages back to %s, which it delivers again within %d seconds: %w", t.subscription, deadlineSeconds, err)
	}
	_ = t.client.Close() // there is nothing on its way
	_ = t.spool.close()
	return err
}
