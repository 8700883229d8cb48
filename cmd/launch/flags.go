package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"beamcdc/cmd/internal/direct"
	"beamcdc/cmd/internal/monitor"
	"beamcdc/pipeline"
)

// usageError is what the user has to write differently: exit status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// invocation is what the command line asks for.
type invocation struct {
	config    string
	logLevel  string
	logFormat string
	metrics   string        // where /metrics and /healthz are served; "" for nowhere
	patience  time.Duration // of /healthz
	check     bool          // ask the services first whether the pipeline can do its work
	dryRun    bool          // print the job, offline
	template  bool          // write the job's description to Cloud Storage, for others to run
	settings  []assignment  // in the order of the command line
	warnings  []string      // of what was ignored
}

// assignment is a setting of the configuration that a flag overrides.
type assignment struct{ flag, text string }

// parse reads the command line into flags, which hold Beam's own already. It
// returns [flag.ErrHelp] where help is asked for.
func parse(flags *flag.FlagSet, args []string) (*invocation, error) {
	in := new(invocation)
	flags.StringVar(&in.config, "config", "", "")
	flags.StringVar(&in.logLevel, "log_level", "", "")
	flags.StringVar(&in.logFormat, "log_format", direct.Text, "")
	flags.StringVar(&in.metrics, "metrics_address", "", "")
	flags.DurationVar(&in.patience, "unhealthy_after", monitor.DefaultPatience, "")
	flags.BoolVar(&in.check, "check", true, "")
	for _, s := range pipeline.Settings() {
		flags.Var(&settingFlag{setting: s, in: in}, s.Flag, s.Help)
	}
	flags.Init("launch", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a bad flag gets one line, not a page
	flags.Usage = func() {}
	if isForeign(args) {
		args, in.warnings = known(flags, args)
	}
	switch err := flags.Parse(joined(args)); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usageErrorf("%s; %s\"launch --help\" lists the flags", dashes(err.Error()), meant(flags, err.Error()))
	case flags.NArg() > 0:
		return nil, usageErrorf("there is no argument %q; \"launch --help\" lists the flags", flags.Arg(0))
	}
	in.dryRun = valueOf(flags, "dry_run") == "true"
	in.template = valueOf(flags, "template_location") != ""
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

// setLog checks the log's level and format, and fills in the level's default.
func (in *invocation) setLog(runner string) error {
	switch {
	case in.logFormat != direct.Text && in.logFormat != direct.JSON:
		return usageErrorf("--log_format %q is none of text, json", in.logFormat)
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

// meant asks whether the flag that there is none of was to be another one.
func meant(flags *flag.FlagSet, text string) string {
	unknown, ok := strings.CutPrefix(text, "flag provided but not defined: -")
	if !ok {
		return ""
	}
	if name := nearestFlag(flags, unknown); name != "" {
		return "did you mean --" + name + "? "
	}
	return ""
}

// settingFlag is a flag that overrides a setting of the configuration.
type settingFlag struct {
	setting pipeline.Setting
	in      *invocation
	text    string
}

func (f *settingFlag) String() string   { return f.text }
func (f *settingFlag) IsBoolFlag() bool { return f.setting.Kind == "true or false" }

// Set checks the text; it is set once the file is read.
func (f *settingFlag) Set(text string) error {
	if err := new(pipeline.Options).Set(f.setting.Flag, text); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "--"+f.setting.Flag+": "))
	}
	f.text = text
	f.in.settings = append(f.in.settings, assignment{f.setting.Flag, text})
	return nil
}
