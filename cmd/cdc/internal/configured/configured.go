// Package configured gives a command the pipeline's configuration: the flag -config,
// and a flag for each of its scalars, as cmd/launch has them.
package configured

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"beamcdc/pipeline"
)

// Flags are the configuration's flags on a command's command line.
type Flags struct {
	file     string
	assigned []assignment // in the order of the command line
}

type assignment struct{ flag, text string }

// Add adds the flags to a command's.
func Add(flags *flag.FlagSet) *Flags {
	f := &Flags{}
	flags.StringVar(&f.file, "config", "", "the pipeline's configuration, a `FILE`")
	for _, s := range pipeline.Settings() {
		flags.Var(&setting{s, f}, s.Flag, s.Help)
	}
	return f
}

// ErrNoFile says that the command line names no configuration.
var ErrNoFile = errors.New("-config is missing; give the pipeline's configuration, -config FILE")

// Options reads the configuration, and applies the flags. What is wrong in it is for
// Options.Validate to tell.
func (f *Flags) Options() (pipeline.Options, error) {
	if f.file == "" {
		return pipeline.Options{}, ErrNoFile
	}
	return f.OptionsOrNone()
}

// OptionsOrNone is Options for a command to which the flags may say enough: without a
// file it begins with an empty configuration.
func (f *Flags) OptionsOrNone() (o pipeline.Options, err error) {
	if f.file != "" {
		if o, err = pipeline.Load(f.file); err != nil {
			return pipeline.Options{}, err
		}
	}
	for _, a := range f.assigned {
		if err := o.Set(a.flag, a.text); err != nil {
			return pipeline.Options{}, fmt.Errorf("setting -%s: %w", a.flag, err)
		}
	}
	o.AnyRunner = true
	// An emulator that speaks HTTP speaks no TLS at its other address either.
	if o.Runtime.BigQueryGRPCEndpoint != "" && strings.HasPrefix(o.Runtime.BigQueryRESTEndpoint, "http://") {
		o.Runtime.BigQueryPlaintext = true
	}
	return o, nil
}

// setting is the flag of one scalar.
type setting struct {
	pipeline.Setting
	flags *Flags
}

func (s *setting) String() string { return "" }

// IsBoolFlag lets a true be given without a value.
func (s *setting) IsBoolFlag() bool { return s.Kind == "true or false" }

func (s *setting) Set(text string) error {
	s.flags.assigned = append(s.flags.assigned, assignment{s.Flag, text})
	return nil
}
