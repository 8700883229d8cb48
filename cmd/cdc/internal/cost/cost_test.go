package cost

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"beamcdc/emulator"
)

var update = flag.Bool("update", false, "write the golden files anew")

func runs(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Run(t.Context(), args, strings.NewReader(""), &out)
	return out.String(), err
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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

var sampleArgs = []string{"-config", "../../../../examples/shop/pipeline.yaml", "-messages", "../../../../examples/shop/messages.jsonl"}

func TestRun(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "cost.svg")
	for name, args := range map[string][]string{
		"sample": append(sampleArgs, "-span", "10s", "-table_bytes", "100GiB", "-table_bytes", "shop.orders=2TiB", "-offline", "-queries", "60", "-query_share", "0.01", "-chart", chart),
		"rate":   {"-rate", "2000", "-row_bytes", "300", "-keys", "50000", "-table_bytes", "500GiB", "-queries", "4", "-window", "10s"},
	} {
		got, err := runs(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", got)
	}
	svg, err := os.ReadFile(chart)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.svg", string(svg))
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the chart is no XML: %v", err)
		}
	}
}

// A table's size is BigQuery's where nobody gives it.
func TestRun_sizes(t *testing.T) {
	e, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() }) // its tables are of no more use
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(e.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }() // it was only asked
	for _, statement := range []string{"CREATE SCHEMA shop", "CREATE TABLE shop.orders AS SELECT n AS order_id FROM UNNEST(GENERATE_ARRAY(1, 1024)) AS n"} {
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
	args := slices.Concat(sampleArgs, []string{"-bigquery_rest_endpoint", e.RESTAddr(), "-table_bytes", "shop.customers=1GiB"})
	if _, err := runs(t, args...); err == nil || !strings.Contains(err.Error(), "-table_bytes demo.shop.order_lines=SIZE") {
		t.Errorf("a table that isn't there: %v", err)
	}
	got, err := runs(t, append(args, "-table_bytes", "shop.order_lines=1GiB")...)
	if err != nil || !strings.Contains(got, "table 8 KiB (BigQuery)") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRun_printPrices(t *testing.T) {
	got, err := runs(t, "-print_prices")
	if err != nil || got != string(listPrices) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRun_usage(t *testing.T) {
	for name, args := range map[string][]string{
		"nothing":                   {},
		"both":                      append(sampleArgs, "-rate", "1"),
		"no size of a row":          {"-rate", "1", "-table_bytes", "1GiB"},
		"no size":                   {"-rate", "1", "-row_bytes", "1"},
		"no configuration":          {"-messages", "../../../../examples/shop/messages.jsonl"},
		"no size, offline":          append(sampleArgs, "-offline"),
		"a bad window":              {"-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-windows", "0s"},
		"a bad share":               {"-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-query_share", "2"},
		"no share":                  {"-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-query_share", "NaN"},
		"no rate":                   {"-rate", "Inf", "-row_bytes", "1", "-table_bytes", "1GiB"},
		"no row":                    {"-rate", "1", "-row_bytes", "NaN", "-table_bytes", "1GiB"},
		"no keys":                   {"-rate", "1", "-row_bytes", "1", "-keys", "NaN", "-table_bytes", "1GiB"},
		"no queries":                {"-rate", "1", "-row_bytes", "1", "-queries", "NaN", "-table_bytes", "1GiB"},
		"too large":                 {"-rate", "1", "-row_bytes", "1", "-table_bytes", "1e18TiB"},
		"prices that are no number": {"-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-prices", "testdata/nan.yaml"},
		"no such prices":            {"-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-prices", "testdata/none.yaml"},
		"an argument":               {"orders"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runs(t, args...)
			if _, ok := errors.AsType[UsageError](err); !ok || out != "" {
				t.Errorf("%v, printed %q; want a UsageError alone", err, out)
			}
		})
	}
}

// An empty table's size is a size.
func TestRun_emptyTable(t *testing.T) {
	if out, err := runs(t, "-rate", "1", "-row_bytes", "1", "-table_bytes", "0"); err != nil || out == "" {
		t.Errorf("%v, printed %q", err, out)
	}
}
