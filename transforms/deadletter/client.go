package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/internal/endpoint"
)

// publishers holds one publisher for each topic that this process publishes to.
// They live as long as the process: Beam never tears a DoFn down.
var publishers struct {
	sync.Mutex
	byTopic map[publisherKey]*pubsub.Publisher
}

type publisherKey struct {
	endpoint                  string
	plaintext, allowPlaintext bool
	topic                     string
}

func publisher(c Config) (*pubsub.Publisher, error) {
	publishers.Lock()
	defer publishers.Unlock()
	key := publisherKey{c.Endpoint, c.Plaintext, c.AllowPlaintext, c.Topic}
	if p, ok := publishers.byTopic[key]; ok {
		return p, nil
	}
	// Not a bundle's context: the connection outlives every bundle.
	client, err := newClient(context.Background(), c)
	if err != nil {
		return nil, err
	}
	p := client.Publisher(c.Topic)
	p.PublishSettings.DelayThreshold = 5 * time.Millisecond // FinishBundle waits for it
	p.PublishSettings.Timeout = 30 * time.Second            // with retries inside; then the bundle fails and the runner retries
	if publishers.byTopic == nil {
		publishers.byTopic = make(map[publisherKey]*pubsub.Publisher)
	}
	publishers.byTopic[key] = p
	return p, nil
}

func newClient(ctx context.Context, c Config) (*pubsub.Client, error) {
	project, err := topicProject(c.Topic)
	if err != nil {
		return nil, err
	}
	options, err := endpoint.PubSub(c.Endpoint, c.Plaintext, c.AllowPlaintext)
	if err != nil {
		return nil, fmt.Errorf("connecting to Pub/Sub for dead letters: %w", err)
	}
	client, err := pubsub.NewClient(ctx, project, options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to Pub/Sub for dead letters: %w", err)
	}
	return client, nil
}

// topicProject returns the project of "projects/PROJECT/topics/TOPIC".
func topicProject(topic string) (string, error) {
	parts := strings.Split(topic, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[1] == "" || parts[2] != "topics" || parts[3] == "" {
		return "", fmt.Errorf("topic %q is not projects/PROJECT/topics/TOPIC", topic)
	}
	return parts[1], nil
}

// checkTopic reports whether the topic can be published to, as far as looking tells.
func checkTopic(ctx context.Context, c Config) (err error) {
	client, err := newClient(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if _, err := client.TopicAdminClient.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: c.Topic}); err != nil {
		return fmt.Errorf("looking for the topic of dead letters %s: %w", c.Topic, err)
	}
	return nil
}
