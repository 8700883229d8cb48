package enrich

import (
	"cmp"
	"time"

	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// Config says where the references' services are. It travels to the workers as part of
// the configuration of the DoFns that enrich.
type Config struct {
	// Project is the one that BigQuery is asked for, and that of a table that names none.
	Project string
	// BigQueryEndpoint is the base URL of BigQuery's REST API; "" is Google's.
	BigQueryEndpoint string
	// AllowPlaintext lets plain text leave this machine: see package endpoint.
	AllowPlaintext bool
	// LoadFor bounds each read of a reference, and the first one with its repetitions.
	// Defaults to five minutes.
	LoadFor time.Duration
}

// ConfigOf returns that of the pipeline that writes the catalog's tables.
func ConfigOf(c catalog.Config) Config {
	return Config{Project: c.Project, BigQueryEndpoint: c.RESTEndpoint, AllowPlaintext: c.AllowPlaintext}
}

func (c Config) loadFor() time.Duration { return cmp.Or(c.LoadFor, 5*time.Minute) }

// sourceName names a lookup's reference to people.
func sourceName(l *table.Lookup) string {
	return cmp.Or(l.CSV, l.JSONLines, l.Parquet, l.Table, "that the query gives")
}
