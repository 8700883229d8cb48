package emulator

import (
	"strings"
	"testing"
)

// A column gets a type that holds more, in the baseline, in pending changes and in
// the table's past; the key too.
func TestAlterTable_DataTypes(t *testing.T) {
	e := newEnv(t, Options{})
	e.HoldApplies(true)
	e.query("CREATE TABLE d.t (id INT64, n INT64, m NUMERIC, PRIMARY KEY (id) NOT ENFORCED) CLUSTER BY id OPTIONS (enable_change_history = TRUE)")
	w := e.writer("t", true)
	w.append(`{"id":1,"n":9007199254740993,"_CHANGE_TYPE":"UPSERT"}`, `{"id":2,"n":2,"_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t")
	w.append(`{"id":2,"n":3,"_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t") // the past has row 2 with n = 2
	w.append(`{"id":3,"n":4,"_CHANGE_TYPE":"UPSERT"}`, `{"id":1,"n":9007199254740995,"_CHANGE_TYPE":"UPSERT"}`)
	e.query("ALTER TABLE d.t ALTER COLUMN id SET DATA TYPE NUMERIC, ALTER COLUMN n SET DATA TYPE NUMERIC, ALTER COLUMN m SET DATA TYPE FLOAT64")
	e.want("t", `{"id":"1","n":"9007199254740995","m":null}`, `{"id":"2","n":"3","m":null}`, `{"id":"3","n":"4","m":null}`)
	e.writer("t", true).append(`{"id":"AMqaOw==","n":"AMqaOw==","m":0.5,"_CHANGE_TYPE":"UPSERT"}`) // 1 as NUMERIC's bytes
	e.want("t", `{"id":"1","n":"1","m":0.5}`, `{"id":"2","n":"3","m":null}`, `{"id":"3","n":"4","m":null}`)
	e.merge("t")
	e.query("ALTER TABLE d.t ALTER COLUMN n SET DATA TYPE FLOAT64")
	e.want("t", `{"id":"1","n":1,"m":0.5}`, `{"id":"2","n":3,"m":null}`, `{"id":"3","n":4,"m":null}`)
	wantStrings(t, e.query("SELECT n FROM CHANGES(TABLE d.t, NULL, NULL) WHERE id = 2 AND _CHANGE_TYPE <> 'DELETE' ORDER BY n"), "[2]", "[3]")
	wantStrings(t, e.query("SELECT data_type FROM d.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 't' ORDER BY ordinal_position"), "[NUMERIC]", "[FLOAT64]", "[FLOAT64]")
	for statement, want := range map[string]string{
		"ALTER TABLE d.t ALTER COLUMN n SET DATA TYPE INT64":       "changed type from FLOAT to INTEGER",
		"ALTER TABLE d.t ALTER COLUMN id SET DATA TYPE BIGNUMERIC": "changed type from NUMERIC to BIGNUMERIC",
		"ALTER TABLE d.t ALTER COLUMN id SET DATA TYPE FLOAT64":    "id",
	} {
		if _, err := e.bq.Query(statement).Read(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}
