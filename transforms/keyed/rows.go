package keyed

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
	"beamcdc/transforms/catalog"
	_ "beamcdc/transforms/coders" // of events, rows and receipts
	"beamcdc/transforms/deadletter"
)

// Namespace is the namespace of this package's counters: events, of which each
// makes a row, two (key_changes), none (filtered), or a dead letter (letters);
// upserts and deletes; values_adjusted by policies, together and each apart (see
// adjustments); and of Coalesce rows_coalesced, rows_superseded, bytes_superseded.
const Namespace = "keyed"

// The stages of this package's dead letters.
const (
	StageKey    = "key"
	StageEncode = "encode"
)

func init() {
	register.DoFn5x1[context.Context, change.Event, func([]byte, change.Row), func(change.Receipt), func(deadletter.Letter), error](&rowsFn{})
	register.Emitter2[[]byte, change.Row]()
	register.Emitter1[change.Receipt]()
	register.Emitter1[deadletter.Letter]()
}

var (
	eventsCounter     = beam.NewCounter(Namespace, "events")
	keyChangesCounter = beam.NewCounter(Namespace, "key_changes")
	filteredCounter   = beam.NewCounter(Namespace, "filtered")
	lettersCounter    = beam.NewCounter(Namespace, "letters")
	upsertsCounter    = beam.NewCounter(Namespace, "upserts")
	deletesCounter    = beam.NewCounter(Namespace, "deletes")
	catalogRetries    = beam.NewCounter(Namespace, "catalog_retries")
)

// RowsConfig says how events become rows. It travels to the workers as JSON.
type RowsConfig struct {
	// FilterUnlisted counts the changes of tables that no rule lists, instead of
	// making dead letters of them.
	FilterUnlisted bool
	// Epoch leads the sequences of changes that are ordered by arrival. The others
	// have it from their decoder.
	Epoch uint64
	// RetryFor is how long a destination that BigQuery does not tell about is asked
	// for again before the bundle fails. Defaults to ten minutes.
	RetryFor time.Duration
}

// Rows turns a PCollection<change.Event> into a PCollection<KV<[]byte, change.Row>>:
// rows that can be written, by destination table and key. Beside it are a
// PCollection<change.Receipt> of what came to rest here, and a
// PCollection<deadletter.Letter>.
func Rows(s beam.Scope, c catalog.Config, r RowsConfig, events beam.PCollection) (rows, receipts, letters beam.PCollection) {
	return beam.ParDo3(s.Scope("keyed.Rows"), &rowsFn{Catalog: c, Rows: r}, events)
}

// rowsFn makes rows of one event at a time.
type rowsFn struct {
	Catalog catalog.Config
	Rows    RowsConfig

	catalog *catalog.Catalog
	// destinations are those of this bundle, by the source's table: the next bundle
	// asks the catalog again, which may have learned of a change.
	destinations map[string]*destination
	keyers       map[*rowproto.Plan]*keyer
	data         []byte
	adjusted     adjustments
	copies       copies
}

// destination is where the rows of one source table go.
type destination struct {
	*catalog.Destination
	match catalog.Match
	name  string // "project.dataset.table", made once
	keyer *keyer
	order order
}

// Setup finds the process's catalog.
func (f *rowsFn) Setup(ctx context.Context) (err error) {
	f.catalog, err = catalog.Open(ctx, f.Catalog)
	return err
}

// StartBundle forgets what the catalog said to the bundle before.
func (f *rowsFn) StartBundle(_ func([]byte, change.Row), _ func(change.Receipt), _ func(deadletter.Letter)) {
	const many = 10_000 // plans of old schemas add up
	if f.keyers == nil || len(f.keyers) > many {
		f.keyers = make(map[*rowproto.Plan]*keyer)
	}
	f.destinations = make(map[string]*destination)
}

// ProcessElement makes the rows of an event.
func (f *rowsFn) ProcessElement(
	ctx context.Context, e change.Event, emit func([]byte, change.Row), rest func(change.Receipt), letter func(deadletter.Letter),
) error {
	eventsCounter.Inc(ctx, 1)
	receipts := deadletter.Receipts(&e.Message, e.Part, e.Parts)
	d, err := f.destination(ctx, &e)
	if err == nil && e.Tombstone && d.Rule.Tombstones != "delete" { // some other table's rule has it
		f.filter(ctx, receipts, rest)
		return nil
	}
	var changes []rowChange
	if err == nil {
		changes, err = f.changes(d, &e, receipts)
	}
	switch r := new(refusal); {
	case err == nil:
	case !errors.As(err, &r):
		return err
	case r.reason == ReasonUnlistedTable && f.Rows.FilterUnlisted:
		f.filter(ctx, receipts, rest)
		return nil
	default:
		lettersCounter.Inc(ctx, 1)
		letter(f.letter(&e, r, receipts))
		return nil
	}
	if len(changes) > 1 {
		keyChangesCounter.Inc(ctx, 1)
	}
	for i := range changes {
		c := &changes[i]
		row, err := f.row(ctx, d, &e, c)
		if r := new(refusal); errors.As(err, &r) {
			// The other half of a changed key goes its way: each key's row is right on its own.
			lettersCounter.Inc(ctx, 1)
			letter(f.letter(&e, r, c.receipts))
			continue
		} else if err != nil {
			return err
		}
		if row.Type == change.Delete {
			deletesCounter.Inc(ctx, 1)
		} else {
			upsertsCounter.Inc(ctx, 1)
		}
		key := append(append(append(make([]byte, 0, len(row.Table)+1+len(c.key)), row.Table...), 0), c.key...)
		row.Key = key[len(row.Table)+1:]
		emit(key, row)
	}
	return nil
}

// filter lets come to rest what the configuration leaves out.
func (f *rowsFn) filter(ctx context.Context, receipts []change.Receipt, rest func(change.Receipt)) {
	filteredCounter.Inc(ctx, 1)
	for _, r := range receipts {
		rest(r)
	}
}

func (f *rowsFn) letter(e *change.Event, r *refusal, receipts []change.Receipt) deadletter.Letter {
	m, note := f.copies.letter(e)
	return deadletter.Letter{Message: m, Stage: r.stage, Reason: r.reason, Error: r.Error() + note, Table: e.Table, Part: e.Part, Receipts: receipts}
}

// changes returns the row changes that the event makes.
func (f *rowsFn) changes(d *destination, e *change.Event, receipts []change.Receipt) ([]rowChange, error) {
	sequence, ordinal, err := d.order.of(e)
	if err != nil {
		return nil, refuseOf(d.name, err)
	}
	return d.keyer.split(e, sequence, ordinal, receipts)
}

// row encodes a row change. A column that the table did not have when its schema
// was read may be there now: the catalog looks again, seldom, before it is refused.
func (f *rowsFn) row(ctx context.Context, d *destination, e *change.Event, c *rowChange) (change.Row, error) {
	row, err := f.encode(ctx, d, e, c)
	var r *refusal
	if !errors.As(err, &r) || r.reason != rowproto.ReasonUnknownColumn {
		return row, err
	}
	fresh, refreshErr := f.catalog.Refresh(ctx, d.match)
	if refreshErr != nil || fresh.Plan == d.Plan {
		return row, err
	}
	if !slices.Equal(fresh.Table.PrimaryKey, d.Table.PrimaryKey) {
		return row, err // its key was made for another
	}
	d.Destination, d.keyer = fresh, f.keyer(fresh.Plan)
	return f.encode(ctx, d, e, c)
}

func (f *rowsFn) encode(ctx context.Context, d *destination, e *change.Event, c *rowChange) (change.Row, error) {
	var err error
	if c.kind == change.Delete {
		f.data, err = d.keyer.old.AppendDelete(f.data[:0], c.columns, c.sequence)
	} else {
		f.adjusted.row = f.adjusted.row[:0]
		f.data, err = d.keyer.encoder.AppendUpsert(f.data[:0], c.columns, c.sequence, rowproto.RowOptions{
			AbsentUnavailable: e.AbsentUnavailable,
			IgnoreUnknown:     d.Rule.UnknownColumns == "ignore",
			Adjusted:          &f.adjusted.row,
		})
		f.adjusted.count(ctx, d.name)
	}
	if err != nil {
		return change.Row{}, refuseValue(StageEncode, err)
	}
	return change.Row{
		Table:      d.name,
		Schema:     d.Plan.Fingerprint(),
		Type:       c.kind,
		Sequence:   c.sequence,
		Data:       slices.Clone(f.data),
		CommitTime: e.CommitTime,
		Message:    f.copies.row(e),
		Receipts:   c.receipts,
	}, nil
}

// destination returns where the rows of a source's table go. Invariant 7: a
// table that can't be had is the element's fault and refused; a catalog that is
// out of reach is the world's, so it is asked again, and then the bundle fails.
func (f *rowsFn) destination(ctx context.Context, e *change.Event) (*destination, error) {
	source := e.Table
	if d, ok := f.destinations[source]; ok {
		return d, nil
	}
	match, ok := f.catalog.Route(source)
	switch {
	case ok:
	case source == "":
		return nil, refuse(StageKey, ReasonUnnamedTable, "the message names no table, and not just one is configured")
	default:
		near := ""
		if rule := f.catalog.Nearest(source); rule != "" {
			near = fmt.Sprintf("; the closest is %.100q", rule)
		}
		return nil, refuse(StageKey, ReasonUnlistedTable, "no configured table matches %.100q%s; list it under `tables`, or set `unlisted_tables: filter`", source, near)
	}
	if len(match.Rule.PrimaryKey) == 0 {
		match.Declared = names(e.Key)
	}
	order, err := newOrder(match.Rule, f.Rows.Epoch)
	if err != nil {
		return nil, &refusal{StageKey, ReasonBadSequence, err}
	}
	found, err := f.ask(ctx, match)
	if catalog.IsPermanent(err) {
		return nil, &refusal{StageKey, ReasonBadTable, err}
	}
	if err != nil {
		return nil, fmt.Errorf("finding the destination of %s: %w", source, err)
	}
	d := &destination{Destination: found, match: match, name: found.Table.Name.String(), keyer: f.keyer(found.Plan), order: order}
	f.destinations[source] = d
	return d, nil
}

// names returns the columns' names, in an order that is the same for every message.
func names(columns []change.Column) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	slices.Sort(names)
	return names
}

// ask asks the catalog until it knows, or RetryFor is over.
func (f *rowsFn) ask(ctx context.Context, match catalog.Match) (*catalog.Destination, error) {
	const firstPause, longestPause, retryFor = 250 * time.Millisecond, 10 * time.Second, 10 * time.Minute
	patience := f.Rows.RetryFor
	if patience == 0 {
		patience = retryFor
	}
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		found, err := f.catalog.Destination(ctx, match)
		if err == nil || catalog.IsPermanent(err) || !time.Now().Add(pause).Before(end) {
			return found, err
		}
		catalogRetries.Inc(ctx, 1)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (f *rowsFn) keyer(plan *rowproto.Plan) *keyer {
	k, ok := f.keyers[plan]
	if !ok {
		k = newKeyer(plan)
		f.keyers[plan] = k
	}
	return k
}
