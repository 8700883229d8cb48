package cost

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
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
	if err != nil || !strings.Contains(got, "table 8 KiB (BigQuery)") || strings.Contains(got, "is empty") {
		t.Errorf("%v\n%s", err, got)
	}
	// Of an empty one it can't be told what it will cost.
	for _, statement := range []string{"DROP TABLE shop.orders", "CREATE TABLE shop.orders (order_id INT64)"} {
		job, err := client.Query(statement).Run(t.Context())
		if err == nil {
			_, err = job.Wait(t.Context())
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	got, err = runs(t, append(args, "-table_bytes", "shop.order_lines=1GiB")...)
	if err != nil || !strings.Contains(got, "warning: BigQuery says that demo.shop.orders is empty") {
		t.Errorf("%v\n%s", err, got)
	}
}

// What is misspelled isn't ignored.
func TestRun_names(t *testing.T) {
	args := slices.Concat(sampleArgs, []string{"-span", "10s", "-offline", "-table_bytes", "1GiB"})
	for name, want := range map[string]string{
		"shop.order":       "demo.shop.orders is meant",
		"demo.shop.order":  "demo.shop.orders is meant",
		"shop.invoices":    "demo.shop.customers, demo.shop.order_lines, demo.shop.orders",
		"other.shop.order": "none of the configuration's",
		"orders":           "-table_bytes orders=…: ",
	} {
		_, err := runs(t, append(args, "-table_bytes", name+"=1GiB")...)
		if _, ok := errors.AsType[UsageError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := runs(t, append(args, "-table_bytes", "demo.shop.orders=1GiB")...); err != nil {
		t.Error(err)
	}
	if _, err := runs(t, "-rate", "1", "-row_bytes", "1", "-table_bytes", "1", "-table_bytes", "shop.orders=1GiB"); err == nil || !strings.Contains(err.Error(), "without a name") {
		t.Errorf("of a rate: %v", err)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "7": 7, "7B": 7, "1.5KiB": 1536, "1 MiB": 1 << 20, "2GiB": 2 << 30, "3TiB": 3 << 40, "1PiB": 1 << 50,
		"2KB": 2000, "2kb": 2000, "10GB": 1e10, "1mib": 1 << 20, "3TB": 3e12, "1PB": 1e15, " 4 ": 4,
		"": -1, "GB": -1, "ten": -1, "1G": -1, "-1GiB": -1, "1XB": -1, "NaN": -1, "1iB": -1,
	} {
		got, err := parseSize(text)
		if want < 0 {
			if err == nil {
				t.Errorf("%q is %v", text, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

// A small table's figures can be read: no exponent, no unit that is far too large, no
// plural of one and no -0.
func TestRun_small(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "cost.svg")
	got, err := runs(t, "-rate", "1", "-row_bytes", "1", "-table_bytes", "10KiB", "-queries", "1", "-chart", chart)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "small.txt", got)
	info, err := os.Stat(chart)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if want, err := os.Stat(other); err != nil || info.Mode() != want.Mode() {
		t.Errorf("the chart's mode is %v, another file's %v, %v", info.Mode(), want.Mode(), err)
	}
	text, err := os.ReadFile(chart)
	if err != nil || !strings.Contains(string(text), ">1 table, a window of 5s, 1 query an hour") {
		t.Errorf("%v\n%s", err, text)
	}
}

// No bill is negative, nor looks so.
func TestPrices_billSigns(t *testing.T) {
	p := Prices{}
	p.OnDemand.PerTiB = 6.25
	for _, bytes := range []float64{0, 1, 1e9 / 3, 1e13 / 7, 3e15} {
		if b := p.bill(Month{ApplyBytes: bytes}); math.Signbit(b.Query) || b.Query != 0 {
			t.Errorf("%v bytes of applies are %v of queries", bytes, b.Query)
		}
		if b := p.bill(Month{QueryBytes: bytes}); math.Signbit(b.Apply) || b.Apply != 0 {
			t.Errorf("%v bytes of queries are %v of applies", bytes, b.Apply)
		}
	}
}

// Where the chart can't be written is told before anything else, and of a run that fails
// no chart stays.
func TestRun_chart(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "cost.svg")} {
		out, err := runs(t, "-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-chart", path)
		if _, ok := errors.AsType[UsageError](err); !ok || out != "" {
			t.Errorf("%s: %v, printed %q", path, err, out)
		}
	}
	chart := filepath.Join(dir, "cost.svg")
	if _, err := runs(t, "-rate", "1", "-row_bytes", "1", "-chart", chart); err == nil {
		t.Error("without a size it does something")
	}
	if _, err := os.Stat(chart); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	before := []byte(strings.Repeat("what was there ", 1000))
	if err := os.WriteFile(chart, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runs(t, "-rate", "1", "-row_bytes", "1", "-chart", chart); err == nil {
		t.Error("without a size it does something")
	}
	if text, err := os.ReadFile(chart); err != nil || string(text) != string(before) {
		t.Errorf("a run that failed changed it: %v", err)
	}
	if _, err := runs(t, "-rate", "1", "-row_bytes", "1", "-table_bytes", "1GiB", "-chart", chart); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(chart); err != nil || strings.Contains(string(text), "what was there") || !strings.HasPrefix(string(text), "<svg") {
		t.Errorf("%v\n%s", err, text)
	}
}

// What is wrong in a file of prices is told by its place, in no words of Go's.
func TestReadPrices_errors(t *testing.T) {
	for text, want := range map[string]string{
		"currency: USD\nhours_per_month: many\n": `p.yaml:2: "many" is no number`,
		"curency: USD\n":                         `p.yaml:1: unknown field "curency"`,
		"{a":                                     "p.yaml:1: ",
		"storage_write_api: 3\n":                 "p.yaml:1: ",
		"currency: [a]\n":                        "p.yaml:1: ",
		"":                                       "p.yaml: ",
		"currency: USD\n":                        "p.yaml: currency or hours_per_month is missing",
	} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readPrices(path)
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		got := strings.TrimPrefix(err.Error(), filepath.Dir(path)+"/")
		if !strings.HasPrefix(got, want) || strings.ContainsAny(got, "\n") || strings.Contains(got, "Go ") || strings.Contains(got, "Prices") {
			t.Errorf("%q: %q, want %q…", text, got, want)
		}
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
