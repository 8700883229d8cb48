package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
