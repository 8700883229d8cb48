package pipeline

import (
	"cmp"
	"slices"
	"time"

	"beamcdc/schemas/envelope"
	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/decode"
	"beamcdc/transforms/fill"
	"beamcdc/transforms/keyed"
	"beamcdc/transforms/pubsubsource"
	"beamcdc/transforms/secret"
)

const defaultWindow = 5 * time.Second

// The configuration of each hop of the graph.

// SourceConfig is the source's: what pubsubsource.Drain, Close and Stats go by.
func (o *Options) SourceConfig() pubsubsource.Config {
	return pubsubsource.Config{
		Subscription:           o.Source.Subscription,
		RunnerOwned:            o.RunnerOwnsSource,
		Endpoint:               o.Runtime.PubSubEndpoint,
		Plaintext:              o.Runtime.PubSubPlaintext,
		AllowPlaintext:         o.Runtime.AllowPlaintext,
		MaxOutstandingMessages: o.Runtime.MaxOutstandingMessages,
		MaxOutstandingBytes:    o.Runtime.MaxOutstandingBytes,
	}
}

func (o *Options) decoding() decode.Config {
	return decode.Config{
		Envelope: o.envelope(),
		Schemas: decode.SchemaConfig{
			RegistryURL:      o.Source.SchemaRegistry,
			RegistryAuthFile: o.Source.SchemaRegistryAuthFile,
			PubSubEndpoint:   o.Runtime.PubSubEndpoint,
			PubSubPlaintext:  o.Runtime.PubSubPlaintext,
			AllowPlaintext:   o.Runtime.AllowPlaintext,
			RetryFor:         o.Runtime.RetryFor,
		},
	}
}

func (o *Options) envelope() envelope.Options {
	schema, _ := o.avroSchema() // Validate reports why it can't be read
	return envelope.Options{
		AvroSchema:             schema,
		FlatPrefix:             o.Source.FlatPrefix,
		FlatFields:             o.Source.FlatFields,
		Format:                 o.Source.Format,
		Epoch:                  o.Source.Epoch,
		UnavailablePlaceholder: o.Source.UnavailablePlaceholder,
		TombstoneDeletes:       slices.ContainsFunc(o.Tables, func(r table.Rule) bool { return r.Tombstones == "delete" }),
	}
}

// avroSchema reads the file with the schema of messages that don't tell theirs: the
// workers get its text.
func (o *Options) avroSchema() (string, error) {
	if o.Source.AvroSchema == "" {
		return "", nil
	}
	text, err := readFile(o.Source.AvroSchema)
	return string(text), err
}

// CatalogConfig is the catalog's of the configured tables.
func (o *Options) CatalogConfig() catalog.Config {
	c := o.catalog(o.Tables...)
	c.Reserved = o.reserved()
	return c
}

// reserved returns the table that the pipeline has for itself: no message may choose it
// by the name of its own.
func (o *Options) reserved() []string {
	if o.DeadLetters.Table == "" {
		return nil
	}
	return []string{o.DeadLetters.Table}
}

func (o *Options) catalog(rules ...table.Rule) catalog.Config {
	return catalog.Config{
		Project:        o.project(),
		RESTEndpoint:   o.Runtime.BigQueryRESTEndpoint,
		GRPCEndpoint:   o.Runtime.BigQueryGRPCEndpoint,
		Plaintext:      o.Runtime.BigQueryPlaintext,
		AllowPlaintext: o.Runtime.AllowPlaintext,
		Rules:          o.completed(rules),
		CreateTables:   o.CreateTables,
		Location:       o.Runtime.Location,
		FenceLease:     o.Runtime.TruncateWait,
	}
}

func (o *Options) rows() keyed.RowsConfig {
	return keyed.RowsConfig{
		FilterUnlisted: o.UnlistedTables == "filter",
		Epoch:          o.Source.Epoch,
		RetryFor:       o.Runtime.RetryFor,
		Histories:      o.remembers(),

		MaxRequestBytes: cmp.Or(o.Runtime.MaxRequestBytes, bqcdc.DefaultMaxRequestBytes),
	}
}

func (o *Options) filling() fill.Config {
	return fill.Config{Catalog: o.CatalogConfig(), RetryFor: o.Runtime.RetryFor}
}

// holdMargin is what a change may need on its way to where it waits, and from there on,
// on a machine that is busy.
const holdMargin = 5 * time.Second

// HoldsFor returns for how long a change may wait for what completes its row, from
// when it was taken until it is a dead letter; 0 where none waits.
func (o *Options) HoldsFor() time.Duration {
	longest := time.Duration(0)
	for i := range o.Tables {
		if r := &o.Tables[i]; keyed.Completes(r) {
			longest = max(longest, r.Fill.WithDefaults().HoldFor+2*cmp.Or(o.Window, defaultWindow)+holdMargin)
		}
	}
	return longest
}

func (o *Options) window() keyed.Window {
	return keyed.Window{Size: cmp.Or(o.Window, defaultWindow), RunnerOwnsSource: o.RunnerOwnsSource}
}

func (o *Options) writer() bqcdc.Config {
	return bqcdc.Config{
		Catalog:            o.CatalogConfig(),
		TraceID:            o.Runtime.TraceID,
		TargetRequestBytes: o.Runtime.TargetRequestBytes,
		MaxRequestBytes:    o.Runtime.MaxRequestBytes,
		RetryFor:           o.Runtime.RetryFor,
		FinishFor:          o.finishFor(),
		Aside:              !o.RunnerOwnsSource,
	}
}

// letterWriter is the configuration of the writer of the dead letters' table. Its
// requests have the default bounds: a letter's pieces are cut to fit them.
func (o *Options) letterWriter() bqcdc.Config {
	return bqcdc.Config{
		Catalog:   o.catalog(deadletter.TableRule(o.DeadLetters.Table)),
		TraceID:   o.Runtime.TraceID,
		RetryFor:  o.Runtime.RetryFor,
		FinishFor: o.finishFor(),
		Aside:     !o.RunnerOwnsSource,
	}
}

// finishFor is for how long a bundle's end waits for its appends. Where the source is
// ours their rows then wait aside, which costs little; where the runner's is, the bundle
// is repeated.
func (o *Options) finishFor() time.Duration {
	if o.Runtime.FinishFor == 0 && !o.RunnerOwnsSource {
		return 10 * time.Second
	}
	return o.Runtime.FinishFor
}

func (o *Options) deadLetters() deadletter.Config {
	return deadletter.Config{
		Topic:           o.DeadLetters.Topic,
		Directory:       o.DeadLetters.Directory,
		Endpoint:        o.Runtime.PubSubEndpoint,
		Plaintext:       o.Runtime.PubSubPlaintext,
		AllowPlaintext:  o.Runtime.AllowPlaintext,
		MaxPublishBytes: o.Runtime.MaxPublishBytes,
		Protection:      o.protection(),
	}
}

// protection is what dead letters hold of their messages.
func (o *Options) protection() deadletter.Protection {
	p := deadletter.Protection{Data: o.DeadLetters.Data}
	if o.DeadLetters.Key != "" {
		p.Key, _ = secret.Parse(o.DeadLetters.Key) // Validate reports why it can't be read
	}
	return p
}

// project is the project of tables that name none.
func (o *Options) project() string {
	if o.Runtime.Project != "" {
		return o.Runtime.Project
	}
	project, _, err := pubsubsource.ParseSubscription(o.Source.Subscription)
	if err != nil {
		return ""
	}
	return project
}
