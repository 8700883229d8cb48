package ddl

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/cmd/cdc/internal/database"
	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/internal/spelling"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

const usage = `Usage: cdc ddl -config FILE [-source URL | -schema FILE | -messages FILE] [FLAGS]

Prints the statements that make BigQuery's tables what the configuration implies: for
a table that is missing CREATE TABLE, with primary key, clustering, partitioning,
max_staleness and descriptions; for one that is there ALTER TABLE for what differs;
what no statement alters as a comment that says what to do. Nothing is dropped.

  -config FILE     the pipeline's configuration; each of its scalars is a flag too, as
                   launch has them: launch --help lists them
  -source URL      postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE,
                   which does for MariaDB: its tables' columns, types, NOT NULL, primary
                   keys and comments. Passwords are better left to PGPASSWORD, ~/.pgpass
                   and MYSQL_PWD. It needs no right but to see the tables
  -schema FILE     Debezium's schemas in JSON, of rows, envelopes and keys, one after the
                   other; may be repeated
  -messages FILE   messages, one a line: as cmd/local takes them, or the data alone.
                   "-" is standard input; may be repeated
  -table NAME      the source's table of -schema, where its name doesn't tell it
  -output FORM     sql, or yaml: the rules instead, with primary_key and columns, to be put
                   into the configuration, which create_tables and cmd/local need. It
                   doesn't ask BigQuery. Defaults to sql
  -offline         don't ask BigQuery: as if there were no table
  -apply           run the statements, in order, until one fails
  -bigquery_rest_endpoint URL   of an emulator

With none of -source, -schema and -messages the rules' own columns are all there is.

Exit status: 0 done; 1 it could not run, a statement failed, or a table can't be made
what it should be; 2 bad usage or configuration.
`

// UsageError is what the user has to write differently.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// request is what the command line asks for.
type request struct {
	source, name      string
	output            string
	schemas, messages files
	offline, apply    bool
}

// files is a flag that may be repeated.
type files []string

func (f *files) String() string { return "" }

func (f *files) Set(text string) error {
	*f = append(*f, text)
	return nil
}

// Run runs the command. Errors of the command line and the configuration are
// UsageErrors.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("ddl", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options := configured.Add(flags)
	var q request
	flags.StringVar(&q.source, "source", "", "")
	flags.StringVar(&q.name, "table", "", "")
	flags.Var(&q.schemas, "schema", "")
	flags.Var(&q.messages, "messages", "")
	flags.StringVar(&q.output, "output", "sql", "")
	flags.BoolVar(&q.offline, "offline", false, "")
	flags.BoolVar(&q.apply, "apply", false, "")
	switch err := spelling.Flag(flags, flags.Parse(args)); {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return err
	case err != nil:
		return UsageError{err}
	case flags.NArg() > 0:
		return UsageError{fmt.Errorf("there is no argument %q", flags.Arg(0))}
	}
	if err := q.check(); err != nil {
		return UsageError{err}
	}
	o, err := options.Options()
	if err == nil {
		o.CreateTables = false // what it asks of a rule's columns, a source may tell
		if o.Runtime.BigQueryRESTEndpoint != "" {
			o.Runtime.BigQueryGRPCEndpoint = cmp.Or(o.Runtime.BigQueryGRPCEndpoint, "127.0.0.1:1") // which is not asked
		}
		err = o.Validate()
	}
	if err != nil {
		return UsageError{err}
	}
	return q.run(ctx, &o, stdin, stdout)
}

func (q *request) check() error {
	given := 0
	for _, is := range []bool{q.source != "", len(q.schemas) > 0, len(q.messages) > 0} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return errors.New("give one of -source, -schema and -messages")
	case q.output != "sql" && q.output != "yaml":
		return fmt.Errorf("-output %q is neither sql nor yaml", q.output)
	case q.apply && q.output == "yaml":
		return errors.New("-apply runs statements, and -output yaml prints rules: leave one out")
	case q.apply && q.offline:
		return errors.New("-apply runs statements, and -offline asks nobody: leave one out")
	case q.source != "" && !database.IsPostgres(q.source) && !database.IsMySQL(q.source):
		return errors.New("-source is no postgres:// or mysql:// URL")
	case q.name != "" && len(q.schemas) == 0:
		return errors.New("-table is for -schema")
	}
	return nil
}

func (q *request) run(ctx context.Context, o *pipeline.Options, stdin io.Reader, stdout io.Writer) error {
	c := o.CatalogConfig()
	router, err := table.NewRouter(c.Project, c.Rules)
	if err != nil {
		return UsageError{err}
	}
	told, err := q.sources(ctx, o, router, stdin)
	if err != nil {
		return err
	}
	p := planner{options: o, router: router, datasets: map[string]bool{}, rules: q.output == "yaml"}
	if q.source != "" || len(q.schemas)+len(q.messages) > 0 {
		p.told = &told
	}
	var client *warehouse.Client
	if q.offline || p.rules {
		p.look = func(context.Context, table.Name) (*table.Table, error) { return nil, nil }
		p.hasDataset = func(context.Context, string, string) (bool, error) { return false, nil }
	} else {
		tables, err := catalog.Open(ctx, c)
		if err != nil {
			return err
		}
		if client, err = warehouse.Open(ctx, c); err != nil {
			return err
		}
		defer client.Close()
		p.look = tables.Look
		p.hasDataset = func(ctx context.Context, project, dataset string) (bool, error) {
			location, err := client.Location(ctx, project, dataset)
			return location != "", err
		}
	}
	if err := p.planFor(ctx, told.sources); err != nil {
		return err
	}
	if p.rules {
		return writeRules(stdout, told.notes, p.plan)
	}
	for _, note := range told.notes {
		if _, err := io.WriteString(stdout, comment(note)+"\n"); err != nil {
			return err
		}
	}
	a := applier{client: client, location: c.Location, out: stdout, apply: q.apply}
	return a.all(ctx, p.plan)
}

// sources reads what is told of the sources' tables.
func (q *request) sources(ctx context.Context, o *pipeline.Options, router *table.Router, stdin io.Reader) (t told, err error) {
	asked := func(name string) bool {
		_, ok := router.Route(name)
		return ok
	}
	switch {
	case database.IsPostgres(q.source):
		t.sources, err = readPostgres(ctx, q.source, asked)
	case database.IsMySQL(q.source):
		t.sources, err = readMySQL(ctx, q.source, asked)
	case len(q.messages) > 0:
		return q.learn(o, router, stdin)
	}
	for _, file := range q.schemas {
		more, err := readSchemas(file, q.name)
		if err != nil {
			return t, UsageError{err}
		}
		t.sources = joined(t.sources, more)
	}
	for _, s := range t.sources {
		if !asked(s.Name) {
			t.others = append(t.others, s.Name)
		}
	}
	if len(t.others) > 0 {
		t.notes = append(t.notes, "no rule lists, and so left out here: "+listed(t.others))
	}
	return t, err
}

// joined adds sources that other files told of: one has a table's columns, another its key.
func joined(sources, more []*Source) []*Source {
	for _, m := range more {
		known := false
		for _, s := range sources {
			if s.Name != m.Name {
				continue
			}
			known = true
			if len(s.Columns) == 0 {
				s.Columns = m.Columns
			}
			if len(s.Key) == 0 {
				s.Key = m.Key
			}
		}
		if !known {
			sources = append(sources, m)
		}
	}
	return sources
}

func (q *request) learn(o *pipeline.Options, router *table.Router, stdin io.Reader) (told, error) {
	decoder, err := o.Decoder()
	if err != nil {
		return told{}, err
	}
	read, err := OpenAll(q.messages, stdin)
	if err != nil {
		return told{}, UsageError{err}
	}
	return readMessages(read, decoder, router)
}

// said writes texts as comments.
func said(texts []string, prefix string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(comment(prefix + text))
	}
	return b.String()
}
