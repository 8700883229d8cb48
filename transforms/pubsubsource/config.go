package pubsubsource

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/api/option"

	"beamcdc/internal/endpoint"
)

// Defaults of a Config's zero values. The bounds on what is outstanding hold a
// window of 5 s, and the time to write it, at 25,000 messages a second of 1 kB.
const (
	DefaultMaxOutstandingMessages = 250_000
	DefaultMaxOutstandingBytes    = 256 << 20
	DefaultStreams                = 4
	DefaultMaxExtension           = 30 * time.Minute
	DefaultLease                  = 30 * time.Second
	DefaultBundleMessages         = 4_000
	DefaultBundleBytes            = 16 << 20
	DefaultBundleTime             = 100 * time.Millisecond
)

// Config says which subscription is read, and how. It is a DoFn's configuration:
// it survives serialization, and holds no credential.
type Config struct {
	// Subscription is the subscription's full name, "projects/P/subscriptions/S".
	// Its project may be another than the job's.
	Subscription string

	// RunnerOwned leaves the subscription to the runner, acks included: Dataflow.
	// All fields but Subscription are without effect then.
	RunnerOwned bool

	// Endpoint is the service's host:port. Empty means Google's, or what the
	// environment variable PUBSUB_EMULATOR_HOST names.
	Endpoint string
	// Plaintext connects to Endpoint without TLS and without credentials: for
	// emulators. A PUBSUB_EMULATOR_HOST is always spoken to in plain text.
	Plaintext bool
	// AllowPlaintext lets plain text leave this machine: see package endpoint.
	AllowPlaintext bool

	// MaxOutstandingMessages and MaxOutstandingBytes bound what was taken and is
	// not yet acked; at either bound no more is taken. They default to 250,000
	// messages and 256 MiB (data, unpacked, attributes and ordering keys). A service that
	// packs several messages into one response can exceed the first by one
	// response a stream; any can exceed the second by one. The pipeline needs a
	// multiple of the bytes: on Prism, with a window, the heap was four to eight
	// times what was outstanding.
	MaxOutstandingMessages int
	MaxOutstandingBytes    int64

	// Streams is the number of streams that messages arrive on; a stream of the
	// real service carries about 10 MB/s. It defaults to 4.
	Streams int

	// MaxExtension is for how long a message's lease is extended at most. A
	// message that is not acked by then is given up: Pub/Sub delivers it again. It
	// defaults to 30 minutes.
	MaxExtension time.Duration
	// Lease is how long Pub/Sub waits for a process that died before it delivers
	// the messages again that this process had not acked. It defaults to 30 s; the
	// service takes 10 s to 10 minutes.
	Lease time.Duration

	// BundleMessages, BundleBytes and BundleTime end a bundle, whichever is reached
	// first; the time runs from the bundle's first message, so it is also the most
	// that a message waits here when there are few. They default to 4,000 messages,
	// 16 MiB and 100 ms.
	BundleMessages int
	BundleBytes    int64
	BundleTime     time.Duration
}

// ErrNoSubscription is the error of a Config whose Subscription is no full name.
var ErrNoSubscription = errors.New(`it must read "projects/PROJECT/subscriptions/NAME"`)

// ParseSubscription splits "projects/P/subscriptions/S" into P and S.
func ParseSubscription(name string) (project, id string, err error) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[1] == "" || parts[2] != "subscriptions" || parts[3] == "" {
		return "", "", fmt.Errorf("subscription %q: %w", name, ErrNoSubscription)
	}
	return parts[1], parts[3], nil
}

// Validate reports what no run can succeed with.
func (c Config) Validate() error {
	if _, _, err := ParseSubscription(c.Subscription); err != nil {
		return err
	}
	negative := c.MaxOutstandingMessages < 0 || c.MaxOutstandingBytes < 0 || c.Streams < 0 || c.MaxExtension < 0 ||
		c.BundleMessages < 0 || c.BundleBytes < 0 || c.BundleTime < 0
	if negative {
		return fmt.Errorf("subscription %q: bounds and times must not be negative", c.Subscription)
	}
	if c.Lease != 0 && (c.Lease < 10*time.Second || c.Lease > 10*time.Minute) {
		return fmt.Errorf("subscription %q: the lease is %s, and must be 10s to 10m", c.Subscription, c.Lease)
	}
	if c.Plaintext && c.Endpoint == "" {
		return fmt.Errorf("subscription %q: plain text needs an endpoint", c.Subscription)
	}
	return nil
}

// withDefaults fills in the zero values.
func (c Config) withDefaults() Config {
	setDefault(&c.MaxOutstandingMessages, DefaultMaxOutstandingMessages)
	setDefault(&c.MaxOutstandingBytes, DefaultMaxOutstandingBytes)
	setDefault(&c.Streams, DefaultStreams)
	setDefault(&c.MaxExtension, DefaultMaxExtension)
	setDefault(&c.Lease, DefaultLease)
	setDefault(&c.BundleMessages, DefaultBundleMessages)
	setDefault(&c.BundleBytes, DefaultBundleBytes)
	setDefault(&c.BundleTime, DefaultBundleTime)
	c.Streams = min(c.Streams, c.MaxOutstandingMessages)
	return c
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// where names the service for an error.
func (c Config) where() string {
	if c.Endpoint != "" {
		return c.Endpoint
	}
	if host := os.Getenv("PUBSUB_EMULATOR_HOST"); host != "" {
		return host + " (PUBSUB_EMULATOR_HOST)"
	}
	return "pubsub.googleapis.com"
}

// ClientOptions are the options of every client of the subscription's service. The
// error says that it would be spoken to in plain text and must not.
func (c Config) ClientOptions() ([]option.ClientOption, error) {
	options, err := endpoint.PubSub(c.Endpoint, c.Plaintext, c.AllowPlaintext)
	if err != nil {
		return nil, fmt.Errorf("connecting to Pub/Sub: %w", err)
	}
	return options, nil
}
