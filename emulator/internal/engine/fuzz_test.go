package engine

import (
	"encoding/json"
	"testing"

	"github.com/duckdb/duckdb-go/v2"
	bq "google.golang.org/api/bigquery/v2"
)

// FuzzInterval: what parseInterval accepts comes back from its canonical form.
func FuzzInterval(f *testing.F) {
	for _, text := range []string{"1-2 3 4:5:6.789", "-0-1 -3 -4:5:6", "P1Y2M3W4DT5H6M7.8S", "PT0S", "0-0 0 87840000:0:0", "P-1YT-0.000001S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseInterval(text)
		if err != nil {
			return
		}
		again, err := ParseInterval(intervalText(v.(duckdb.Interval)))
		if err != nil || again != v {
			t.Fatalf("%q is %q, which is %v %v", text, intervalText(v.(duckdb.Interval)), again, err)
		}
	})
}

// FuzzTableResource makes a table of any JSON. Invariant: it returns, and DuckDB
// can be told what it accepts.
func FuzzTableResource(f *testing.F) {
	f.Add(`{"schema":{"fields":[{"name":"id","type":"INTEGER"},{"name":"s","type":"RECORD","fields":[{"name":"a\"b","type":"RANGE","rangeElementType":{"type":"DATE"}}]}]},"tableConstraints":{"primaryKey":{"columns":["id"]}},"clustering":{"fields":["id"]}}`)
	f.Add(`{"schema":{"fields":[{"name":"a","type":"NUMERIC","precision":"5","scale":"2","defaultValueExpression":"1.5"}]},"maxStaleness":"0-0 0 0:15:0"}`)
	f.Add(`{"schema":{"fields":[null]}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		resource := &bq.Table{}
		if json.Unmarshal([]byte(text), resource) != nil || checkTable(resource) != nil {
			return
		}
		s, err := NewSchema(resource, nil, nil)
		if err != nil || checkLayout(resource, s) != nil {
			return
		}
		_ = s.createSQL("t")
		_ = checkSchemaChange(TableRef{}, s.Columns, s.Columns, "", true)
	})
}
