package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/envelope"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/decode"
	"beamcdc/transforms/pubsubsource"
	"beamcdc/transforms/secret"
)

// Validate returns everything that is wrong with the options as Findings, what
// Parse found in the file included, or nil. It asks no service; Check does.
func (o *Options) Validate() error {
	found := Findings(append([]Finding(nil), o.findings...))
	report := func(key, format string, args ...any) {
		found = append(found, o.find(key, fmt.Sprintf(format, args...)))
	}
	o.validateSource(report)
	o.validateTables(report)
	o.validateDeadLetters(report)
	o.validateRuntime(report)
	if len(found) == 0 {
		return nil
	}
	return o.withoutEchoes(found).sorted()
}

// reporter takes a finding about a key.
type reporter func(key, format string, args ...any)

// withoutEchoes drops what only follows from a finding of reading the file: a
// key whose value could not be read is not missing.
func (o *Options) withoutEchoes(found Findings) Findings {
	unread := make(map[string]bool)
	for _, f := range o.findings {
		unread[f.Key] = true
	}
	kept := found[:len(o.findings):len(o.findings)]
	for _, f := range found[len(o.findings):] {
		follows := unread[f.Key] || unread[""] && f.Line == 0
		if !follows {
			kept = append(kept, f)
		}
	}
	return kept
}

func (o *Options) validateSource(report reporter) {
	if o.Source.Subscription == "" {
		report("source.subscription", "it is missing; give the subscription to read, projects/PROJECT/subscriptions/NAME")
	} else if _, _, err := pubsubsource.ParseSubscription(o.Source.Subscription); err != nil {
		report("source.subscription", "%v", err)
	}
	o.validateDecoding(report)
	if !slices.Contains([]string{"", "reject", "filter"}, o.UnlistedTables) {
		report("unlisted_tables", "%q is none of reject, filter", o.UnlistedTables)
	}
	switch {
	case o.Window < 0 || o.Window == 0 && o.isSet("window"):
		report("window", "%s is no span of time; the default is %s", o.Window, defaultWindow)
	case o.Window > maxOwnWindow && !o.RunnerOwnsSource && !o.AnyRunner:
		report("window", "%s is longer than %s: a message is acked after its window has ended and its rows are written, and off Dataflow its ack deadline is extended for %s in all; it would come again for ever",
			o.Window, maxOwnWindow, pubsubsource.DefaultMaxExtension)
	}
}

// maxOwnWindow is the longest window where our own source acks: half of the time for
// which it extends a message's ack deadline, so that the other half is left to write.
const maxOwnWindow = pubsubsource.DefaultMaxExtension / 2

// validateDecoding reports what keeps messages from being decoded. A setting that is
// wrong is told apart by leaving the others out.
func (o *Options) validateDecoding(report reporter) {
	if f := o.Source.Format; f != "" && !slices.Contains(envelope.Formats(), f) {
		report("source.format", "%q is none of %s", f, strings.Join(envelope.Formats(), ", "))
	}
	if _, err := o.avroSchema(); err != nil {
		report("source.avro_schema", "it can't be read: %v", err)
	}
	all := o.envelope()
	for key, alone := range map[string]envelope.Options{
		"source.unavailable_placeholder": {UnavailablePlaceholder: all.UnavailablePlaceholder},
		"source.avro_schema":             {AvroSchema: all.AvroSchema},
		"source.flat_prefix":             {FlatPrefix: all.FlatPrefix},
		"source.flat_fields":             {FlatFields: all.FlatFields},
	} {
		if _, err := envelope.New(alone); err != nil {
			report(key, "%v", err)
		}
	}
	registry := decode.SchemaConfig{RegistryURL: o.Source.SchemaRegistry, RegistryAuthFile: o.Source.SchemaRegistryAuthFile, AllowPlaintext: o.Runtime.AllowPlaintext}
	if err := (decode.Config{Schemas: registry}).Validate(); err != nil {
		report("source.schema_registry", "%v", err)
	}
}

func (o *Options) validateDeadLetters(report reporter) {
	d := o.DeadLetters
	given := 0
	for _, sink := range []string{d.Topic, d.Table, d.Directory} {
		if sink != "" {
			given++
		}
	}
	switch {
	case given == 0:
		report("dead_letters", "it is missing; give one of topic, table and directory: what can't be processed must go somewhere")
		return
	case given > 1:
		report("dead_letters", "give just one of topic, table and directory")
	}
	if d.Directory != "" && o.RunnerOwnsSource {
		report("dead_letters.directory", "workers of this runner have no file system that lasts; use topic or table")
	}
	o.validateProtection(report)
	if d.Topic != "" {
		if err := o.deadLetters().Validate(); err != nil && given == 1 {
			report("dead_letters.topic", "%v", err)
		}
	}
}

// validateProtection reports what is wrong with what dead letters hold of messages.
func (o *Options) validateProtection(report reporter) {
	d := o.DeadLetters
	switch {
	case d.Data != "" && !slices.Contains(deadletter.DataWords, d.Data):
		report("dead_letters.data", "%q is none of %s", d.Data, strings.Join(deadletter.DataWords, ", "))
	case d.Data == deadletter.DataEncrypt && d.Key == "":
		report("dead_letters.data", "encrypt needs dead_letters.key: projects/PROJECT/secrets/NAME, env:VARIABLE or a file on the workers")
	case d.Data != deadletter.DataEncrypt && d.Key != "":
		report("dead_letters.key", "it has a meaning with dead_letters.data: encrypt only")
	case d.Key != "":
		if _, err := secret.Parse(d.Key); err != nil {
			report("dead_letters.key", "%v", err)
		}
	}
}

func (o *Options) validateRuntime(report reporter) {
	r := &o.Runtime
	if r.BigQueryPlaintext && r.BigQueryGRPCEndpoint == "" {
		report("runtime.bigquery_plaintext", "plain text needs bigquery_grpc_endpoint")
	}
	if (r.BigQueryGRPCEndpoint == "") != (r.BigQueryRESTEndpoint == "") {
		key := "runtime.bigquery_rest_endpoint"
		if r.BigQueryRESTEndpoint == "" {
			key = "runtime.bigquery_grpc_endpoint"
		}
		report(key, "give both of bigquery_rest_endpoint and bigquery_grpc_endpoint, or none: an emulator has two addresses")
	}
	if at := r.BigQueryRESTEndpoint; at != "" && !strings.Contains(at, "://") {
		report("runtime.bigquery_rest_endpoint", "it has no scheme; write http://%s for an emulator", at)
	}
	if r.PubSubPlaintext && r.PubSubEndpoint == "" {
		report("runtime.pubsub_plaintext", "plain text needs pubsub_endpoint")
	}
	o.validatePlaintext(report)
	if o.Source.Subscription != "" {
		if _, _, err := pubsubsource.ParseSubscription(o.Source.Subscription); err == nil {
			c := o.SourceConfig()
			c.Plaintext = false
			if err := c.Validate(); err != nil {
				report("runtime", "%v", err)
			}
		}
	}
	if err := o.writer().Validate(); err != nil {
		report("runtime", "%v", err)
	}
}

// validatePlaintext reports what would be spoken to in plain text on another machine.
// The clients refuse it, too, on each worker.
func (o *Options) validatePlaintext(report reporter) {
	r := &o.Runtime
	for _, p := range []struct {
		key, address string
		plain        bool
	}{
		{"runtime.bigquery_rest_endpoint", r.BigQueryRESTEndpoint, strings.HasPrefix(r.BigQueryRESTEndpoint, "http://")},
		{"runtime.bigquery_grpc_endpoint", r.BigQueryGRPCEndpoint, r.BigQueryPlaintext},
		{"runtime.pubsub_endpoint", r.PubSubEndpoint, r.PubSubPlaintext},
	} {
		if p.plain && p.address != "" {
			if err := endpoint.Plain(p.address, r.AllowPlaintext); err != nil {
				report(p.key, "%v", err)
			}
		}
	}
	if err := endpoint.Environment(r.AllowPlaintext); err != nil {
		report("runtime.allow_plaintext", "%v", err)
	}
}

// isSet reports whether the file or a flag set the key.
func (o *Options) isSet(key string) bool {
	_, ok := o.positions[key]
	return ok
}
