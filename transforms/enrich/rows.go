package enrich

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters: rows that were enriched,
// rows_left_out by a where, lookup_misses, lookup_refreshes and lookup_failures, which
// are failed refreshes; and of the gauge lookup_age_seconds, how long ago the oldest
// reference of the last rows was read.
const Namespace = "enrich"

// Stage is the stage of dead letters of rows that can't be enriched. Their reasons are
// those of package enrichment.
const Stage = "enrich"

var metrics = metric.In(Namespace)

var (
	rowsCounter      = metrics.Counter("rows", metric.Rows, "Rows that were enriched.")
	leftOutCounter   = metrics.Counter("rows_left_out", metric.Rows, "Rows that a where left out.")
	missesCounter    = metrics.Counter("lookup_misses", metric.Rows, "Lookups that found nothing.")
	refreshesCounter = metrics.Counter("lookup_refreshes", metric.Tries, "Readings of a reference that succeeded.")
	failuresCounter  = metrics.Counter("lookup_failures", metric.Tries, "Readings of a reference that failed: what was read before goes on serving.")
	ageGauge         = metrics.Gauge("lookup_age_seconds", metric.Seconds, "How long ago the oldest reference of the last rows was read.")
)

// Rows enriches the rows of one table. It is for one goroutine.
type Rows struct {
	*enrichment.Enricher
	plan       *enrichment.Plan
	references []*joined
	misses     uint64
	counted    time.Time
}

// Problems is everything that is wrong with a rule's steps, given its table: no row
// can be enriched until the rule or the table changes.
type Problems struct {
	Table  table.Name
	Errors []error // *enrichment.Problem
}

// Error returns all of them.
func (p *Problems) Error() string {
	return fmt.Sprintf("enriching rows of %v: %v", p.Table, errors.Join(p.Errors...))
}

// compiled is a rule's steps for a table.
type compiled struct {
	plan *enrichment.Plan
	err  error
}

// plans are the process's, by rule and table: compiling expressions takes longer than
// a bundle.
var plans sync.Map // of compilation to func() compiled

type compilation struct {
	rule *table.Rule
	rows *rowproto.Plan
}

// compile compiles the rule's steps for the table. Its error is a *Problems.
func compile(rule *table.Rule, rows *rowproto.Plan) (*enrichment.Plan, error) {
	once, _ := plans.LoadOrStore(compilation{rule, rows}, sync.OnceValue(func() compiled {
		plan, problems := enrichment.Compile(rule.Enrich, rows, Open(rule))
		problems = append(problems, enrichment.CheckCompleting(rule, rows.Table().PrimaryKey)...)
		if len(problems) > 0 {
			return compiled{err: &Problems{Table: rows.Table().Name, Errors: problems}}
		}
		return compiled{plan: plan}
	}))
	c := once.(func() compiled)()
	return c.plan, c.err
}

// Open reports whether a rule's messages may have columns that its table lacks.
func Open(rule *table.Rule) bool {
	return rule.UnknownColumns == "ignore" || rule.UnknownColumns == "add"
}

// Check returns why a rule's steps don't fit its table: a *Problems, or nil.
func Check(rule *table.Rule, rows *rowproto.Plan) error {
	_, err := compile(rule, rows)
	return err
}

// New returns what enriches a rule's rows for a table, nil where the rule has no steps.
// It reads the references and keys that this process has not read yet, and waits for
// them: its error is a *Problems where the steps don't fit the table, else the world's,
// and the bundle's to be tried again.
func New(ctx context.Context, c Config, rule *table.Rule, rows *rowproto.Plan) (*Rows, error) {
	if len(rule.Enrich) == 0 {
		return nil, nil
	}
	plan, err := compile(rule, rows)
	if err != nil {
		return nil, err
	}
	name := rows.Table().Name
	r := &Rows{plan: plan}
	var indexes []func() *enrichment.Index
	for _, join := range plan.Lookups() {
		of, err := openReference(ctx, c, join)
		if err != nil {
			return nil, fmt.Errorf("enriching rows of %v: %w", name, err)
		}
		r.references = append(r.references, of)
		indexes = append(indexes, of.index.Load)
	}
	var secrets [][]byte
	for _, where := range plan.Secrets() {
		key, err := readKey(ctx, *where)
		if err != nil {
			return nil, fmt.Errorf("enriching rows of %v: %w", name, err)
		}
		secrets = append(secrets, key)
	}
	if r.Enricher, err = plan.NewEnricher(indexes, secrets); err != nil {
		return nil, fmt.Errorf("enriching rows of %v: %w", name, err)
	}
	return r, nil
}

// Sources is [enrichment.Plan.Sources].
func (r *Rows) Sources() []string { return r.plan.Sources() }

// ChangesKey is [enrichment.Plan.ChangesKey].
func (r *Rows) ChangesKey() bool { return r.plan.ChangesKey() }

// Row returns the row as it is to be written, and whether it is, as
// [enrichment.Enricher.Row] does, and counts. It must be called within a bundle.
func (r *Rows) Row(ctx context.Context, e *change.Event, columns []change.Column, sequence change.Sequence) ([]change.Column, bool, error) {
	row, stays, err := r.Enricher.Row(e, columns, sequence)
	if err == nil {
		rowsCounter.Inc(ctx, 1)
	}
	if err == nil && !stays {
		leftOutCounter.Inc(ctx, 1)
	}
	r.count(ctx)
	return row, stays, err
}

// Try is [Rows.Row] without counting: the row comes again.
func (r *Rows) Try(e *change.Event, columns []change.Column, sequence change.Sequence) ([]change.Column, bool, error) {
	before := r.Misses()
	row, stays, err := r.Enricher.Row(e, columns, sequence)
	r.misses += r.Misses() - before
	return row, stays, err
}

// count counts what went on besides the rows: counters are a bundle's.
func (r *Rows) count(ctx context.Context) {
	if len(r.references) == 0 {
		return
	}
	if misses := r.Misses(); misses != r.misses {
		missesCounter.Inc(ctx, int64(misses-r.misses))
		r.misses = misses
	}
	const seldom = time.Second
	if time.Since(r.counted) < seldom {
		return
	}
	r.counted = time.Now()
	var oldest float64
	for _, of := range r.references {
		if n := of.refreshes.Swap(0); n > 0 {
			refreshesCounter.Inc(ctx, n)
		}
		if n := of.failures.Swap(0); n > 0 {
			failuresCounter.Inc(ctx, n)
		}
		oldest = max(oldest, of.age().Seconds())
	}
	ageGauge.Set(ctx, int64(oldest))
}
