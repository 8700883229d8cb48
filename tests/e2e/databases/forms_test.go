package databases

import (
	"maps"
	"strings"
	"testing"
)

// TestPostgresForms tries the other forms that Debezium gives a change, and the
// other encodings of its values.
func TestPostgresForms(t *testing.T) {
	for name, form := range map[string]struct {
		format   string
		schemas  bool
		settings map[string]string
		columns  func(*column) // how the configuration of a column differs
	}{
		"flattened": {
			format: "debezium_flat",
			settings: map[string]string{
				"transforms": "unwrap", "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
				"transforms.unwrap.delete.tombstone.handling.mode": "rewrite",
				"transforms.unwrap.add.fields":                     "op,source.schema,source.table,source.lsn,source.sequence,source.snapshot,source.connector",
			},
		},
		"CloudEvents": {
			format:   "cloudevents",
			settings: map[string]string{"capture.format": "cloudevents", "value.converter.json.schemas.enable": "false"},
		},
		"texts": {
			format: "debezium", settings: asTexts, columns: textColumn,
		},
		"texts with schemas": {
			format: "debezium", settings: asTexts, columns: textColumn, schemas: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := postgresHistory(t, form.schemas)
			h.format = form.format
			maps.Copy(h.settings, form.settings)
			for _, table := range h.tables {
				for i := range table.columns {
					if form.columns != nil {
						form.columns(&table.columns[i])
					}
				}
			}
			h.runQuietly(200)
		})
	}
}

// asTexts makes Debezium write numbers, times and bytes as texts that people read.
var asTexts = map[string]string{
	"decimal.handling.mode": "string", "time.precision.mode": "isostring", "binary.handling.mode": "hex",
}

// textColumn leaves out the hints, which such texts don't need, but for bytes'.
func textColumn(c *column) {
	c.target, _, _ = strings.Cut(c.target, ", from:")
	if strings.HasPrefix(c.source, "bytea") {
		c.target += ", from: hex"
	}
}
