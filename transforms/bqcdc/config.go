package bqcdc

import (
	"cmp"
	"fmt"
	"time"

	"beamcdc/transforms/catalog"
)

// defaultNamespace is the namespace of a writer's metrics that has none of its own.
const defaultNamespace = "bqcdc"

// The defaults and bounds of [Config].
const (
	DefaultTargetRequestBytes  = 2 << 20
	DefaultMaxRequestBytes     = 9_000_000
	DefaultMaxRequestRows      = 50_000
	DefaultMaxBufferedBytes    = 32 << 20
	DefaultMaxInflightRequests = 256
	DefaultMaxInflightBytes    = 100 << 20
	DefaultAppendTimeout       = time.Minute
	DefaultRetryFor            = 10 * time.Minute
	DefaultFinishFor           = 30 * time.Second
	DefaultWaitFor             = 30 * time.Minute
	DefaultInitialBackoff      = 250 * time.Millisecond
	DefaultMaxBackoff          = 20 * time.Second
	DefaultOwnConnections      = 40
	DefaultSharedConnections   = 8
	DefaultIdleTimeout         = 8 * time.Minute
)

// Config is the writer's configuration. It travels to the workers as JSON. The
// zero value of every field but Catalog means its default.
type Config struct {
	// Catalog says where BigQuery is and what the tables look like. One of plain
	// tables says that the rows are plain.
	Catalog catalog.Config

	// Stage is that of the dead letters. Defaults to "write".
	Stage string
	// Namespace is that of the counters. Defaults to "bqcdc".
	Namespace string

	// TraceID names the job and its version in BigQuery's own diagnostics. It is
	// sent as "beamcdc:<TraceID>". Defaults to "dev".
	TraceID string

	// TargetRequestBytes is the encoded size at which a request is sent, in bytes.
	// A larger row gets a request of its own. Defaults to 2 MiB, as in Beam's Java SDK.
	TargetRequestBytes int
	// MaxRequestBytes is the encoded size that no request exceeds, in bytes, the
	// descriptor and the framing of the connection's first request included. A row
	// that does not fit is a dead letter. Defaults to 9,000,000: servers have
	// refused more than 10,485,760, though 20 MB are documented today.
	MaxRequestBytes int
	// MaxRequestRows is the number of rows at which a request is sent. Defaults to 50,000.
	MaxRequestRows int
	// MaxBufferedBytes bounds what one bundle gathers for all its tables before it
	// sends the fullest request early, in bytes. Defaults to 32 MiB.
	MaxBufferedBytes int

	// MaxInflightRequests and MaxInflightBytes bound what the process has sent, or
	// waits to send again, and BigQuery has not acknowledged; the bytes are those of
	// rows with their messages. A bundle that would exceed them waits. Default to 256
	// requests and 100 MiB.
	MaxInflightRequests int
	MaxInflightBytes    int

	// AppendTimeout is how long a connection may say nothing while a request waits
	// for its answer, and how long opening one may take. Defaults to a minute.
	AppendTimeout time.Duration
	// RetryFor is how long a request is tried again, without progress, before its
	// bundle fails. It covers the minutes that a quota takes to refill and that the
	// Write API takes to see a new table or column. Defaults to ten minutes.
	RetryFor time.Duration
	// FinishFor bounds the wait for the bundle's last requests in FinishBundle, which
	// stalls the worker's other bundles. Then the bundle fails, and the runner's
	// repetition is the retry. Defaults to half a minute.
	FinishFor time.Duration
	// Aside is for a runner that repeats no bundles (Prism), where the source's messages
	// are not acked before their rows rest: rows of which nothing was heard for FinishFor
	// wait beside their bundles, which end, and are tried again for RetryFor. Other
	// tables' rows go on. They count against what the source may have outstanding;
	// where nothing bounds them, let the bundle fail.
	Aside bool
	// WaitFor is how long rows of a table that is altered to follow its source wait,
	// while others go on, for the Write API to know an alteration, before they fail
	// their bundle. Defaults to half an hour.
	WaitFor time.Duration
	// InitialBackoff and MaxBackoff bound the pauses between tries; each pause is
	// random, up to a limit that doubles. Default to 250 ms and 20 s.
	InitialBackoff time.Duration
	MaxBackoff     time.Duration

	// OwnConnections is for how many tables at once, or rather schemas of tables, the
	// process has a connection for each. Those that come after share others, until one
	// is closed because it is idle. Defaults to 40; Google's advice is to share beyond
	// 20, and BigQuery allows 1,000 connections in a region and 10,000 in a
	// multi-region for all workers.
	OwnConnections int
	// SharedConnections is how many connections the other tables share, of rows with a
	// sequence and of plain rows each. Defaults to 8; each carries a megabyte a second
	// at least.
	SharedConnections int
	// IdleTimeout is how long an unused stream stays open. Defaults to eight
	// minutes: the service closes it after ten.
	IdleTimeout time.Duration
}

// withDefaults returns c with its zero values replaced.
func (c Config) withDefaults() Config {
	c.Stage = cmp.Or(c.Stage, "write")
	c.Namespace = cmp.Or(c.Namespace, defaultNamespace)
	c.TraceID = cmp.Or(c.TraceID, "dev")
	c.TargetRequestBytes = cmp.Or(c.TargetRequestBytes, DefaultTargetRequestBytes)
	c.MaxRequestBytes = cmp.Or(c.MaxRequestBytes, DefaultMaxRequestBytes)
	c.MaxRequestRows = cmp.Or(c.MaxRequestRows, DefaultMaxRequestRows)
	c.MaxBufferedBytes = cmp.Or(c.MaxBufferedBytes, DefaultMaxBufferedBytes)
	c.MaxInflightRequests = cmp.Or(c.MaxInflightRequests, DefaultMaxInflightRequests)
	c.MaxInflightBytes = cmp.Or(c.MaxInflightBytes, DefaultMaxInflightBytes)
	c.AppendTimeout = cmp.Or(c.AppendTimeout, DefaultAppendTimeout)
	c.RetryFor = cmp.Or(c.RetryFor, DefaultRetryFor)
	c.FinishFor = cmp.Or(c.FinishFor, DefaultFinishFor)
	c.WaitFor = cmp.Or(c.WaitFor, DefaultWaitFor)
	c.InitialBackoff = cmp.Or(c.InitialBackoff, DefaultInitialBackoff)
	c.MaxBackoff = cmp.Or(c.MaxBackoff, DefaultMaxBackoff)
	c.OwnConnections = cmp.Or(c.OwnConnections, DefaultOwnConnections)
	c.SharedConnections = cmp.Or(c.SharedConnections, DefaultSharedConnections)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, DefaultIdleTimeout)
	return c
}

// Validate returns an error that names the first setting that makes no sense.
func (c Config) Validate() error {
	c = c.withDefaults()
	for _, setting := range []struct {
		name  string
		value int64
	}{
		{"TargetRequestBytes", int64(c.TargetRequestBytes)},
		{"MaxRequestBytes", int64(c.MaxRequestBytes)},
		{"MaxRequestRows", int64(c.MaxRequestRows)},
		{"MaxBufferedBytes", int64(c.MaxBufferedBytes)},
		{"MaxInflightRequests", int64(c.MaxInflightRequests)},
		{"MaxInflightBytes", int64(c.MaxInflightBytes)},
		{"AppendTimeout", int64(c.AppendTimeout)},
		{"RetryFor", int64(c.RetryFor)},
		{"FinishFor", int64(c.FinishFor)},
		{"WaitFor", int64(c.WaitFor)},
		{"InitialBackoff", int64(c.InitialBackoff)},
		{"MaxBackoff", int64(c.MaxBackoff)},
		{"OwnConnections", int64(c.OwnConnections)},
		{"SharedConnections", int64(c.SharedConnections)},
		{"IdleTimeout", int64(c.IdleTimeout)},
	} {
		if setting.value < 0 {
			return fmt.Errorf("validating the writer's configuration: %s is negative", setting.name)
		}
	}
	if c.TargetRequestBytes > c.MaxRequestBytes {
		return fmt.Errorf("validating the writer's configuration: TargetRequestBytes %d exceeds MaxRequestBytes %d", c.TargetRequestBytes, c.MaxRequestBytes)
	}
	if c.MaxInflightBytes < c.MaxRequestBytes {
		return fmt.Errorf("validating the writer's configuration: MaxInflightBytes %d is below MaxRequestBytes %d", c.MaxInflightBytes, c.MaxRequestBytes)
	}
	if c.InitialBackoff > c.MaxBackoff {
		return fmt.Errorf("validating the writer's configuration: InitialBackoff %v exceeds MaxBackoff %v", c.InitialBackoff, c.MaxBackoff)
	}
	return nil
}
