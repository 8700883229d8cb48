package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// guideOutput is what the guide prints, line for line.
const guideOutput = `S1 last arrival wins (no sequence number supplied)
   {1: ('shipped', 'F/FFFFFF00'), 2: ('placed', 'F/FFFF0100')}
S2 _CHANGE_SEQUENCE_NUMBER compared numerically, as BigQuery documents
   {1: ('cancelled', '10/200'), 2: ('placed', 'F/FFFF0100')}
S3 the same sequence numbers compared as plain text (a common mistake in hand-written dedup)
   {1: ('shipped', 'F/FFFFFF00'), 2: ('placed', 'F/FFFF0100'), 3: ('placed', '10/9A0')}

S4 why text comparison fails without zero padding
         10/200 vs F/FFFFFF00   numeric says first is later, text says second
        10/1A00 vs 10/9A0       numeric says first is later, text says second
`

func TestSimulate_guide(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run([]string{"simulate"}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit status %d, standard error %q", code, stderr.String())
	}
	if diff := cmp.Diff(guideOutput, stdout.String()); diff != "" {
		t.Errorf("simulate prints something else than the guide (-guide +got):\n%s", diff)
	}
}

// What -changes prints is a FILE.
func TestSimulate_changes(t *testing.T) {
	var changes, simulated, stderr strings.Builder
	if code := run([]string{"simulate", "-changes"}, nil, &changes, &stderr); code != 0 || strings.Count(changes.String(), "\n") != 7 {
		t.Fatalf("exit status %d, standard error %q, printed\n%swant seven changes", code, stderr.String(), changes.String())
	}
	if code := run([]string{"simulate", "-"}, strings.NewReader(changes.String()), &simulated, &stderr); code != 0 {
		t.Fatalf("exit status %d, standard error %q", code, stderr.String())
	}
	if diff := cmp.Diff(guideOutput, simulated.String()); diff != "" {
		t.Errorf("the printed changes make something else than the example's (-guide +got):\n%s", diff)
	}
}

func TestSimulate_file(t *testing.T) {
	input := `{"id":"b'x","type":"UPSERT","n":1.50,"seq":"1"}
{"id":10,"type":"UPSERT","n":2,"seq":"2"}

{"seq":"1","id":9,"type":"UPSERT","n":null}
`
	var stdout, stderr strings.Builder
	if code := run([]string{"simulate", "-"}, strings.NewReader(input), &stdout, &stderr); code != 0 {
		t.Fatalf("exit status %d, standard error %q", code, stderr.String())
	}
	want := `   {9: (null, '1'), 10: (2, '2'), 'b\'x': (1.50, '1')}` + "\n"
	if got := stdout.String(); strings.Count(got, want) != 3 || !strings.Contains(got, "leave the same rows") {
		t.Errorf("got\n%swant three times\n%s", got, want)
	}
}

func TestSimulate_badInput(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		stdin string
		code  int
		want  string // in the one line on standard error
	}{
		"no command":      {nil, "", 2, "Usage"},
		"unknown command": {[]string{"frobnicate"}, "", 2, `no command "frobnicate"`},
		"unknown flag":    {[]string{"simulate", "-x"}, "", 2, "-x"},
		"changes, a file": {[]string{"simulate", "-changes", "a"}, "", 2, "takes no file"},
		"two files":       {[]string{"simulate", "a", "b"}, "", 2, "one file"},
		"missing file":    {[]string{"simulate", "no-such-file"}, "", 1, "no-such-file"},
		"no JSON":         {[]string{"simulate", "-"}, "hello", 2, "line 1"},
		"an array":        {[]string{"simulate", "-"}, "[1]", 2, "JSON object"},
		"no change":       {[]string{"simulate", "-"}, "\n", 2, "there is no change in it"},
		"no id":           {[]string{"simulate", "-"}, `{"type":"UPSERT","seq":"1"}`, 2, `"id"`},
		"bad type":        {[]string{"simulate", "-"}, `{"id":1,"type":"INSERT","seq":"1"}`, 2, `"UPSERT" or "DELETE"`},
		"bad sequence":    {[]string{"simulate", "-"}, `{"id":1,"type":"UPSERT","seq":"0x1"}`, 2, `"seq"`},
		"two values":      {[]string{"simulate", "-"}, `{"id":1,"type":"UPSERT","seq":"1"} {}`, 2, "more than one"},
		"second line":     {[]string{"simulate", "-"}, "{\"id\":1,\"type\":\"UPSERT\",\"seq\":\"1\"}\n{}", 2, "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(test.args, strings.NewReader(test.stdin), &stdout, &stderr); code != test.code {
				t.Errorf("exit status %d, want %d", code, test.code)
			}
			if !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
				t.Errorf("standard error %q, want it to name %s; standard output %q", stderr.String(), test.want, stdout.String())
			}
			if name != "no command" && strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("want one line, got %q", stderr.String())
			}
		})
	}
}
