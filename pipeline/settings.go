package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/envelope"
	"beamcdc/transforms/deadletter"
)

// Setting is one scalar of the configuration. Settings is the one table of
// them: the file's keys, the flags, and the parameters of the Flex Template.
type Setting struct {
	Key     string // in the file: "dead_letters.topic"
	Flag    string // of cmd/launch and of the template: "dead_letter_topic"
	Kind    string // "text", "true or false", "number" or "duration"
	Default string // as text; "" where the default is nothing, or depends
	Help    string

	field func(*Options) any // a pointer to the value
}

var settings = []Setting{
	setting("source.subscription", "subscription", "",
		"Subscription to read, as projects/PROJECT/subscriptions/NAME.",
		func(o *Options) any { return &o.Source.Subscription }),
	setting("source.format", "format", "auto",
		"Envelope of the messages: "+strings.Join(envelope.Formats(), ", ")+".",
		func(o *Options) any { return &o.Source.Format }),
	setting("source.epoch", "epoch", "0",
		"Number that leads every sequence. Raise it after a failover, a recreated slot, or a snapshot that must win.",
		func(o *Options) any { return &o.Source.Epoch }),
	setting("source.unavailable_placeholder", "unavailable_placeholder", "__debezium_unavailable_value",
		"Text that stands for a value that the source left out because it is unchanged.",
		func(o *Options) any { return &o.Source.UnavailablePlaceholder }),
	setting("source.flat_prefix", "flat_prefix", "__",
		"What begins the names of a flattened message's metadata: the transformation's add.fields.prefix.",
		func(o *Options) any { return &o.Source.FlatPrefix }),
	setting("source.flat_fields", "flat_fields", "",
		"The transformation's add.fields, such as op,lsn,source.lsn. Nothing else is metadata then; otherwise all that has the prefix is.",
		func(o *Options) any { return &o.Source.FlatFields }),
	setting("source.avro_schema", "avro_schema", "",
		"File with the schema of messages in Avro that neither hold nor name theirs, read at the start.",
		func(o *Options) any { return &o.Source.AvroSchema }),
	setting("source.schema_registry", "schema_registry", "",
		"URL of the schema registry that Avro messages name their schemas in: one with Confluent's API.",
		func(o *Options) any { return &o.Source.SchemaRegistry }),
	setting("source.schema_registry_auth_file", "schema_registry_auth_file", "",
		"File on the workers that holds USER:PASSWORD for the schema registry.",
		func(o *Options) any { return &o.Source.SchemaRegistryAuthFile }),
	setting("create_tables", "create_tables", "false",
		"Create missing tables and datasets in BigQuery.",
		func(o *Options) any { return &o.CreateTables }),
	setting("unlisted_tables", "unlisted_tables", "reject",
		"What becomes of changes to tables that no rule lists: reject makes dead letters, filter counts them.",
		func(o *Options) any { return &o.UnlistedTables }),
	setting("window", "window", "5s",
		"Span of arrival time in which only the last change of a key is written.",
		func(o *Options) any { return &o.Window }),
	setting("dead_letters.topic", "dead_letter_topic", "",
		"Topic for dead letters, as projects/PROJECT/topics/NAME.",
		func(o *Options) any { return &o.DeadLetters.Topic }),
	setting("dead_letters.table", "dead_letter_table", "",
		"BigQuery table for dead letters, as [PROJECT.]DATASET.TABLE.",
		func(o *Options) any { return &o.DeadLetters.Table }),
	setting("dead_letters.directory", "dead_letter_directory", "",
		"Directory for dead letters on the worker's file system, a JSON file each.",
		func(o *Options) any { return &o.DeadLetters.Directory }),
	setting("dead_letters.data", "dead_letter_data", deadletter.DataKeep,
		"What dead letters hold of their messages' data, attributes and ordering keys: keep has them, redact leaves them out, encrypt encrypts them.",
		func(o *Options) any { return &o.DeadLetters.Data }),
	setting("dead_letters.key", "dead_letter_key", "",
		"Where the key is that dead letters are encrypted by: projects/PROJECT/secrets/NAME, env:VARIABLE or a file on the workers.",
		func(o *Options) any { return &o.DeadLetters.Key }),
	setting("runtime.project", "bigquery_project", "",
		"Project of tables that name none. Defaults to the subscription's.",
		func(o *Options) any { return &o.Runtime.Project }),
	setting("runtime.location", "bigquery_location", "",
		"Location of datasets that are created, such as EU.",
		func(o *Options) any { return &o.Runtime.Location }),
	setting("runtime.bigquery_rest_endpoint", "bigquery_rest_endpoint", "",
		"URL of BigQuery's REST API, for an emulator.",
		func(o *Options) any { return &o.Runtime.BigQueryRESTEndpoint }),
	setting("runtime.bigquery_grpc_endpoint", "bigquery_grpc_endpoint", "",
		"host:port of BigQuery's Storage Write API, for an emulator.",
		func(o *Options) any { return &o.Runtime.BigQueryGRPCEndpoint }),
	setting("runtime.bigquery_plaintext", "bigquery_plaintext", "false",
		"Speak to BigQuery without TLS and credentials, for an emulator.",
		func(o *Options) any { return &o.Runtime.BigQueryPlaintext }),
	setting("runtime.pubsub_endpoint", "pubsub_endpoint", "",
		"host:port of Pub/Sub, for an emulator.",
		func(o *Options) any { return &o.Runtime.PubSubEndpoint }),
	setting("runtime.pubsub_plaintext", "pubsub_plaintext", "false",
		"Speak to Pub/Sub without TLS and credentials, for an emulator.",
		func(o *Options) any { return &o.Runtime.PubSubPlaintext }),
	setting("runtime.allow_plaintext", endpoint.Flag, "false",
		"Speak plain text to other machines than this one, where addresses or PUBSUB_EMULATOR_HOST say so: for a network of containers that nobody else is on.",
		func(o *Options) any { return &o.Runtime.AllowPlaintext }),
	setting("runtime.max_outstanding_messages", "max_outstanding_messages", "250000",
		"Messages that may be taken and not acked yet. Without effect on Dataflow.",
		func(o *Options) any { return &o.Runtime.MaxOutstandingMessages }),
	setting("runtime.max_outstanding_bytes", "max_outstanding_bytes", "268435456",
		"Bytes of messages that may be taken and not acked yet. Without effect on Dataflow.",
		func(o *Options) any { return &o.Runtime.MaxOutstandingBytes }),
	setting("runtime.target_request_bytes", "target_request_bytes", "2097152",
		"Bytes at which an append to BigQuery is sent.",
		func(o *Options) any { return &o.Runtime.TargetRequestBytes }),
	setting("runtime.max_request_bytes", "max_request_bytes", "9000000",
		"Bytes that no append to BigQuery exceeds.",
		func(o *Options) any { return &o.Runtime.MaxRequestBytes }),
	setting("runtime.max_publish_bytes", "max_publish_bytes", "10000000",
		"Bytes that no dead letter's message exceeds; a larger letter is published in pieces.",
		func(o *Options) any { return &o.Runtime.MaxPublishBytes }),
	setting("runtime.retry_for", "retry_for", "10m",
		"How long an append is tried again without progress before its bundle fails.",
		func(o *Options) any { return &o.Runtime.RetryFor }),
	setting("runtime.finish_for", "finish_for", "",
		"How long the end of a bundle waits for its last appends. Then the bundle is repeated on Dataflow, after 30s by default; elsewhere the rows wait beside, after 10s, while others are written.",
		func(o *Options) any { return &o.Runtime.FinishFor }),
	setting("runtime.truncate_wait", "truncate_wait", "10s",
		"How long a truncate waits for rows on their way before it deletes the table's keys, besides max_staleness. The same for all pipelines that write a table.",
		func(o *Options) any { return &o.Runtime.TruncateWait }),
	setting("runtime.trace_id", "trace_id", "",
		"Name of the job in BigQuery's diagnostics.",
		func(o *Options) any { return &o.Runtime.TraceID }),
}

func setting(key, flag, otherwise, help string, field func(*Options) any) Setting {
	return Setting{Key: key, Flag: flag, Kind: kindOf(field(new(Options))), Default: otherwise, Help: help, field: field}
}

// Settings returns every scalar of the configuration, in the order of the file.
func Settings() []Setting { return slices.Clone(settings) }

func kindOf(field any) string {
	switch field.(type) {
	case *string:
		return "text"
	case *bool:
		return "true or false"
	case *time.Duration:
		return "duration"
	}
	return "number"
}

// Set overrides the setting with this flag or key by its text. Validate then
// names the flag. It returns an error for an unknown name and for a text that
// does not fit the setting's kind, and leaves the options unchanged.
func (o *Options) Set(name, text string) error {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Flag == name || s.Key == name })
	if i < 0 {
		return fmt.Errorf("there is no setting %q", name)
	}
	s := &settings[i]
	if err := setScalar(s.field(o), text); err != nil {
		return fmt.Errorf("--%s: %w", s.Flag, err)
	}
	if o.positions == nil {
		o.positions = make(map[string]position)
	}
	o.positions[s.Key] = position{flag: s.Flag}
	// What the file had wrong with it is overridden too.
	o.findings = slices.DeleteFunc(o.findings, func(f Finding) bool { return f.Key == s.Key })
	return nil
}

// setScalar sets what field points to from its text.
func setScalar(field any, text string) error {
	switch field := field.(type) {
	case *string:
		*field = text
	case *bool:
		switch text {
		case "true", "false":
			*field = text == "true"
		default:
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case *uint64:
		n, err := parseCount(text, math.MaxUint64)
		if err != nil {
			return err
		}
		*field = n
	case *int64:
		n, err := parseCount(text, math.MaxInt64)
		if err != nil {
			return err
		}
		*field = int64(n)
	case *int:
		n, err := parseCount(text, math.MaxInt)
		if err != nil {
			return err
		}
		*field = int(n)
	case *time.Duration:
		d, err := parseDuration(text)
		if err != nil {
			return err
		}
		*field = d
	default:
		panic(fmt.Sprintf("pipeline: a setting of type %T", field))
	}
	return nil
}

// parseCount reads a whole number, 0 or more, in decimal digits.
func parseCount(text string, limit uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > limit:
		return 0, fmt.Errorf("%s is more than %d", text, limit)
	case err != nil && strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%s is negative", text)
	case err != nil:
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	return n, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf(`%q is no duration such as 5s or 15m`, text)
	}
	return d, nil
}
