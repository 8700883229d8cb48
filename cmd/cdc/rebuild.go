package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/arguments"
	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/history"
)

const rebuildUsage = `Usage: cdc rebuild -config FILE [FLAGS] [TABLE]

Prints the query, in GoogleSQL, that makes a table of its history: of each table of the
configuration that has a history, or of TABLE, dataset.table. Its columns and their types
are those that BigQuery's table has now.

  -config FILE    the pipeline's configuration; each of its scalars is a flag, too, as
                  launch has them: launch --help lists them. An emulator needs both of
                  -bigquery_rest_endpoint and -bigquery_grpc_endpoint
  -source NAME    the source's name of the table, where a pattern gives its destination:
                  public.orders for a rule of public.*
`

// rebuildCommand prints the queries that rebuild tables from their histories.
func rebuildCommand(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("rebuild", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {} // a bad flag gets one line
	source := flags.String("source", "", "")
	configuration := configured.Add(flags)
	asked, err := arguments.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, rebuildUsage)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w; run \"cdc rebuild -h\"", errUsage, err)
	case len(asked) > 1:
		return fmt.Errorf("%w: rebuild takes one table, not %d", errUsage, len(asked))
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
		if match.History == (table.Name{}) || len(asked) > 0 && asked[0] != name && asked[0] != match.Name.String() {
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
	switch {
	case printed > 0:
		return nil
	case len(asked) > 0:
		return fmt.Errorf("%w: the configuration gives no table %s a history", errUsage, asked[0])
	case *source == "":
		return fmt.Errorf("%w: no table that the configuration names has a history; where a pattern names them, give -source", errUsage)
	default:
		return fmt.Errorf("%w: the configuration gives the table of %s no history", errUsage, *source)
	}
}
