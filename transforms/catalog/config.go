package catalog

import (
	"cmp"
	"time"

	"beamcdc/schemas/table"
)

// Config says where BigQuery is and which tables the pipeline writes. It travels
// to the workers as JSON, as part of every DoFn that needs a table.
type Config struct {
	// Project is the project of destinations that name none, and the one that
	// API calls are made for.
	Project string

	// RESTEndpoint is the base URL of BigQuery's REST API, such as
	// "http://127.0.0.1:9050" for an emulator. "" is BigQuery's own.
	RESTEndpoint string
	// GRPCEndpoint is host:port of the Storage Write API. "" is BigQuery's own.
	GRPCEndpoint string
	// Plaintext says that GRPCEndpoint speaks without TLS and takes no credentials.
	Plaintext bool
	// AllowPlaintext lets plain text leave this machine: see package endpoint.
	AllowPlaintext bool

	// Rules are the configured tables, in order: the first that matches a source wins.
	Rules []table.Rule

	// Reserved are tables that no rule may write, whatever a message names: the dead
	// letters'.
	Reserved []string

	// Plain are the columns of every table that is written, where the tables take
	// plain rows, appended as they come: see [Catalog.Appendable]. nil for tables of CDC
	// rows; else there are no Rules.
	Plain []table.Column

	// CreateTables says to create destination tables, and their datasets, that do
	// not exist.
	CreateTables bool
	// Location is where datasets are created: "EU", "us-central1". "" is BigQuery's default.
	Location string

	// CallTimeout bounds each call to BigQuery. Defaults to ten seconds.
	CallTimeout time.Duration
	// RefreshEvery is the least time between two reads of one table that rows of
	// an unknown schema or column ask for. Defaults to five seconds.
	RefreshEvery time.Duration
	// FenceLease is for how long the writers of tables whose truncates are followed
	// rely on what they have read of them, and so how long a truncate waits for rows
	// that are on their way. It must be the same for all who write a table. Defaults
	// to ten seconds.
	FenceLease time.Duration
}

// The defaults of [Config].
const (
	DefaultCallTimeout  = 10 * time.Second
	DefaultRefreshEvery = 5 * time.Second
	DefaultFenceLease   = 10 * time.Second
)

// withDefaults returns c with its zero values replaced.
func (c Config) withDefaults() Config {
	c.CallTimeout = cmp.Or(c.CallTimeout, DefaultCallTimeout)
	c.RefreshEvery = cmp.Or(c.RefreshEvery, DefaultRefreshEvery)
	c.FenceLease = cmp.Or(c.FenceLease, DefaultFenceLease)
	return c
}
