package pipeline

import (
	"time"

	"beamcdc/schemas/table"
)

// Options is the configuration of a pipeline: what its YAML file says, in the
// same words, and what only the program that runs it knows.
type Options struct {
	Source         Source
	CreateTables   bool          // create what is missing, datasets too
	UnlistedTables string        // "reject", the default, or "filter": counted, no dead letter
	Window         time.Duration // of arrival time, in which a key's changes are coalesced. Defaults to 5 s
	Tables         []table.Rule
	DeadLetters    DeadLetters
	Runtime        Runtime

	// RunnerOwnsSource leaves the subscription to the runner, acks included:
	// Dataflow. It is set by the program that picks the runner, not by the file.
	RunnerOwnsSource bool

	// AnyRunner says that the runner isn't known, as to a program that only looks at the
	// configuration: what depends on it is no finding.
	AnyRunner bool

	file      string              // the configuration's name, for findings
	positions map[string]position // by key path, of what the file or a flag set
	findings  []Finding           // of reading the file
}

// Source is where changes come from.
type Source struct {
	Subscription           string // projects/PROJECT/subscriptions/NAME
	Format                 string // of the envelope. Defaults to "auto"
	Epoch                  uint64 // leads every sequence. Defaults to 0
	UnavailablePlaceholder string // stands for a value that the source left out. Defaults to Debezium's
	FlatPrefix             string // begins the names of a flattened message's metadata. Defaults to "__"
	FlatFields             string // the transformation's add.fields; "" for all that has the prefix
	AvroSchema             string // file with the schema of Avro messages that don't tell theirs
	SchemaRegistry         string // URL of the registry that has the schemas of Avro messages
	SchemaRegistryAuthFile string // file on the workers with USER:PASSWORD for it
}

// DeadLetters is where dead letters go: exactly one of the three.
type DeadLetters struct {
	Topic     string // projects/PROJECT/topics/NAME
	Table     string // [project.]dataset.table
	Directory string // on the worker's file system

	Data string // what is stored of messages: "keep", the default, "redact" or "encrypt"
	Key  string // where the key of "encrypt" is: projects/P/secrets/S, env:NAME, or a file on the workers
}

// Runtime is what differs from one environment to the next: addresses and
// bounds. A zero value means the default.
type Runtime struct {
	Project  string // of tables that name none, and of BigQuery's client. Defaults to the subscription's
	Location string // of datasets that are created, such as "EU". Defaults to BigQuery's

	BigQueryRESTEndpoint string // URL. Defaults to Google's service
	BigQueryGRPCEndpoint string // host:port. Defaults to Google's service
	BigQueryPlaintext    bool   // without TLS and credentials: an emulator
	PubSubEndpoint       string // host:port. Defaults to Google's service or PUBSUB_EMULATOR_HOST
	PubSubPlaintext      bool   // without TLS and credentials: an emulator
	AllowPlaintext       bool   // lets plain text leave this machine

	MaxOutstandingMessages int   // taken from the subscription and not acked yet
	MaxOutstandingBytes    int64 // the same in bytes
	TargetRequestBytes     int   // at which an append is sent
	MaxRequestBytes        int   // which no append exceeds
	MaxPublishBytes        int   // which no dead letter's message exceeds

	RetryFor  time.Duration // for how long an append is tried again without progress
	FinishFor time.Duration // for how long a bundle's end waits for its last appends
	TraceID   string        // names the job in BigQuery's diagnostics

	TruncateWait time.Duration // for how long a truncate waits for rows on their way, the same for all who write a table
}
