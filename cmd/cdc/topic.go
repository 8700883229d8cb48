package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"

	"beamcdc/cmd/cdc/internal/diff"
)

// topic is where messages are published to.
type topic struct {
	client    *pubsub.Client
	publisher *pubsub.Publisher
}

// topicProject returns a topic's project.
func topicProject(name string) (string, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[2] != "topics" || parts[1] == "" || parts[3] == "" {
		return "", fmt.Errorf("-topic %q is not of the form projects/PROJECT/topics/NAME", name)
	}
	return parts[1], nil
}

func openTopic(ctx context.Context, name string, options ...option.ClientOption) (*topic, error) {
	project, err := topicProject(name)
	if err != nil {
		return nil, err
	}
	client, err := pubsub.NewClient(ctx, project, options...)
	if err != nil {
		return nil, fmt.Errorf("creating Pub/Sub's client: %w", err)
	}
	return &topic{client, client.Publisher(name)}, nil
}

// publish publishes messages in no order and waits until Pub/Sub has them all.
func (t *topic) publish(ctx context.Context, messages []diff.Message) error {
	results := make([]*pubsub.PublishResult, len(messages))
	for i, m := range messages {
		results[i] = t.publisher.Publish(ctx, &pubsub.Message{Data: m.Data, Attributes: m.Attributes})
	}
	var errs []error
	for _, r := range results {
		if _, err := r.Get(ctx); err != nil && len(errs) == 0 { // they mostly fail alike
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (t *topic) close() {
	t.publisher.Stop()
	_ = t.client.Close() // all that was published is there
}
