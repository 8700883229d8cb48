package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"beamcdc/pipeline"
)

// usageError is what the user has to write differently: exit status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// invocation is what the command line asks for.
type invocation struct {
	config   string
	logLevel string
	offline  bool         // Beam's flags ask for the job's description, not for the job
	settings []assignment // in the order of the command line
}

// assignment is a setting of the configuration that a flag overrides.
type assignment struct{ flag, text string }

// parse reads the command line into flags, which hold Beam's own already. It
// returns [flag.ErrHelp] where help is asked for.
func parse(flags *flag.FlagSet, args []string) (*invocation, error) {
	in := new(invocation)
	flags.StringVar(&in.config, "config", "", "")
	flags.StringVar(&in.logLevel, "log_level", "", "")
	for _, s := range pipeline.Settings() {
		flags.Var(&settingFlag{setting: s, in: in}, s.Flag, s.Help)
	}
	flags.Init("launch", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a bad flag gets one line, not a page
	flags.Usage = func() {}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usageErrorf("%s; \"launch --help\" lists the flags", dashes(err.Error()))
	case flags.NArg() > 0:
		return nil, usageErrorf("there is no argument %q; \"launch --help\" lists the flags", flags.Arg(0))
	}
	in.offline = valueOf(flags, "dry_run") == "true" || valueOf(flags, "template_location") != ""
	return in, nil
}

func valueOf(flags *flag.FlagSet, name string) string {
	f := flags.Lookup(name)
	if f == nil {
		return ""
	}
	return f.Value.String()
}

// options reads the configuration's file and applies the flags.
func (in *invocation) options() (pipeline.Options, error) {
	if in.config == "" {
		return pipeline.Options{}, usageErrorf("--config is missing; give the pipeline's configuration, --config FILE")
	}
	o, err := pipeline.Load(in.config)
	if err != nil {
		return pipeline.Options{}, usageError{err}
	}
	for _, a := range in.settings {
		if err := o.Set(a.flag, a.text); err != nil {
			return pipeline.Options{}, usageError{err}
		}
	}
	// An emulator that speaks HTTP speaks no TLS at its other address either.
	if o.Runtime.BigQueryGRPCEndpoint != "" && strings.HasPrefix(o.Runtime.BigQueryRESTEndpoint, "http://") {
		o.Runtime.BigQueryPlaintext = true
	}
	return o, nil
}

// setLevel checks the log's level and fills in its default.
func (in *invocation) setLevel(runner string) error {
	switch {
	case in.logLevel == "" && runner == "dataflow":
		in.logLevel = "info"
	case in.logLevel == "":
		in.logLevel = "warn"
	case !slices.Contains([]string{"debug", "info", "warn", "error"}, in.logLevel):
		return usageErrorf("--log_level %q is none of debug, info, warn, error", in.logLevel)
	}
	return nil
}

// flagName is where an error of package flag names a flag.
var flagName = regexp.MustCompile(`^(flag provided but not defined: |flag needs an argument: |invalid (?:boolean )?value ".*" for (?:flag )?)-`)

// dashes writes the flag in an error of package flag, "-window", as this command
// documents it, "--window".
func dashes(text string) string {
	text = flagName.ReplaceAllString(text, "$1--")
	return strings.Replace(text, "flag provided but not defined:", "there is no flag", 1)
}

// settingFlag is a flag that overrides a setting of the configuration.
type settingFlag struct {
	setting pipeline.Setting
	in      *invocation
	text    string
}

func (f *settingFlag) String() string   { return f.text }
func (f *settingFlag) IsBoolFlag() bool { return f.setting.Kind == "yes or no" }

// Set checks the text; it is set once the file is read.
func (f *settingFlag) Set(text string) error {
	if err := new(pipeline.Options).Set(f.setting.Flag, text); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "--"+f.setting.Flag+": "))
	}
	f.text = text
	f.in.settings = append(f.in.settings, assignment{f.setting.Flag, text})
	return nil
}

// The runners that --runner may name, with Beam's name of each.
var runnerNames = map[string]string{
	"direct":         "prism",
	"prism":          "prism",
	"PrismRunner":    "prism",
	"dataflow":       "dataflow",
	"DataflowRunner": "dataflow",
}

// runner returns Beam's name of the runner that the flags ask for.
func runner() (string, error) {
	if *runners.Runner == "" {
		return "prism", nil
	}
	name, ok := runnerNames[*runners.Runner]
	if !ok {
		return "", usageErrorf("there is no runner %q; --runner is direct, prism or dataflow", *runners.Runner)
	}
	return name, nil
}

const usageHead = `launch runs the pipeline that keeps BigQuery tables equal to a database's.

Usage: launch --config FILE [--runner RUNNER] [FLAGS]

  --config FILE          the pipeline's configuration, YAML
  --runner RUNNER        direct (default) or prism: in this process, until SIGTERM or SIGINT;
                         dataflow: submitted as a job
  --log_level LEVEL      debug, info, warn or error. Defaults to warn; to info for dataflow

Flags that override the configuration:
`

const usageTail = `
Beam's own flags work too. For dataflow the first of them are needed:
  --project --region --staging_location --temp_location --job_name --worker_binary --update
  --num_workers --max_num_workers --service_account_email --experiments --labels --dry_run …

PUBSUB_EMULATOR_HOST names a Pub/Sub to use instead of Google's. Where
--bigquery_rest_endpoint is http://…, --bigquery_plaintext is set too.
SIGTERM and SIGINT finish what was taken and leave the rest unacked; a second one ends at once.
In the end one line on standard output tells what became of the messages, a JSON object of counts:
  {"messages": 48, "rows_upserted": 16, "rows_deleted": 5, "superseded": 21, "control": 4, "dead_letters": 2, …}
Exit status: 0 done, 1 it could not run or failed, 2 bad usage or configuration.
`

// usage writes the help.
func usage(w io.Writer) {
	var text strings.Builder
	text.WriteString(usageHead)
	settings := pipeline.Settings()
	width := 0
	for _, s := range settings {
		width = max(width, len(s.Flag))
	}
	for _, s := range settings {
		fmt.Fprintf(&text, "  --%-*s  %s", width, s.Flag, s.Help)
		if s.Default != "" && s.Default != "false" && s.Default != "0" {
			fmt.Fprintf(&text, " Defaults to %s.", s.Default)
		}
		text.WriteString("\n")
	}
	text.WriteString(usageTail)
	_, _ = io.WriteString(w, text.String()) // there is nobody to tell
}
