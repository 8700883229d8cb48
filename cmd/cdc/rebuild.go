package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/history"
)

const rebuildUsage = `Usage: cdc rebuild -config FILE [TABLE]

Prints the query, in GoogleSQL, that makes a table of its history: of each table of the
configuration that has a history, or of TABLE, dataset.table. Its columns and their types
are those that BigQuery's table has now. A table whose name depends on its source's is named
by -source.

`

// rebuildCommand prints the queries that rebuild tables from their histories.
func rebuildCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("rebuild", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = io.WriteString(stderr, rebuildUsage)
		flags.PrintDefaults()
	}
	source := flags.String("source", "", "the source's `NAME` of the table, where a pattern gives its destination")
	configuration := configured.Add(flags)
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	o, err := configuration.Options()
	if err == nil {
		err = o.Validate()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	c := o.CatalogConfig()
	c.CreateTables = false // it looks, and no more
	tables, err := catalog.Open(ctx, c)
	if err != nil {
		return err
	}
	router, err := table.NewRouter(c.Project, c.Rules)
	if err != nil {
		return err
	}
	matches := router.Literals()
	if *source != "" {
		match, ok := router.Route(*source)
		if !ok || match.Err != nil {
			return fmt.Errorf("%w: no rule gives %s a destination", errUsage, *source)
		}
		matches = []table.Match{match}
	}
	printed := 0
	for _, match := range matches {
		name := match.Name.Dataset + "." + match.Name.Table
		if match.History == (table.Name{}) || flags.NArg() > 0 && flags.Arg(0) != name && flags.Arg(0) != match.Name.String() {
			continue
		}
		found, err := tables.Destination(ctx, match)
		if err != nil {
			return err
		}
		if printed++; printed > 1 {
			_, _ = io.WriteString(stdout, "\n")
		}
		_, _ = fmt.Fprintf(stdout, "-- %s, from %s\n%s;\n", match.Name, match.History, history.RebuildQuery(found.Table, found.Rule, match.History))
	}
	if printed == 0 {
		return fmt.Errorf("%w: no such table has a history", errUsage)
	}
	return nil
}
