// Package arguments reads command lines on which flags may stand before, between and
// after the other arguments: "cdc changes TABLE -position FILE".
package arguments

import (
	"flag"
	"slices"

	"beamcdc/internal/spelling"
)

// Parse parses the flags, and returns the other arguments. After "--" all are arguments.
func Parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var last []string
	if at := slices.Index(args, "--"); at >= 0 {
		args, last = args[:at], args[at+1:]
	}
	var others []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, spelling.Flag(flags, err)
		}
		if flags.NArg() == 0 {
			return append(others, last...), nil
		}
		others, args = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}
