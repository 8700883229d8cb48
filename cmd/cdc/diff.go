package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/cmd/cdc/internal/diff"
	"beamcdc/internal/endpoint"
	"beamcdc/internal/spelling"
	"beamcdc/pipeline"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/secret"
)

const diffUsage = `Usage: cdc diff -config FILE (-source URL | -file FILE) [FLAGS]

Compares a table of a source database, or a file of rows, with its table in BigQuery,
by the columns that both have, and prints the rows that differ: "missing" in BigQuery,
"extra" there, "different" in the columns that follow, or "refused", which the pipeline
makes a dead letter of. Exit status: 0 equal, 1 different, 2 trouble.

  -config FILE    the pipeline's configuration: its rule says where the table goes and
                  what its values mean
  -table NAME     the source's table as the change events name it: public.orders,
                  shop.orders. Defaults to the rule's source if there is just one rule
  -source URL     postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE,
                  which does for MariaDB. Passwords are better left to PGPASSWORD,
                  ~/.pgpass and MYSQL_PWD. It needs no right but to SELECT. On another
                  machine the server must speak TLS with a certificate that can be
                  verified, unless the URL has an sslmode or tls: sslmode=verify-full and
                  sslrootcert=FILE, tls=false
  -file FILE      rows instead: .jsonl, one JSON object a line, or .csv with a line of
                  names, in which an empty field is NULL. Values mean what they mean in
                  messages without a schema
  -values         print the values that differ, too
  -limit ROWS     print no more rows than these, and how many more there are. All of them
                  count, and are repaired. 0 is no limit. Defaults to 100 in a table, and
                  to 0 in json
  -output FORM    table, or json: one object a line. Defaults to table
  -recheck TIME   what differs is looked at again after this pause, twice, since source
                  and table move. 0 is for sources that rest. Defaults to 10s, or the
                  table's max_staleness if that is longer: BigQuery shows rows that old
  -chunk ROWS     how many rows a range has that is compared by its hash. Defaults to 10000
  -bigquery_rest_endpoint URL   of an emulator. This and the others of cmd/launch beat the
                  configuration's

  -repair         publish what the source has of each row that differs, deletes included:
                  the way to mend a table that takes no UPDATE, DELETE or MERGE
  -topic TOPIC    where to: the topic that the pipeline's subscription is of,
                  projects/PROJECT/topics/NAME. PUBSUB_EMULATOR_HOST counts
  -sequence TEXT  of a file's rows, their _CHANGE_SEQUENCE_NUMBER, such as 2/0/0/0: higher
                  than the rows to be replaced have, lower than what is yet to come

The rule's steps of enrich are done to the source's rows before. What a step takes from a
lookup, or from the change and not from the row, isn't compared, and standard error says
so; nor is a mask whose key can't be read here. Such a table's rows are compared one by one.

The comparison is of what both sides show as committed at about one time; of a table
that rests it is exact. A repaired row of a database has a position in its log, so that
it beats what was streamed before and loses to what comes after: repair while the
pipeline runs. That holds where the pipeline reads Debezium's positions (format auto or
debezium). PostgreSQL must be the primary, and transactions that are under way must end
before a row is read, for which it waits up to five minutes. MySQL's rows are read with
a shared lock.
`

// statusError ends the command with a status of its own. A nil err says nothing.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// rowsShown are the rows that a table has without -limit.
const rowsShown = 100

// diffFlags are what the user asks for.
type diffFlags struct {
	configuration                                *configured.Flags
	table, source, file, output, topic, sequence string
	values, repair                               bool
	recheck                                      time.Duration
	chunk, limit                                 int
}

func diffCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var f diffFlags
	flags := flag.NewFlagSet("diff", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {} // a bad flag gets one line
	f.configuration = configured.Add(flags)
	flags.StringVar(&f.table, "table", "", "")
	flags.StringVar(&f.source, "source", "", "")
	flags.StringVar(&f.file, "file", "", "")
	flags.StringVar(&f.output, "output", "table", "")
	flags.StringVar(&f.topic, "topic", "", "")
	flags.StringVar(&f.sequence, "sequence", "", "")
	flags.BoolVar(&f.values, "values", false, "")
	flags.BoolVar(&f.repair, "repair", false, "")
	flags.DurationVar(&f.recheck, "recheck", -1, "")
	flags.IntVar(&f.chunk, "chunk", 0, "")
	flags.IntVar(&f.limit, "limit", -1, "")
	switch err := spelling.Flag(flags, flags.Parse(args)); {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, diffUsage)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w; run \"cdc diff -h\"", errUsage, err)
	case flags.NArg() > 0:
		return fmt.Errorf("%w: diff takes no argument %q", errUsage, flags.Arg(0))
	}
	o, err := f.configuration.Options()
	if errors.Is(err, configured.ErrNoFile) {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err != nil {
		return &statusError{2, err}
	}
	if err := f.check(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	given := false
	flags.Visit(func(g *flag.Flag) { given = given || g.Name == "limit" })
	switch {
	case given && f.limit < 0:
		return fmt.Errorf("%w: -limit is no number of rows", errUsage)
	case !given && f.output == "json":
		f.limit = 0
	case !given:
		f.limit = rowsShown
	}
	found, err := f.run(ctx, o, stdout, stderr)
	switch {
	case err != nil:
		return &statusError{2, err}
	case found > 0:
		return &statusError{1, nil}
	}
	return nil
}

func (f *diffFlags) check() error {
	switch {
	case (f.source == "") == (f.file == ""):
		return errors.New("give one of -source and -file")
	case f.output != "table" && f.output != "json":
		return fmt.Errorf("-output %q is neither table nor json", f.output)
	case f.chunk < 0:
		return errors.New("-chunk is no number of rows")
	case f.repair && f.topic == "":
		return errors.New("-repair needs -topic: the topic that the pipeline's subscription is of")
	case !f.repair && (f.topic != "" || f.sequence != ""):
		return errors.New("-topic and -sequence are for -repair")
	case f.repair && (f.file != "") != (f.sequence != ""):
		return errors.New("-sequence is for repairing from a -file, which needs it: a database has positions of its own")
	}
	if f.topic != "" {
		if _, err := topicProject(f.topic); err != nil {
			return err
		}
	}
	return nil
}

// run compares, and returns how many rows differ.
func (f *diffFlags) run(ctx context.Context, o pipeline.Options, stdout, stderr io.Writer) (int64, error) {
	if o.Runtime.BigQueryRESTEndpoint != "" {
		o.Runtime.BigQueryGRPCEndpoint = cmp.Or(o.Runtime.BigQueryGRPCEndpoint, "127.0.0.1:1") // which is not asked
	}
	if err := o.Validate(); err != nil {
		return 0, err
	}
	destination, err := f.destination(ctx, o)
	if err != nil {
		return 0, err
	}
	var sequence change.Sequence
	if f.repair {
		if sequence, err = f.checkRepair(o, destination.Rule); err != nil {
			return 0, err
		}
	}
	source, err := f.open(ctx)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	steps, err := diff.NewEnrichment(destination.Rule, destination.Plan, source.Columns(), func(where table.SecretKey) ([]byte, error) { return secret.Read(ctx, where) })
	if err != nil {
		return 0, fmt.Errorf("the rule of %s: %w", f.table, err)
	}
	t, err := diff.NewEnrichedTable(f.table, destination.Shown(), source.Columns(), steps)
	if lacks, ok := errors.AsType[*diff.NoColumnError](err); ok && f.file != "" {
		lacks.Source = f.file // it is the file that lacks it
	}
	if err != nil {
		return 0, err
	}
	source.Use(t)
	client, err := bigqueryClient(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { _ = client.Close() }() // it was only read
	c := diff.Comparer{Table: t, Source: source, BigQuery: diff.NewBigQuery(client, t)}
	c.Chunk, c.Recheck = f.chunk, f.recheck
	if f.recheck < 0 {
		c.Recheck = max(10*time.Second, t.MaxStaleness)
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(stderr, "cdc diff: "+format+"\n", args...) }
	told := time.Now()
	c.Options.Progress = func(p diff.Progress) {
		switch {
		case p.Looking > 0:
			say("%s; looking again in %s", differ(p.Looking), c.Recheck)
		case time.Since(told) > 5*time.Second:
			say("%s compared, %d differ", rows(p.Rows), p.Differences)
			told = time.Now()
		}
	}
	f.introduce(t, source, say)

	var repairer *diff.Repairer
	if f.repair {
		options, err := o.SourceConfig().ClientOptions()
		if err != nil {
			return 0, err
		}
		topic, err := openTopic(ctx, f.topic, options...)
		if err != nil {
			return 0, err
		}
		defer topic.close()
		repairer = &diff.Repairer{Table: t, Publish: topic.publish, Sequence: sequence, Now: time.Now}
		repairer.Settler, _ = source.(diff.Settler)
		repairer.File, _ = source.(*diff.File)
	}
	printer := diff.Printer{Out: stdout, JSON: f.output == "json", Values: f.values, Limit: f.limit}
	var found int64
	repaired := 0
	c.Found = func(ctx context.Context, differences []diff.Difference) error {
		found += int64(len(differences))
		for i := range differences {
			if err := printer.Print(t, &differences[i]); err != nil {
				return err
			}
		}
		if repairer == nil {
			return nil
		}
		n, err := repairer.Repair(ctx, differences)
		repaired += n
		return err
	}
	p, err := c.Run(ctx)
	if more := printer.Left(); more > 0 {
		say("… and %s more, which -limit 0 prints too", rows(more))
	}
	if err == nil {
		say("%s of %s compared with %v, %s read, %d differ", rows(p.Rows), cmp.Or(f.file, f.table), t.Name, rows(p.Read), found)
	}
	if f.repair {
		say("%s published to %s", rows(repaired), f.topic)
	}
	return found, err
}

// rows counts rows.
func rows[N int | int64](n N) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

func differ(n int) string {
	if n == 1 {
		return "1 row differs"
	}
	return rows(n) + " differ"
}

// destination returns the table that the rule is for, and completes -table.
func (f *diffFlags) destination(ctx context.Context, o pipeline.Options) (*catalog.Destination, error) {
	o.CreateTables = false // looking makes none
	tables, err := catalog.Open(ctx, o.CatalogConfig())
	if err != nil {
		return nil, err
	}
	if f.table == "" {
		if len(o.Tables) != 1 || strings.Contains(o.Tables[0].Source, "*") {
			return nil, errors.New("-table is missing: the configuration has more than one table")
		}
		f.table = o.Tables[0].Source
	}
	match, found := tables.Route(f.table)
	if !found {
		return nil, noRule(f.table, tables)
	}
	return tables.Destination(ctx, match)
}

// noRule says that no rule is for a table, and which one may be meant.
func noRule(name string, tables interface{ Nearest(source string) string }) error {
	if near := tables.Nearest(name); near != "" {
		return fmt.Errorf("no rule of the configuration is for %s; did you mean %s?", name, near)
	}
	return fmt.Errorf("no rule of the configuration is for %s", name)
}

// checkRepair says whether the pipeline gives what would be published the right
// order, and returns the sequence of a file's rows.
func (f *diffFlags) checkRepair(o pipeline.Options, rule *table.Rule) (change.Sequence, error) {
	var none change.Sequence
	switch {
	case rule.Sequence != "":
		return none, fmt.Errorf("the rule of %s has an order of its own (sequence), which a repair doesn't know", f.table)
	case rule.Tombstones == "delete":
		return none, fmt.Errorf("the table of %s takes the order of publishing (tombstones: delete), in which a repair could undo a change that is on its way", f.table)
	}
	formats := []string{"", "auto", "debezium"}
	if f.file != "" {
		formats[2] = "columns"
	}
	if !slices.Contains(formats, o.Source.Format) {
		return none, fmt.Errorf("the pipeline reads %s alone, and a repair is published as %s: it needs source.format auto", o.Source.Format, formats[2])
	}
	if f.file == "" {
		return none, nil
	}
	sequence, err := change.ParseSequence(f.sequence)
	if err == nil && len(sequence.Sections()) != change.MaxSections && o.Source.Format != "columns" {
		err = errors.New("the pipeline's sequences have four sections, and all of a table's should have as many")
	}
	if err != nil {
		return none, fmt.Errorf("-sequence: %w", err)
	}
	return sequence, nil
}

func (f *diffFlags) open(ctx context.Context) (diff.Source, error) {
	scheme, _, _ := strings.Cut(f.source, ":")
	switch {
	case f.file != "":
		return diff.OpenFile(f.file)
	case scheme == "postgres" || scheme == "postgresql":
		return diff.OpenPostgres(ctx, f.source, f.table)
	case scheme == "mysql" || scheme == "mariadb":
		return diff.OpenMySQL(ctx, f.source, f.table)
	}
	return nil, errors.New("-source is no postgres:// or mysql:// URL")
}

// introduce says what is and isn't compared.
func (f *diffFlags) introduce(t *diff.Table, source diff.Source, say func(string, ...any)) {
	if len(t.OnlySource) > 0 {
		say("not compared, since BigQuery's table doesn't have them: %s", strings.Join(t.OnlySource, ", "))
	}
	if len(t.OnlyBigQuery) > 0 {
		say("not compared, since the source doesn't have them: %s", strings.Join(t.OnlyBigQuery, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Left)) {
		say("%s is not compared: %s", name, t.Left[name])
	}
	if why := source.Unhashed(); why != "" && f.file == "" {
		say("rows are compared one by one: %s", why)
	}
	if names := t.OpenSpans(); len(names) > 0 {
		say("of %s both forms count as equal in which Debezium sends an interval, as a number or as a text; -repair sends the text, unless the rule's column has `from: micros`", strings.Join(names, ", "))
	}
	if t.MaxStaleness > 0 {
		say("the table has max_staleness: what BigQuery shows may be %s old", t.MaxStaleness)
	}
}

// bigqueryClient returns a client by which tables are queried.
func bigqueryClient(ctx context.Context, o pipeline.Options) (*bigquery.Client, error) {
	c := o.CatalogConfig()
	options, err := endpoint.REST(c.RESTEndpoint, c.AllowPlaintext)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	client, err := bigquery.NewClient(ctx, c.Project, options...)
	if err != nil {
		return nil, fmt.Errorf("creating BigQuery's client: %w", err)
	}
	return client, nil
}
