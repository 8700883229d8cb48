package ddl

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"beamcdc/emulator"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// cases are command lines, whose output is in testdata by their names.
var cases = map[string][]string{
	"shop":            {"-config", "../../../../examples/shop/pipeline.yaml"},
	"learned":         {"-config", "testdata/learned.yaml", "-messages", "../../../../examples/shop/messages.jsonl"},
	"postgres_plain":  {"-config", "testdata/learned.yaml", "-messages", "../../../../tests/e2e/databases/testdata/captured/debezium_postgres_plain.jsonl"},
	"postgres_schema": {"-config", "testdata/learned.yaml", "-messages", "../../../../tests/e2e/databases/testdata/captured/debezium_postgres_schemas.jsonl"},
	"raw":             {"-config", "testdata/raw.yaml", "-messages", "testdata/raw.jsonl"},
	"schemas":         {"-config", "testdata/schemas.yaml", "-schema", "testdata/orders.schema.json"},
	"hints":           {"-config", "testdata/hints.yaml", "-schema", "testdata/orders.schema.json"},
	"recreate":        {"-config", "testdata/recreate.yaml", "-schema", "testdata/orders.schema.json"},
}

// fails are the cases with a table that can't be planned.
var fails = map[string]bool{"recreate": true}

// runs returns what the command prints, and its error.
func runs(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Run(t.Context(), args, strings.NewReader(""), &out)
	return out.String(), err
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".sql")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, -update writes it anew):\n%s", path, diff)
	}
}

func TestRun_offline(t *testing.T) {
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := runs(t, append(args, "-offline")...)
			if (err != nil) != fails[name] {
				t.Error(err)
			}
			golden(t, name, got)
		})
	}
}

func startEmulator(t *testing.T) *emulator.Server {
	t.Helper()
	e, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // its tables are of no more use
	return e
}

// created are the CREATE TABLE statements of an output, by their tables.
func created(out string) map[string]string {
	statements := map[string]string{}
	for part := range strings.SplitSeq(out, ";\n") {
		if i := strings.Index(part, "CREATE TABLE `"); i >= 0 {
			statement := part[i:]
			name, _, _ := strings.Cut(strings.TrimPrefix(statement, "CREATE TABLE `"), "`")
			statements[name] = statement + ";\n"
		}
	}
	return statements
}

// look reads a table back, as the pipeline would.
func look(t *testing.T, e *emulator.Server, name string) *table.Table {
	t.Helper()
	c, err := catalog.Open(t.Context(), catalog.Config{Project: "demo", RESTEndpoint: e.RESTAddr()})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := table.ParseName(name, "demo")
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Look(t.Context(), parsed)
	if err != nil || found == nil {
		t.Fatalf("%s: %v, %v", name, found, err)
	}
	return found
}

// What -apply makes is what was printed, to the last option, and then there is nothing
// left to do.
func TestRun_apply(t *testing.T) {
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			e := startEmulator(t)
			args := append(args, "-bigquery_rest_endpoint", e.RESTAddr())
			printed, err := runs(t, args...)
			if (err != nil) != fails[name] {
				t.Fatal(err)
			}
			if _, err := runs(t, append(args, "-apply")...); (err != nil) != fails[name] {
				t.Fatal(err)
			}
			wanted := created(printed)
			if len(wanted) == 0 {
				t.Fatal("no table is created")
			}
			for name, statement := range wanted {
				if diff := cmp.Diff(statement, look(t, e, name).DDL()); diff != "" {
					t.Errorf("%s (-printed +read back):\n%s", name, diff)
				}
			}
			again, err := runs(t, append(args, "-apply")...)
			if (err != nil) != fails[name] {
				t.Error(err)
			}
			if strings.Contains(again, "CREATE") || strings.Contains(again, "ALTER") || strings.Contains(again, "left to do") {
				t.Errorf("the second time there is something to do:\n%s", again)
			}
		})
	}
}

// sql runs a statement on the emulator.
func sql(t *testing.T, e *emulator.Server, statement string) {
	t.Helper()
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(e.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }() // it was only asked
	job, err := client.Query(statement).Run(t.Context())
	if err == nil {
		var status *bigquery.JobStatus
		if status, err = job.Wait(t.Context()); err == nil {
			err = status.Err()
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// A table that is there is altered as far as BigQuery alters one; the rest is told, and
// -apply says that it isn't done.
func TestRun_alter(t *testing.T) {
	e := startEmulator(t)
	sql(t, e, "CREATE SCHEMA shop")
	sql(t, e, `CREATE TABLE shop.orders (
		order_id INT64 NOT NULL, status STRING(4) NOT NULL, total INT64, email STRING NOT NULL OPTIONS (description = 'old'),
		tags STRING, placed_at DATETIME, only_here STRING, strict BOOL NOT NULL,
		address STRUCT<city STRING NOT NULL>)
		CLUSTER BY status OPTIONS (max_staleness = INTERVAL 1 HOUR)`)
	args := []string{"-config", "testdata/schemas.yaml", "-schema", "testdata/orders.schema.json", "-bigquery_rest_endpoint", e.RESTAddr()}
	printed, err := runs(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	orders, _, _ := strings.Cut(printed, "-- demo.shop.orders_history")
	golden(t, "alter", orders)
	if _, err := runs(t, append(args, "-apply")...); err == nil || !strings.Contains(err.Error(), "one table") {
		t.Errorf("-apply: %v, want an error: not all can be done", err)
	}
	golden(t, "altered", look(t, e, "shop.orders").DDL())
	again, err := runs(t, args...)
	if err != nil || strings.Contains(again, "ALTER TABLE `") || !strings.Contains(again, "left to do") {
		t.Errorf("the second time: %v\n%s", err, again)
	}
}

// A statement that fails ends it, with an error that names the table.
func TestRun_applyFails(t *testing.T) {
	e := startEmulator(t)
	sql(t, e, "CREATE SCHEMA shop")
	sql(t, e, "CREATE VIEW shop.orders AS SELECT 1 AS order_id")
	out, err := runs(t, "-config", "testdata/schemas.yaml", "-schema", "testdata/orders.schema.json", "-bigquery_rest_endpoint", e.RESTAddr(), "-apply")
	if err == nil || !strings.Contains(err.Error(), "shop.orders") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(out, "CREATE TABLE") {
		t.Errorf("something was created after the failure:\n%s", out)
	}
}

func TestRun_usage(t *testing.T) {
	for name, args := range map[string][]string{
		"no configuration": {},
		"two sources":      {"-config", "testdata/learned.yaml", "-source", "postgres://u@h/d", "-messages", "x"},
		"offline apply":    {"-config", "testdata/learned.yaml", "-apply", "-offline"},
		"other database":   {"-config", "testdata/learned.yaml", "-source", "oracle://u@h/d"},
		"no such file":     {"-config", "testdata/learned.yaml", "-messages", "testdata/none.jsonl", "-offline"},
		"no schema":        {"-config", "testdata/learned.yaml", "-schema", "testdata/learned.yaml", "-offline"},
		"argument":         {"-config", "testdata/learned.yaml", "orders"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runs(t, args...)
			if _, ok := errors.AsType[UsageError](err); !ok || out != "" {
				t.Errorf("%v, printed %q; want a UsageError alone", err, out)
			}
		})
	}
}
