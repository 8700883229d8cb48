package keyed

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/transforms/catalog"
	_ "beamcdc/transforms/coders" // of events, rows and receipts
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *rowsFn) dofn.Func { return dofn.Func8x1(f.ProcessElement) })
	register.Emitter2[[]byte, change.Row]()
	register.Emitter2[[]byte, change.RowChange]()
	register.Emitter1[change.RowChange]()
	register.Emitter1[change.Receipt]()
	register.Emitter1[deadletter.Letter]()
}

// Rows turns a PCollection<change.Event> into a PCollection<KV<[]byte, change.Row>>:
// rows that can be written, by destination table and key. Beside it are a
// PCollection<KV<[]byte, change.RowChange>>, by the same keys, of the changes of
// tables whose rows are completed from their other changes first (see [Completes]),
// which come back by way of [Completed]; a PCollection<change.RowChange> of all changes
// of tables that have a history; a PCollection<change.RowChange> of the truncates of
// tables that follow them, without key and type; a PCollection<change.Receipt> of what
// came to rest here; and a PCollection<deadletter.Letter>.
func Rows(s beam.Scope, c catalog.Config, r RowsConfig, events beam.PCollection) (rows, incomplete, past, truncates, receipts, letters beam.PCollection) {
	return beam.ParDo6(s.Scope("keyed.Rows"), &rowsFn{Catalog: c, Rows: r}, events)
}

// rowsFn makes rows of one event at a time.
type rowsFn struct {
	Catalog catalog.Config
	Rows    RowsConfig

	maker maker
	event change.Event // that is being processed: a parameter would be allocated for each
}

// Setup finds the process's catalog.
func (f *rowsFn) Setup(ctx context.Context) error { return f.maker.setup(ctx, f.Catalog, f.Rows) }

// StartBundle forgets what the catalog said to the bundle before.
func (f *rowsFn) StartBundle(
	_ func([]byte, change.Row), _ func([]byte, change.RowChange), _, _ func(change.RowChange), _ func(change.Receipt), _ func(deadletter.Letter),
) {
	f.maker.startBundle()
}

// ProcessElement makes the rows of an event.
func (f *rowsFn) ProcessElement(
	ctx context.Context, e change.Event,
	emit func([]byte, change.Row), divert func([]byte, change.RowChange), remember, truncate func(change.RowChange), rest func(change.Receipt), letter func(deadletter.Letter),
) error {
	f.event = e
	err := f.rows(ctx, &f.event, emit, divert, remember, truncate, rest, letter)
	f.event = change.Event{} // it holds its message
	return err
}

// rows makes the rows of an event, which it may change.
func (f *rowsFn) rows(
	ctx context.Context, e *change.Event,
	emit func([]byte, change.Row), divert func([]byte, change.RowChange), remember, truncate func(change.RowChange), rest func(change.Receipt), letter func(deadletter.Letter),
) error {
	eventsCounter.Inc(ctx, 1)
	m := &f.maker
	receipts := f.receipts(e)
	d, err := m.destination(ctx, e)
	if err == nil && e.Tombstone && d.Rule.Tombstones != "delete" { // some other table's rule has it
		leaveOut(ctx, e, leftOutTombstone, receipts, rest)
		return nil
	}
	var changes []rowChange
	if err == nil && e.Op == change.OpTruncate && catalog.Follows(d.Rule) {
		var c change.RowChange
		if c, err = d.truncated(e, receipts); err == nil {
			truncatesCounter.Inc(ctx, 1)
			if d.remembered() {
				past := c
				past.Event.Sequence, _, _ = d.order.of(e) // without a revision, as a history has them
				c.Receipts, past.Receipts = deadletter.Fork(&e.Message, e.Part, e.Parts)
				remember(past)
			}
			truncate(c)
			return nil
		}
	} else if err == nil {
		m.rename(d, e)
		changes, err = f.changes(d, e, receipts)
	}
	r, refused := errors.AsType[*refusal](err)
	switch {
	case err == nil:
	case !refused:
		return err
	case r.reason == ReasonUnlistedTable && f.Rows.FilterUnlisted:
		leaveOut(ctx, e, leftOutUnlisted, receipts, rest)
		return nil
	default:
		lettersCounter.Inc(ctx, 1)
		letter(m.letter(e, r, receipts))
		return nil
	}
	if len(changes) > 1 {
		keyChangesCounter.Inc(ctx, 1)
	}
	if Completes(d.Rule) {
		for i := range changes {
			if ok, err := m.precheck(ctx, d, e, &changes[i], letter); err != nil {
				return err
			} else if !ok {
				continue
			}
			divertedCounter.Inc(ctx, 1)
			c := d.incomplete(e, changes, m.copies.change(e), i)
			if d.remembered() {
				past := c
				past.Receipts = changes[i].past
				remember(past)
			}
			divert(appendKey(m.slab.take(sizeOfKey(c.Table, c.Key)), c.Table, c.Key), c)
		}
		return nil
	}
	for i := range changes {
		written, err := m.emit(ctx, d, e, &changes[i], emit, rest, letter)
		if err != nil {
			return err
		}
		// What the table can't hold is a dead letter, and not in its history either: the
		// letter stands for both, and so does its replay.
		if written != nil && d.remembered() {
			past := d.incomplete(e, changes, m.copies.change(e), i)
			past.Receipts = changes[i].past
			if d.enricher != nil {
				d.enriched(ctx, &past, written, e)
			}
			remember(past)
		}
	}
	return nil
}

// changes returns the row changes that the event makes; receipts are those of receipts.
func (f *rowsFn) changes(d *destination, e *change.Event, receipts []change.Receipt) ([]rowChange, error) {
	sequence, ordinal, err := d.order.of(e)
	if err != nil {
		return nil, refuseOf(d.name, err)
	}
	if !d.remembered() {
		return d.keyer.split(e, sequence, ordinal, receipts)
	}
	receipts, past := deadletter.Fork(&e.Message, e.Part, e.Parts)
	changes, err := d.keyer.split(e, sequence, ordinal, receipts)
	switch len(changes) {
	case 1:
		changes[0].past = past
	case 2:
		changes[0].past, changes[1].past = deadletter.Halves(past)
	}
	return changes, err
}

// receipts returns those of the whole event. In a message of several changes they
// must agree with those of a change that has a history.
func (f *rowsFn) receipts(e *change.Event) []change.Receipt {
	if !f.Rows.Histories || e.Parts <= 1 {
		return deadletter.Receipts(&e.Message, e.Part, e.Parts)
	}
	row, past := deadletter.Fork(&e.Message, e.Part, e.Parts)
	return append(row, past...)
}

// truncated returns the truncate of the destination, with the sequence that is the
// last of what goes: in a table of revised sequences the first revision, below those of
// any later change.
func (d *destination) truncated(e *change.Event, receipts []change.Receipt) (change.RowChange, error) {
	sequence, _, err := d.order.of(e)
	if err == nil && Completes(d.Rule) {
		if sequence, err = sequence.WithRevision(0); err != nil {
			err = &refusal{StageKey, ReasonBadSequence, err}
		}
	}
	if err != nil {
		return change.RowChange{}, refuseOf(d.name, err)
	}
	c := change.RowChange{Event: *e, Table: d.name, Receipts: receipts}
	c.Event.Sequence = sequence
	return c, nil
}
