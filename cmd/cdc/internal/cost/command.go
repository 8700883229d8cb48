package cost

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/cmd/cdc/internal/ddl"
	"beamcdc/cmd/cdc/internal/warehouse"
	"beamcdc/internal/spelling"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
)

const usage = `Usage: cdc cost -config FILE -messages FILE [FLAGS]
       cdc cost -rate N -row_bytes N -table_bytes SIZE [FLAGS]

Estimates what BigQuery bills a month: the rows' bytes through the Storage Write API, and
how many rows a window saves; for several values of max_staleness the bytes that background
applies process; and the runtime merges of a rate of queries. All of it is an estimate, by
the model that docs/cost.md explains.

Traffic, of a sample:
  -config FILE         the pipeline's configuration; each of its scalars is a flag too
  -messages FILE       messages, one a line: as cmd/local takes them, or the data alone. "-"
                       is standard input; may be repeated
  -span TIME           in which the sample came, evenly. Defaults to the time between the
                       first and the last commit
or of one table's rate:
  -rate N              rows a second
  -row_bytes N         encoded bytes of a row
  -keys N              how many rows are changed, equally often. 0, the default, for rows of
                       ever new keys, of which a window saves none

  -table_bytes [TABLE=]SIZE   what a table has, in bytes or as 20MiB, 100GiB, 2TiB, or by
                       thousands as 20MB, 100GB, 2TB; TABLE is [PROJECT.]DATASET.TABLE;
                       may be repeated. Other tables' sizes are asked of BigQuery
  -offline             don't ask BigQuery
  -windows LIST        defaults to 1s,5s,30s,5m and the configuration's
  -staleness LIST      of max_staleness; 0 is none. Defaults to 0,5m,15m,1h,4h,24h
  -queries N           an hour, of each table (0)
  -query_share N       of a table that a query without a merge reads (1)
  -unset_apply TIME    how often BigQuery applies changes where there is no max_staleness,
                       which it doesn't say (10m)
  -prices FILE         instead of the list prices, which -print_prices prints to begin with
  -chart FILE          write the cost by max_staleness as an SVG
`

// UsageError is what the user has to write differently.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// request is what the command line asks for.
type request struct {
	messages, sizes      list
	span                 time.Duration
	rate, rowBytes, keys float64
	windows, staleness   string
	prices, chart        string
	offline, print       bool
	model                Model

	priced    Prices
	wanted    []time.Duration // windows
	stale     []time.Duration
	window    time.Duration // of the configuration, by which the months are estimated
	baselines map[string]float64
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string { return "" }

func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// Run runs the command. Errors of the command line and the files are UsageErrors.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options := configured.Add(flags)
	var q request
	flags.Var(&q.messages, "messages", "")
	flags.Var(&q.sizes, "table_bytes", "")
	flags.DurationVar(&q.span, "span", 0, "")
	flags.Float64Var(&q.rate, "rate", 0, "")
	flags.Float64Var(&q.rowBytes, "row_bytes", 0, "")
	flags.Float64Var(&q.keys, "keys", 0, "")
	flags.StringVar(&q.windows, "windows", "1s,5s,30s,5m", "")
	flags.StringVar(&q.staleness, "staleness", "0,5m,15m,1h,4h,24h", "")
	flags.Float64Var(&q.model.Queries, "queries", 0, "")
	flags.Float64Var(&q.model.QueryShare, "query_share", 1, "")
	flags.DurationVar(&q.model.UnsetApply, "unset_apply", 10*time.Minute, "")
	flags.StringVar(&q.prices, "prices", "", "")
	flags.StringVar(&q.chart, "chart", "", "")
	flags.BoolVar(&q.offline, "offline", false, "")
	flags.BoolVar(&q.print, "print_prices", false, "")
	switch err := spelling.Flag(flags, flags.Parse(args)); {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return err
	case err != nil:
		return UsageError{err}
	case flags.NArg() > 0:
		return UsageError{fmt.Errorf("there is no argument %q", flags.Arg(0))}
	case q.print:
		_, err := stdout.Write(listPrices)
		return err
	}
	if err := q.check(); err != nil {
		return UsageError{err}
	}
	o, err := options.OptionsOrNone()
	if err != nil {
		return UsageError{err}
	}
	q.window = cmp.Or(o.Window, 5*time.Second)
	if !slices.Contains(q.wanted, q.window) {
		q.wanted = append(q.wanted, q.window)
	}
	slices.Sort(q.wanted)
	chart, err := openChart(q.chart) // where it can't be written is told before the work
	if err != nil {
		return UsageError{err}
	}
	defer chart.close()
	tables, notes, err := q.traffic(ctx, &o, stdin)
	if err != nil {
		return err
	}
	r := q.estimate(tables)
	r.Notes = append(notes, r.Notes...)
	if err := r.write(stdout); err != nil {
		return err
	}
	return chart.write(r)
}

// check reads what the flags say.
func (q *request) check() (err error) {
	if q.priced, err = readPrices(q.prices); err != nil {
		return err
	}
	q.model.Hours = q.priced.Hours
	if q.wanted, err = durations("-windows", q.windows, false); err != nil {
		return err
	}
	if q.stale, err = durations("-staleness", q.staleness, true); err != nil {
		return err
	}
	q.baselines = map[string]float64{}
	for _, text := range q.sizes {
		name, size, named := strings.Cut(text, "=")
		if !named {
			name, size = "", text
		}
		if q.baselines[name], err = parseSize(size); err != nil {
			return fmt.Errorf("-table_bytes %q: %w", text, err)
		}
	}
	// What is no number passes all comparisons below, and would be a bill of 0.00.
	for name, n := range map[string]float64{
		"-rate": q.rate, "-row_bytes": q.rowBytes, "-keys": q.keys, "-queries": q.model.Queries, "-query_share": q.model.QueryShare,
	} {
		if !(math.Abs(n) <= 1e18) {
			return fmt.Errorf("%s %v is no number that anything has", name, n)
		}
	}
	switch m := &q.model; {
	case (q.rate > 0) == (len(q.messages) > 0):
		return errors.New("give one of -messages and -rate")
	case q.rate > 0 && q.rowBytes <= 0:
		return errors.New("-rate needs -row_bytes: the encoded bytes of a row")
	case q.rate < 0 || q.keys < 0 || q.keys > 0 && q.keys < 1:
		return errors.New("-rate and -keys are no such numbers")
	case q.span < 0 || m.Queries < 0 || m.QueryShare < 0 || m.QueryShare > 1 || m.UnsetApply <= 0:
		return errors.New("-span, -queries and -unset_apply are positive, and -query_share is from 0 to 1")
	}
	return nil
}

func durations(name, text string, zero bool) ([]time.Duration, error) {
	var all []time.Duration
	for part := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d < 0 || d == 0 && !zero {
			return nil, fmt.Errorf("%s: %q is no time such as 30s or 15m", name, part)
		}
		all = append(all, d)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// parseSize reads a number of bytes. Capitals don't matter.
func parseSize(text string) (float64, error) {
	number, unit := strings.ToLower(strings.TrimSpace(text)), 1.0
	for i, prefix := range []string{"", "k", "m", "g", "t", "p"} {
		if rest, ok := strings.CutSuffix(number, prefix+"ib"); ok && i > 0 {
			number, unit = rest, float64(uint64(1)<<(10*i))
			break
		}
		if rest, ok := strings.CutSuffix(number, prefix+"b"); ok && (i > 0 || strings.TrimRight(rest, "0123456789. ") == "") {
			number, unit = rest, math.Pow10(3*i)
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if n *= unit; err != nil || !(n >= 0) || n > 1e18 {
		return 0, errors.New("write bytes, or a number with KiB, MiB, GiB or TiB, of 1024, or with KB, MB, GB or TB, of 1000")
	}
	return n, nil
}

// traffic returns what the tables get, and how large they are.
func (q *request) traffic(ctx context.Context, o *pipeline.Options, stdin io.Reader) (tables []Traffic, notes []string, err error) {
	if q.rate > 0 {
		t := given(q.rate, q.rowBytes, q.keys)
		t.Table, t.Origin = "one table", "-table_bytes"
		var given bool
		for name := range q.baselines {
			if name != "" {
				return nil, nil, UsageError{fmt.Errorf("-table_bytes names table %s, and -rate is of one table without a name: give -table_bytes SIZE alone", name)}
			}
		}
		if t.Baseline, given = q.baselines[""]; !given { // an empty table has 0
			return nil, nil, UsageError{errors.New("-rate needs -table_bytes: how many bytes the table has")}
		}
		keys := "of " + counted(q.keys, "key")
		if q.keys == 0 {
			keys = "of ever new keys"
		}
		return []Traffic{t}, []string{fmt.Sprintf("given: %s a second of %s, %s", counted(q.rate, "row"), counted(q.rowBytes, "byte"), keys)}, nil
	}
	o.CreateTables = false // what it asks of a rule's columns, messages tell
	if o.Runtime.BigQueryRESTEndpoint != "" {
		o.Runtime.BigQueryGRPCEndpoint = cmp.Or(o.Runtime.BigQueryGRPCEndpoint, "127.0.0.1:1") // which is not asked
	}
	if err := o.Validate(); err != nil {
		return nil, nil, UsageError{err}
	}
	c := o.CatalogConfig()
	router, err := table.NewRouter(c.Project, c.Rules)
	if err != nil {
		return nil, nil, UsageError{err}
	}
	decoder, err := o.Decoder()
	if err != nil {
		return nil, nil, err
	}
	messages, err := ddl.OpenAll(q.messages, stdin)
	if err != nil {
		return nil, nil, UsageError{err}
	}
	implied, notes, err := ddl.Implied(messages, decoder, router)
	if bad, ok := errors.AsType[ddl.UsageError](err); ok {
		return nil, nil, UsageError{bad}
	} else if err != nil {
		return nil, nil, err
	}
	s, err := take(messages, decoder, implied)
	if err != nil {
		return nil, nil, err
	}
	if len(s.tables) == 0 {
		return nil, nil, UsageError{noRow(notes, s)}
	}
	span, err := s.arrive(q.span)
	if err != nil {
		return nil, nil, UsageError{err}
	}
	tables = s.traffic(span)
	if err := q.checkNames(c.Project, router, tables); err != nil {
		return nil, nil, UsageError{err}
	}
	how := "by the time of their commits"
	if q.span > 0 {
		how = "evenly, by -span"
	}
	notes = append(notes, fmt.Sprintf("sample: %s, %s, in %v, %s; rows are taken to come at this rate all month",
		counted(float64(len(messages)), "message"), counted(float64(s.events), "change"), span.Round(time.Millisecond), how))
	for _, why := range slices.Sorted(maps.Keys(s.refused)) {
		notes = append(notes, fmt.Sprintf("%d without a row, and in no figure: %s", s.refused[why], why))
	}
	empty, err := q.measure(ctx, o, tables)
	return tables, append(notes, empty...), err
}

// noRow is the error of a sample of which no row could be made.
func noRow(notes []string, s *sample) error {
	why := slices.Clone(notes)
	for _, reason := range slices.Sorted(maps.Keys(s.refused)) {
		why = append(why, fmt.Sprintf("%d without a row: %s", s.refused[reason], reason))
	}
	return fmt.Errorf("of no message could a row be made: %s", strings.Join(why, "; "))
}

// checkNames says which table of -table_bytes is none of the configuration's.
func (q *request) checkNames(project string, router *table.Router, tables []Traffic) error {
	var known []string
	for i := range tables {
		known = append(known, tables[i].Table)
	}
	for _, m := range router.Literals() { // the sample may have no row of them
		if name := m.Name.String(); !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for _, given := range slices.Sorted(maps.Keys(q.baselines)) {
		if given == "" {
			continue
		}
		name, err := table.ParseName(given, project)
		if err != nil {
			return fmt.Errorf("-table_bytes %s=…: %w", given, err)
		}
		if slices.Contains(known, name.String()) {
			continue
		}
		if near := spelling.Nearest(name.String(), known); near != "" {
			return fmt.Errorf("-table_bytes names table %s, which is none of the configuration's; %s is meant", given, near)
		}
		slices.Sort(known)
		return fmt.Errorf("-table_bytes names table %s, which is none of the configuration's and the sample's: %s", given, strings.Join(known, ", "))
	}
	return nil
}

// measure finds the tables' sizes. The notes warn of those that BigQuery says are empty.
func (q *request) measure(ctx context.Context, o *pipeline.Options, tables []Traffic) (notes []string, err error) {
	c := o.CatalogConfig()
	var client *warehouse.Client
	for i := range tables {
		t := &tables[i]
		name, err := table.ParseName(t.Table, c.Project)
		if err != nil {
			return nil, err
		}
		given := func(key string) bool {
			size, ok := q.baselines[key]
			if ok {
				t.Baseline, t.Origin = size, "-table_bytes"
			}
			return ok
		}
		if given(t.Table) || given(name.Dataset+"."+name.Table) || given("") {
			continue
		}
		if q.offline {
			return nil, UsageError{fmt.Errorf("nothing says how large %s is; give -table_bytes %s=SIZE, or -table_bytes SIZE for all, or leave -offline out", t.Table, t.Table)}
		}
		if client == nil {
			if client, err = warehouse.Open(ctx, c); err != nil {
				return nil, err
			}
			defer client.Close()
		}
		found, err := client.Table(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("asking BigQuery how large %s is: %w; -table_bytes says it, too", t.Table, err)
		}
		if found == nil {
			return nil, UsageError{fmt.Errorf("BigQuery has no table %s; give -table_bytes %s=SIZE", t.Table, t.Table)}
		}
		t.Baseline, t.Origin = float64(found.NumBytes), "BigQuery"
		if found.NumBytes == 0 {
			notes = append(notes, fmt.Sprintf("warning: BigQuery says that %s is empty: what is estimated of applies and queries is of a table of 0 bytes, and no estimate of what it will have; give -table_bytes %s=SIZE", t.Table, t.Table))
		}
	}
	return notes, nil
}
