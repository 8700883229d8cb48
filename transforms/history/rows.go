package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	_ "beamcdc/transforms/coders" // of row changes and rows
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/metric"
)

// Namespace is the namespace of the counters: changes, of which each makes a row or a
// dead letter (letters); before_columns_left_out, whose values the table can't hold;
// and those of the writer (bqcdc), which has it too: rows_appended and rows_rejected,
// together as many as rows, bytes_appended and requests, which are what the history costs.
const Namespace = "history"

// Stage is the stage of the dead letters, the writer's too.
const Stage = "history"

// ReasonBadTable is the reason of the dead letters of changes whose history can't take
// rows, and no repetition will help. The others are those of rowproto's ValueErrors.
const ReasonBadTable = "bad_history"

func init() {
	dofn.Register(func(f *rowsFn) dofn.Func { return dofn.Func4x1(f.ProcessElement) })
	register.Emitter1[change.Row]()
	register.Emitter1[deadletter.Letter]()
}

var metrics = metric.In(Namespace)

var (
	changesCounter = metrics.Counter("changes", metric.Changes, "Changes of tables that have a history.")
	lettersCounter = metrics.Counter("letters", metric.Letters, "Changes whose history row can't be made: dead letters.")
	leftOutCounter = metrics.Counter("before_columns_left_out", metric.Values, "Values of before images that the table can't hold, and its history lacks.")
)

// Config says whose changes are kept where. It travels to the workers as JSON.
type Config struct {
	// Tables is the catalog of the tables whose changes they are, the one that keyed has.
	Tables catalog.Config
	// Histories is the catalog of the histories: see [Catalog].
	Histories catalog.Config
	// RetryFor is how long a table that BigQuery does not tell about is asked for again
	// before the bundle fails. Defaults to ten minutes.
	RetryFor time.Duration
}

// Catalog returns the catalog's configuration of the histories, given that of the tables.
func Catalog(tables catalog.Config) catalog.Config {
	tables.Rules, tables.Plain = nil, Columns()
	return tables
}

// Rows turns a PCollection<change.RowChange>, changes of tables that have a history,
// into a PCollection<change.Row> of the histories' plain rows, for a writer whose
// catalog is Histories. Beside it is a PCollection<deadletter.Letter>. A change's
// receipts are with the one or the other.
func Rows(s beam.Scope, c Config, changes beam.PCollection) (rows, letters beam.PCollection) {
	s = s.Scope("history.Rows")
	// Otherwise a runner would fuse this with what made the changes: the tables' own rows
	// would leave that bundle only after BigQuery has taken those of their histories, and
	// wait for ever while it takes none.
	changes = beam.Reshuffle(s, changes)
	return beam.ParDo2(s, &rowsFn{Tables: c.Tables, Histories: c.Histories, RetryFor: c.RetryFor}, changes)
}

// rowsFn makes the row of one change at a time.
type rowsFn struct {
	Tables    catalog.Config
	Histories catalog.Config
	RetryFor  time.Duration

	tables, histories *catalog.Catalog
	// places are those of this bundle, by the source's table: the next bundle asks the
	// catalogs again, which may have learned of a change.
	places   map[string]*place
	images   map[*rowproto.Plan]*images
	encoders map[table.Name]*rowproto.Encoder
}

// place is where the changes of one source table are kept.
type place struct {
	match catalog.Match
	of    *catalog.Destination // the table whose changes they are
	name  string               // of the history, made once
}

// Setup finds the process's catalogs.
func (f *rowsFn) Setup(ctx context.Context) (err error) {
	if f.tables, err = catalog.Open(ctx, f.Tables); err != nil {
		return err
	}
	f.histories, err = catalog.Open(ctx, f.Histories)
	return err
}

// StartBundle forgets what the catalogs said to the bundle before.
func (f *rowsFn) StartBundle(_ func(change.Row), _ func(deadletter.Letter)) {
	const many = 10_000 // plans of old schemas add up
	if f.images == nil || len(f.images) > many {
		f.images = make(map[*rowproto.Plan]*images)
		f.encoders = make(map[table.Name]*rowproto.Encoder)
	}
	f.places = make(map[string]*place)
}

// ProcessElement makes the row of a change.
func (f *rowsFn) ProcessElement(ctx context.Context, c change.RowChange, emit func(change.Row), letter func(deadletter.Letter)) error {
	changesCounter.Inc(ctx, 1)
	row, err := f.row(ctx, &c)
	var value *rowproto.ValueError
	switch {
	case err == nil:
		emit(row)
		return nil
	case errors.As(err, &value):
		f.refuse(ctx, &c, value.Reason, err, letter)
	case catalog.IsPermanent(err):
		f.refuse(ctx, &c, ReasonBadTable, err, letter)
	default: // invariant 7: the world's fault
		return fmt.Errorf("keeping a change of %s: %w", c.Table, err)
	}
	return nil
}

func (f *rowsFn) refuse(ctx context.Context, c *change.RowChange, reason string, err error, letter func(deadletter.Letter)) {
	lettersCounter.Inc(ctx, 1)
	letter(deadletter.Letter{
		Message: c.Event.Message, Stage: Stage, Reason: reason, Error: err.Error(), Table: c.Event.Table, Part: c.Event.Part, Receipts: c.Receipts,
	})
}

// row returns the history's row of the change.
func (f *rowsFn) row(ctx context.Context, c *change.RowChange) (change.Row, error) {
	p, err := f.place(ctx, c)
	if err != nil {
		return change.Row{}, err
	}
	columns, leftOut, err := f.columns(ctx, c, p)
	if err != nil {
		return change.Row{}, err
	}
	if leftOut > 0 {
		leftOutCounter.Inc(ctx, int64(leftOut))
	}
	return f.encode(c, p, columns)
}

// place returns where the changes of the change's table are kept.
func (f *rowsFn) place(ctx context.Context, c *change.RowChange) (*place, error) {
	source := c.Event.Table
	if p := f.places[source]; p != nil {
		return p, nil
	}
	match, ok := f.tables.Route(source)
	if !ok || match.Err != nil || match.History == (table.Name{}) {
		return nil, &catalog.Error{Permanent: true, Err: fmt.Errorf("table %.100q has no history", source)}
	}
	if len(match.Rule.PrimaryKey) == 0 {
		for _, column := range c.Event.Key {
			match.Declared = append(match.Declared, column.Name)
		}
		slices.Sort(match.Declared)
	}
	p := &place{match: match, name: match.History.String()}
	err := f.patiently(ctx, func() (err error) {
		if p.of, err = f.tables.Destination(ctx, match); err != nil {
			return err
		}
		return f.histories.Appendable(ctx, Table(match.History), View(match.History))
	})
	if err != nil {
		return nil, err
	}
	f.places[source] = p
	return p, nil
}

// columns makes the row's columns. One that the table did not have when its schema was
// read may be there now.
func (f *rowsFn) columns(ctx context.Context, c *change.RowChange, p *place) ([]change.Column, int, error) {
	ignore := p.match.Rule.UnknownColumns == "ignore"
	columns, leftOut, err := f.imagesOf(p.of.Plan).columns(c, ignore)
	var value *rowproto.ValueError
	if !errors.As(err, &value) || value.Reason != rowproto.ReasonUnknownColumn {
		return columns, leftOut, err
	}
	fresh, refreshErr := f.tables.Refresh(ctx, p.match)
	if refreshErr != nil || fresh.Plan == p.of.Plan {
		return nil, 0, err
	}
	p.of = fresh
	return f.imagesOf(fresh.Plan).columns(c, ignore)
}

func (f *rowsFn) imagesOf(plan *rowproto.Plan) *images {
	m := f.images[plan]
	if m == nil {
		m = newImages(plan)
		f.images[plan] = m
	}
	return m
}

func (f *rowsFn) encode(c *change.RowChange, p *place, columns []change.Column) (change.Row, error) {
	name := p.match.History
	plan, err := f.histories.PlainPlan(name)
	if err != nil {
		return change.Row{}, err
	}
	encoder := f.encoders[name]
	if encoder == nil {
		encoder = plan.NewEncoder()
		f.encoders[name] = encoder
	}
	data, err := encoder.AppendPlain(nil, columns)
	if err != nil {
		return change.Row{}, err
	}
	return change.Row{
		Table: p.name, Schema: plan.Fingerprint(), Key: c.Key, Data: data,
		CommitTime: c.Event.CommitTime, Message: c.Event.Message, Receipts: c.Receipts,
	}, nil
}

// patiently asks until there is an answer, or RetryFor is over: Beam's local runner
// does not repeat a bundle.
func (f *rowsFn) patiently(ctx context.Context, ask func() error) error {
	const firstPause, longestPause, retryFor = 250 * time.Millisecond, 10 * time.Second, 10 * time.Minute
	patience := f.RetryFor
	if patience == 0 {
		patience = retryFor
	}
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := ask()
		if err == nil || catalog.IsPermanent(err) || !time.Now().Add(pause).Before(end) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
