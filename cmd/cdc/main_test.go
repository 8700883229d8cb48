package main

import (
	"runtime"
	"strings"
	"testing"
)

func TestRun_version(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		var stdout, stderr strings.Builder
		if status := run([]string{arg}, nil, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
			t.Errorf("%s: status %d, %s", arg, status, stderr.String())
		}
		if got := stdout.String(); !strings.HasPrefix(got, "cdc ") || !strings.HasSuffix(got, runtime.Version()+"\n") {
			t.Errorf("%s prints %q", arg, got)
		}
	}
}

func TestRun_unknownFlag(t *testing.T) {
	for command, want := range map[string]string{"doctor": "-messages", "status": "-output"} {
		var stdout, stderr strings.Builder
		args := []string{command, want[:3] + want[4:], "x"}
		if status := run(args, nil, &stdout, &stderr); status != 2 || !strings.Contains(stderr.String(), "did you mean "+want+"?") {
			t.Errorf("%v: status %d, %s", args, status, stderr.String())
		}
	}
}
