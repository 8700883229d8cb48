package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/pipeline"
)

func TestParse(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.Bool("dry_run", false, "") // as Beam's
	in, err := parse(flags, []string{"--config", "c.yaml", "--window=1s", "-epoch", "7", "--create_tables", "--window", "2s", "--dry_run"})
	if err != nil {
		t.Fatal(err)
	}
	want := []assignment{{"window", "1s"}, {"epoch", "7"}, {"create_tables", "true"}, {"window", "2s"}}
	if diff := cmp.Diff(want, in.settings, cmp.AllowUnexported(assignment{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if in.config != "c.yaml" || !in.offline {
		t.Errorf("got %+v", in)
	}
}

func TestParse_errors(t *testing.T) {
	for args, want := range map[string]string{
		"--nope":                `there is no flag --nope; "launch --help" lists the flags`,
		"--config":              `flag needs an argument: --config; "launch --help" lists the flags`,
		"--epoch -1":            `invalid value "-1" for flag --epoch: -1 is negative; "launch --help" lists the flags`,
		"--window soon":         `invalid value "soon" for flag --window: "soon" is no duration such as 5s or 15m; "launch --help" lists the flags`,
		"--create_tables=maybe": `invalid boolean value "maybe" for --create_tables: "maybe" is neither true nor false; "launch --help" lists the flags`,
		"here":                  `there is no argument "here"; "launch --help" lists the flags`,
	} {
		_, err := parse(flag.NewFlagSet("", flag.ContinueOnError), strings.Fields(args))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", args, err, want)
		}
		if !errors.As(err, new(usageError)) {
			t.Errorf("%s: the error is no usage error", args)
		}
	}
}

// Every setting is a flag, and in the help; none has the name of one of Beam's.
func TestSettingsAreFlags(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	if _, err := parse(flags, nil); err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	usage(&help)
	for _, s := range pipeline.Settings() {
		if flags.Lookup(s.Flag) == nil {
			t.Errorf("there is no flag for %s", s.Key)
		}
		if !strings.Contains(help.String(), "  --"+s.Flag+" ") {
			t.Errorf("the help does not tell of --%s", s.Flag)
		}
		if flag.CommandLine.Lookup(s.Flag) != nil {
			t.Errorf("--%s is a flag of Beam's too", s.Flag)
		}
	}
	if lines := strings.Count(help.String(), "\n"); lines > 60 {
		t.Errorf("the help has %d lines: nobody reads that", lines)
	}
}
