package deadletter

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
)

// Config says where letters are stored: exactly one of Topic and Directory.
// (A table is a destination like any other: see Rows.)
type Config struct {
	Topic     string // projects/PROJECT/topics/TOPIC
	Directory string // on the worker's file system, created if missing

	// Endpoint is Pub/Sub's host:port. "" means Google's service, or what the
	// environment variable PUBSUB_EMULATOR_HOST names.
	Endpoint string
	// Plaintext connects to Endpoint without TLS and without credentials: for emulators.
	Plaintext bool
	// AllowPlaintext lets plain text leave this machine: see package endpoint.
	AllowPlaintext bool
	// Protection says what is stored of the messages.
	Protection Protection
	// MaxPublishBytes bounds one message with its attributes. 0 means Pub/Sub's
	// 10,000,000; a larger letter is published in pieces. An emulator may take less.
	MaxPublishBytes int
}

// Validate reports what keeps the configuration from storing letters.
func (c Config) Validate() error {
	switch {
	case c.Topic == "" && c.Directory == "":
		return errors.New("dead letters have nowhere to go")
	case c.Topic != "" && c.Directory != "":
		return errors.New("dead letters go to a topic or to a directory, not to both")
	case c.MaxPublishBytes < 0:
		return fmt.Errorf("a dead letter can't be published in pieces of %d bytes", c.MaxPublishBytes)
	case c.Topic != "":
		if _, err := topicProject(c.Topic); err != nil {
			return err
		}
	}
	return c.Protection.Validate()
}

// Check reports at start-up whether letters can be stored: the topic is there,
// or the directory, which it creates, can be written to.
func (c Config) Check(ctx context.Context) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Topic != "" {
		return checkTopic(ctx, c)
	}
	return checkDirectory(c.Directory)
}

// Write stores each PCollection<Letter> and returns for each a
// PCollection<change.Receipt> of those that are stored. A letter that can't be
// stored fails its bundle. They are not flattened into one: where both are
// unbounded, that can stall Beam's local runner.
//
// It panics on a Config that Validate refuses: the graph is built from a
// configuration that was validated.
func Write(s beam.Scope, c Config, letters ...beam.PCollection) []beam.PCollection {
	s = s.Scope("deadletter.Write")
	if err := c.Validate(); err != nil {
		panic("deadletter.Write: " + err.Error())
	}
	receipts := make([]beam.PCollection, len(letters))
	for i, l := range letters {
		// FinishBundle emits into the global window, so the letters must be in it too.
		l = beam.WindowInto(s, window.NewGlobalWindows(), l)
		if c.Topic != "" {
			receipts[i] = beam.ParDo(s, &topicFn{Config: c}, l)
		} else {
			receipts[i] = beam.ParDo(s, &directoryFn{Directory: c.Directory, Protection: c.Protection}, l)
		}
	}
	return receipts
}
