// Command plain is the program that one writes at first: Pub/Sub's client, encoding/json,
// a dynamic message for each row and managedwriter, with a goroutine for each table.
// It writes the CDC rows of tests/internal/orders' messages and acks a message once
// BigQuery has its row. tests/bench/peers measures it beside the pipeline; it has no dead
// letters, no types but those, and no answer to a schema that changes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"os/signal"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	pubsubAddr := flag.String("pubsub", "", "host:port of Pub/Sub, in plain text")
	bigqueryAddr := flag.String("bigquery", "", "host:port of the Storage Write API, in plain text")
	subscription := flag.String("subscription", "", "projects/P/subscriptions/S")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *pubsubAddr, *bigqueryAddr, *subscription)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func plainText(address string) []option.ClientOption {
	return []option.ClientOption{
		option.WithEndpoint(address), option.WithoutAuthentication(), option.WithTelemetryDisabled(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
}

func run(ctx context.Context, pubsubAddr, bigqueryAddr, subscription string) error {
	source, err := pubsub.NewClient(ctx, "demo", plainText(pubsubAddr)...)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	bigquery, err := managedwriter.NewClient(ctx, "demo", plainText(bigqueryAddr)...)
	if err != nil {
		return err
	}
	defer func() { _ = bigquery.Close() }()
	tables := &tables{client: bigquery, writers: make(map[string]chan<- write)}
	subscriber := source.Subscriber(subscription)
	subscriber.ReceiveSettings.MaxOutstandingMessages = 50_000
	subscriber.ReceiveSettings.MaxOutstandingBytes = 256 << 20
	subscriber.ReceiveSettings.MaxExtension = time.Hour
	return subscriber.Receive(ctx, func(receiving context.Context, m *pubsub.Message) {
		var e event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			log.Printf("message %s: %v", m.ID, err)
			m.Nack()
			return
		}
		writer, err := tables.of(ctx, e.Source.Table)
		if err != nil {
			log.Printf("message %s: %v", m.ID, err)
			m.Nack()
			return
		}
		select {
		case writer <- write{&e, m}:
		case <-receiving.Done():
			m.Nack()
		}
	})
}

// event is a change as Debezium has it.
type event struct {
	Before, After map[string]any
	Op            string
	Source        struct {
		Table string
		LSN   uint64
	}
}
