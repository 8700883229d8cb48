package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beamcdc/internal/cdctest"
)

func TestDiff_badUsage(t *testing.T) {
	config := filepath.Join(t.TempDir(), "pipeline.yaml")
	const text = "source: {subscription: projects/demo/subscriptions/s}\ntables: [{source: a.b, destination: d.t}]\ndead_letters: {topic: projects/demo/topics/t}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(args ...string) []string { return append([]string{"diff", "-config", config}, args...) }
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no configuration":   {[]string{"diff", "-file", "a.csv"}, "-config"},
		"neither":            {with(), "-source and -file"},
		"both":               {with("-source", "postgres://a", "-file", "a.csv"), "-source and -file"},
		"output":             {with("-file", "a.csv", "-output", "xml"), "xml"},
		"repair where to":    {with("-file", "a.csv", "-repair"), "-topic"},
		"topic":              {with("-source", "mysql://a", "-repair", "-topic", "changes"), "projects/PROJECT"},
		"file, no sequence":  {with("-file", "a.csv", "-repair", "-topic", "projects/p/topics/t"), "-sequence"},
		"database, sequence": {with("-source", "mysql://a", "-repair", "-topic", "projects/p/topics/t", "-sequence", "1/0/0/0"), "-sequence"},
		"topic, no repair":   {with("-file", "a.csv", "-topic", "projects/p/topics/t"), "-repair"},
		"argument":           {with("-file", "a.csv", "x"), `"x"`},
		"no position":        {[]string{"changes", "p.d.t"}, "-position"},
		"no table":           {[]string{"changes", "-position", "x"}, "one table"},
		"no project":         {[]string{"changes", "-position", "x", "d.t"}, "project"},
		"range":              {[]string{"changes", "-position", "x", "-range", "25h", "p.d.t"}, "24h"},
		"range, after":       {[]string{"changes", "p.d.t", "-position", "x", "-range", "25h"}, "24h"},
		"function":           {[]string{"changes", "-position", "x", "-function", "all", "p.d.t"}, "all"},
		"since":              {[]string{"changes", "-position", "x", "-since", "yesterday", "p.d.t"}, "yesterday"},
		"source, no topic":   {[]string{"changes", "-position", "x", "-source", "a", "p.d.t"}, "-topic"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(test.args, nil, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("exit status %d, standard error %q; want 2 and one line with %s", code, stderr.String(), test.want)
			}
		})
	}
	for _, command := range []string{"diff", "changes"} {
		var stdout, stderr strings.Builder
		if code := run([]string{command, "-h"}, nil, &stdout, &stderr); code != 0 || !strings.HasPrefix(stdout.String(), "Usage: cdc "+command) {
			t.Errorf("%s -h: exit status %d, %q", command, code, stdout.String())
		}
	}
}

// compared runs cdc diff of a file with d.items, of which BigQuery has no row.
func compared(t *testing.T, name, rows string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	w := cdctest.Start(t, time.Date(2026, 3, 9, 9, 0, 0, 0, time.UTC), "d")
	w.Run("CREATE TABLE d.items (id INT64, name STRING, PRIMARY KEY (id) NOT ENFORCED)")
	config, file := filepath.Join(t.TempDir(), "pipeline.yaml"), filepath.Join(t.TempDir(), name)
	text := "source: {subscription: projects/" + cdctest.Project + "/subscriptions/s}\ntables: [{source: public.items, destination: d.items}]\ndead_letters: {topic: projects/" + cdctest.Project + "/topics/t}\n"
	for path, text := range map[string]string{config: text, file: rows} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, said strings.Builder
	code = run(append([]string{"diff", "-config", config, "-file", file, "-recheck", "0s", "-bigquery_rest_endpoint", w.RESTAddr()}, args...), nil, &out, &said)
	return code, out.String(), said.String()
}

// A table of many differences is cut, and says how many more there are; the count and the
// exit status are of all.
func TestDiff_limit(t *testing.T) {
	var rows strings.Builder
	for i := range 130 {
		_, _ = fmt.Fprintf(&rows, `{"id":%d,"name":"a"}`+"\n", i)
	}
	for name, test := range map[string]struct {
		args []string
		want int
		more string
	}{
		"a table":     {nil, 100, "… and 30 rows more"},
		"of one less": {[]string{"-limit", "129"}, 129, "… and 1 row more"},
		"all":         {[]string{"-limit", "0"}, 130, ""},
		"json":        {[]string{"-output", "json"}, 130, ""},
		"some json":   {[]string{"-output", "json", "-limit", "7"}, 7, "… and 123 rows more"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := compared(t, "rows.jsonl", rows.String(), test.args...)
			if got := strings.Count(stdout, "\n"); code != 1 || got != test.want {
				t.Errorf("exit status %d, %d lines, want 1 and %d: %s", code, got, test.want, stderr)
			}
			if !strings.Contains(stderr, test.more) || test.more == "" && strings.Contains(stderr, "more") || !strings.Contains(stderr, "130 differ") {
				t.Errorf("standard error is %q, want %q", stderr, test.more)
			}
		})
	}
}

// One row is no "1 rows".
func TestDiff_oneRow(t *testing.T) {
	code, _, stderr := compared(t, "rows.jsonl", `{"id":1,"name":"a"}`)
	if code != 1 || !strings.Contains(stderr, "1 row of ") || !strings.Contains(stderr, "1 row read") || strings.Contains(stderr, "1 rows") {
		t.Errorf("exit status %d, %q", code, stderr)
	}
}

// What is misspelled or missing is named for what it is.
func TestDiff_misnamed(t *testing.T) {
	for name, test := range map[string]struct {
		rows string
		args []string
		want string
	}{
		"a short name":  {"id,name\n1,a\n", []string{"-table", "items"}, "no rule of the configuration is for items; did you mean public.items?"},
		"another table": {"id,name\n1,a\n", []string{"-table", "public.baskets"}, "no rule of the configuration is for public.baskets\n"},
		"no key":        {"name\na\n", nil, "rows.csv has no column id, which is of the primary key of"},
		"limit":         {"id\n1\n", []string{"-limit", "-1"}, "-limit"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := compared(t, "rows.csv", test.rows, test.args...)
			if code != 2 || !strings.Contains(stderr, test.want) || stdout != "" {
				t.Errorf("exit status %d, %q, want %q", code, stderr, test.want)
			}
		})
	}
}
