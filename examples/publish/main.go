// Command publish publishes a file of messages, in the form that cmd/local takes,
// to the Pub/Sub that PUBSUB_EMULATOR_HOST names, or else to Google's: one after the
// other, in their order.
//
//	PUBSUB_EMULATOR_HOST=HOST:PORT publish -topic projects/demo/topics/changes messages.jsonl
//
// An emulator's topic is created where it is missing. So is -subscription, before
// anything is published: it gets what is published after it was made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	topic        = flag.String("topic", "", "the topic, projects/PROJECT/topics/NAME")
	subscription = flag.String("subscription", "", "a subscription of it to create, projects/PROJECT/subscriptions/NAME")
)

// message is a line of the file. Of the two forms of the data it has one.
type message struct {
	Data        json.RawMessage   `json:"data"` // sent byte for byte
	DataBase64  []byte            `json:"data_base64"`
	Attributes  map[string]string `json:"attributes"`
	OrderingKey string            `json:"ordering_key"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("publish: ")
	flag.Parse()
	parts := strings.Split(*topic, "/")
	if len(parts) != 4 || flag.NArg() != 1 {
		log.Fatal(`usage: publish -topic projects/PROJECT/topics/NAME [-subscription projects/PROJECT/subscriptions/NAME] FILE; "-" is standard input`)
	}
	if err := run(context.Background(), parts[1], flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, project, name string) error {
	file := os.Stdin
	if name != "-" {
		var err error
		if file, err = os.Open(name); err != nil {
			return err
		}
	}
	defer func() { _ = file.Close() }() // it was only read
	client, err := pubsub.NewClient(ctx, project)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := create(ctx, client); err != nil {
		return err
	}
	publisher := client.Publisher(*topic)
	publisher.EnableMessageOrdering = true       // or it refuses ordering keys
	publisher.PublishSettings.CountThreshold = 1 // each is waited for: none comes to share its request
	defer publisher.Stop()
	lines := json.NewDecoder(file)
	for number := 1; ; number++ {
		var m message
		if err := lines.Decode(&m); errors.Is(err, io.EOF) {
			fmt.Printf("published %d messages to %s\n", number-1, *topic)
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: message %d: %w", name, number, err)
		}
		// Waiting for each keeps their order, which only ordering keys would keep otherwise.
		if _, err := publisher.Publish(ctx, &pubsub.Message{
			Data: append(m.Data, m.DataBase64...), Attributes: m.Attributes, OrderingKey: m.OrderingKey,
		}).Get(ctx); err != nil {
			return fmt.Errorf("publishing message %d: %w", number, err)
		}
	}
}

func create(ctx context.Context, client *pubsub.Client) error {
	if os.Getenv("PUBSUB_EMULATOR_HOST") != "" {
		_, err := client.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: *topic})
		if err != nil && status.Code(err) != codes.AlreadyExists {
			return fmt.Errorf("creating the topic: %w", err)
		}
	}
	if *subscription == "" {
		return nil
	}
	_, err := client.SubscriptionAdminClient.CreateSubscription(ctx, &pubsubpb.Subscription{Name: *subscription, Topic: *topic})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return fmt.Errorf("creating the subscription: %w", err)
	}
	return nil
}
