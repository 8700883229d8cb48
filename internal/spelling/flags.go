package spelling

import (
	"flag"
	"fmt"
	"strings"
)

// Flag adds to the error of [flag.FlagSet.Parse] about a flag that there isn't which one
// may have been meant. Other errors, and nil, are returned as they are.
func Flag(flags *flag.FlagSet, err error) error {
	if err == nil {
		return nil
	}
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -") // the package has no type for it
	if !unknown {
		return err
	}
	var known []string
	flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	if nearest := Nearest(name, known); nearest != "" {
		return fmt.Errorf("there is no flag -%s; did you mean -%s?", name, nearest)
	}
	return fmt.Errorf("there is no flag -%s", name)
}
