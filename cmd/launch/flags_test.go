package main

import (
	"bytes"
	"errors"
	"flag"
	"slices"
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
	if in.config != "c.yaml" || !in.dryRun || in.template || !in.check {
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
		"--windoww 5s":          `there is no flag --windoww; did you mean --window? "launch --help" lists the flags`,
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

// Another program's command line is taken without the flags that nobody knows.
func TestParse_foreign(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.Bool("worker", false, "") // as Beam's
	for _, name := range []string{"template_location", "experiments", "dataflow_service_options", "labels", "id"} {
		flags.String(name, "", "")
	}
	in, err := parse(flags, strings.Fields(
		"--additional_user_labels {} --config=gs://b/c.yaml --defaultSdkHarnessLogLevel=INFO --streaming --experiments=a,b --window 3s"+
			" --windoww=9s --experiments c --template_location=gs://b/job --enable_streaming_engine"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ignoring --additional_user_labels, which is no flag",
		"ignoring --defaultSdkHarnessLogLevel, which is no flag",
		"ignoring --streaming, which is no flag",
		"WARNING: ignoring --windoww, which is no flag; did you mean --window?",
		"ignoring --enable_streaming_engine, which is no flag",
	}
	if diff := cmp.Diff(want, in.warnings); diff != "" {
		t.Errorf("warnings, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]assignment{{"window", "3s"}}, in.settings, cmp.AllowUnexported(assignment{})); diff != "" {
		t.Errorf("settings, -want +got:\n%s", diff)
	}
	if got := valueOf(flags, "experiments"); in.config != "gs://b/c.yaml" || !in.template || got != "a,b,c" {
		t.Errorf("got %+v, experiments %q", in, got)
	}
	for _, args := range []string{"--worker --id=7 --status_endpoint localhost:1", "--template_location=gs://b/j --config= --experiments"} {
		_, err := parse(flag.NewFlagSet("", flag.ContinueOnError), strings.Fields(args))
		if strings.Contains(args, "--worker") && err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := parse(flag.NewFlagSet("", flag.ContinueOnError), []string{"--template_location=gs://b/j", "--window", "soon"}); err == nil {
		t.Error("a launcher's bad value is taken")
	}
}

// Every setting is a flag, and in the help before Beam's flags, all of which are in it;
// none has the name of one of Beam's.
func TestHelp(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	if _, err := parse(flags, nil); err != nil {
		t.Fatal(err)
	}
	var buffer bytes.Buffer
	usage(&buffer, flag.CommandLine)
	help := buffer.String()
	beams := strings.Index(help, "\nDataflow\n")
	for _, s := range pipeline.Settings() {
		if flags.Lookup(s.Flag) == nil {
			t.Errorf("there is no flag for %s", s.Key)
		}
		if at := strings.Index(help, "  --"+s.Flag+" "); at < 0 || at > beams {
			t.Errorf("the help does not tell of --%s, or after Beam's flags", s.Flag)
		}
		if flag.CommandLine.Lookup(s.Flag) != nil {
			t.Errorf("--%s is a flag of Beam's too", s.Flag)
		}
	}
	flag.VisitAll(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && !slices.Contains(strings.FieldsFunc(help, func(r rune) bool { return r == ' ' || r == '\n' || r == '-' }), f.Name) {
			t.Errorf("the help does not name --%s", f.Name)
		}
	})
	for _, group := range beamFlags {
		for _, f := range group.flags {
			if flag.Lookup(f[0]) == nil {
				t.Errorf("--%s is no flag of Beam's", f[0])
			}
		}
	}
	if lines := strings.Count(help, "\n"); lines > 120 {
		t.Errorf("the help has %d lines: nobody reads that", lines)
	}
}
