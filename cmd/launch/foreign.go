package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"beamcdc/internal/spelling"
)

// Flags by which another program's command line is told from a person's: the Flex
// Template's launcher wants the job's description written, a worker's start-up a worker.
var foreignFlags = []string{"template_location", "worker"}

// The flags of Beam's that hold a list, of which it would take the last alone.
var listFlags = []string{"experiments", "dataflow_service_options"}

// isForeign reports whether another program wrote the command line. Which flags a
// launcher adds is not documented, and changes with Dataflow: those that nobody knows
// must not end a launch that works without them. A person's slip must.
func isForeign(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, isFlag := splitFlag(arg)
		return isFlag && slices.Contains(foreignFlags, name)
	})
}

// splitFlag cuts "--name=value". It takes no bare "--".
func splitFlag(arg string) (name, value string, isFlag bool) {
	name, isFlag = strings.CutPrefix(arg, "-")
	name = strings.TrimPrefix(name, "-")
	name, value, _ = strings.Cut(name, "=")
	return name, value, isFlag && name != ""
}

// known returns the arguments without the flags that are none, and a warning for
// each of those. A word after such a flag is its value: launch takes no arguments.
func known(flags *flag.FlagSet, args []string) (kept, warnings []string) {
	for i := 0; i < len(args); i++ {
		name, _, isFlag := splitFlag(args[i])
		if f := flags.Lookup(name); !isFlag || f != nil || name == "h" || name == "help" {
			kept = append(kept, args[i])
			if f != nil && !strings.Contains(args[i], "=") && !isBool(f) && i+1 < len(args) {
				i++
				kept = append(kept, args[i]) // its value, whatever it looks like
			}
			continue
		}
		warning := fmt.Sprintf("ignoring --%s, which is no flag", name)
		if meant := nearestFlag(flags, name); meant != "" {
			warning = fmt.Sprintf("WARNING: ignoring --%s, which is no flag; did you mean --%s?", name, meant)
		}
		warnings = append(warnings, warning)
		if _, _, next := splitFlag(at(args, i+1)); !next && !strings.Contains(args[i], "=") && i+1 < len(args) {
			i++
		}
	}
	return kept, warnings
}

func at(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// joined returns the arguments with the flags that hold a list each once.
func joined(args []string) []string {
	values := make(map[string][]string)
	kept := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		name, value, isFlag := splitFlag(args[i])
		if !isFlag || !slices.Contains(listFlags, name) {
			kept = append(kept, args[i])
			continue
		}
		if !strings.Contains(args[i], "=") {
			if i+1 == len(args) {
				kept = append(kept, args[i]) // it lacks its value, as will be said
				continue
			}
			i++
			value = args[i]
		}
		values[name] = append(values[name], value)
	}
	for _, name := range listFlags {
		if len(values[name]) > 0 {
			kept = append(kept, "--"+name+"="+strings.Join(values[name], ","))
		}
	}
	return kept
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// nearestFlag returns the flag that may have been meant, or "".
func nearestFlag(flags *flag.FlagSet, name string) string {
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return spelling.Nearest(name, names)
}
