package main

import (
	"context"
	"log"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// What a request holds, and how long its rows wait for more.
const (
	batchRows = 500
	batchWait = 50 * time.Millisecond
)

// write is a change and the message to ack once it is written.
type write struct {
	event   *event
	message *pubsub.Message
}

// tables are the goroutines that write, by table.
type tables struct {
	client *managedwriter.Client

	mu      sync.Mutex
	writers map[string]chan<- write
}

// of returns the channel of a table's goroutine.
func (t *tables) of(ctx context.Context, name string) (chan<- write, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.writers[name]; w != nil {
		return w, nil
	}
	message, descriptor, err := describe()
	if err != nil {
		return nil, err
	}
	stream, err := t.client.NewManagedStream(ctx, managedwriter.WithDestinationTable(managedwriter.TableParentFromParts("demo", "shop", name)),
		managedwriter.WithSchemaDescriptor(descriptor), managedwriter.EnableWriteRetries(true))
	if err != nil {
		return nil, err
	}
	w := make(chan write, 10_000)
	t.writers[name] = w
	go (&table{stream: stream, descriptor: message}).run(ctx, w)
	return w, nil
}

// table writes one table's rows.
type table struct {
	stream     *managedwriter.ManagedStream
	descriptor protoreflect.MessageDescriptor

	rows     [][]byte
	messages []*pubsub.Message
}

func (t *table) run(ctx context.Context, writes <-chan write) {
	tick := time.NewTicker(batchWait)
	defer tick.Stop()
	for {
		select {
		case w := <-writes:
			row, err := encode(t.descriptor, w.event)
			if err != nil {
				log.Printf("message %s: %v", w.message.ID, err)
				w.message.Nack()
				continue
			}
			t.rows, t.messages = append(t.rows, row), append(t.messages, w.message)
			if len(t.rows) == batchRows {
				t.send(ctx)
			}
		case <-tick.C:
			t.send(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// send sends what there is; the messages are acked when the answer is there.
func (t *table) send(ctx context.Context) {
	if len(t.rows) == 0 {
		return
	}
	messages := t.messages
	result, err := t.stream.AppendRows(ctx, t.rows)
	t.rows, t.messages = nil, nil
	go func() {
		if err == nil {
			_, err = result.GetResult(ctx)
		}
		if err != nil {
			log.Printf("appending: %v", err)
		}
		for _, m := range messages {
			if err != nil {
				m.Nack()
			} else {
				m.Ack()
			}
		}
	}()
}
