package keyed

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *completedFn) dofn.Func { return dofn.Func5x1(f.ProcessElement) })
}

// Completes reports whether a rule's rows are completed from their other changes
// before they are encoded: what the source left out is filled in, or a delete keeps
// the row. Their sequences then have a revision.
func Completes(rule *table.Rule) bool { return rule.Completes() }

// Completed is [Rows] for a PCollection<change.RowChange>: of changes that Rows has
// diverted, and that are complete now.
func Completed(s beam.Scope, c catalog.Config, r RowsConfig, changes beam.PCollection) (rows, receipts, letters beam.PCollection) {
	return beam.ParDo3(s.Scope("keyed.Completed"), &completedFn{Catalog: c, Rows: r}, changes)
}

// completedFn makes the row of one completed change at a time.
type completedFn struct {
	Catalog catalog.Config
	Rows    RowsConfig

	maker maker
}

// Setup finds the process's catalog.
func (f *completedFn) Setup(ctx context.Context) error {
	return f.maker.setup(ctx, f.Catalog, f.Rows)
}

// StartBundle forgets what the catalog said to the bundle before.
func (f *completedFn) StartBundle(_ func([]byte, change.Row), _ func(change.Receipt), _ func(deadletter.Letter)) {
	f.maker.startBundle()
}

// ProcessElement makes the row of a completed change.
func (f *completedFn) ProcessElement(
	ctx context.Context, c change.RowChange, emit func([]byte, change.Row), rest func(change.Receipt), letter func(deadletter.Letter),
) error {
	m := &f.maker
	e := &c.Event
	row := &rowChange{
		kind: c.Type, key: c.Key, columns: c.Columns, sequence: e.Sequence, revision: c.Revision, receipts: c.Receipts,
	}
	if c.Cause.ID != "" || c.Cause.Token != 0 {
		row.cause = &c.Cause
	}
	d, err := m.destination(ctx, e)
	if err != nil {
		r, refused := errors.AsType[*refusal](err)
		if !refused {
			return err
		}
		lettersCounter.Inc(ctx, 1)
		letter(m.letter(row.about(e), r, row.receipts))
		return nil
	}
	_, err = m.emit(ctx, d, e, row, emit, rest, letter)
	return err
}

// about returns the event that a row change's dead letter is about: the one that
// had the row made.
func (c *rowChange) about(e *change.Event) *change.Event {
	if c.cause == nil {
		return e
	}
	other := *e
	other.Message, other.Part, other.Parts = *c.cause, 0, 1
	return &other
}

// precheck reports whether what there is of an incomplete row can be encoded, and else
// makes its dead letter. A change that can't be must not be known to the others of its
// row: they would be made with it, and become dead letters too (invariant 2).
func (m *maker) precheck(ctx context.Context, d *destination, e *change.Event, c *rowChange, letter func(deadletter.Letter)) (bool, error) {
	if c.kind != change.Upsert {
		return true, nil
	}
	check := *c
	check.checked = true
	whole := true
	if d.Rule.UnavailableValues == "fill" {
		check.columns = slices.DeleteFunc(slices.Clone(c.columns), func(column change.Column) bool { return column.Value.Kind() == change.KindUnavailable })
		whole = len(check.columns) == len(c.columns) && (!e.AbsentUnavailable || e.Op != change.OpUpdate)
	}
	var err error
	if d.enricher == nil || whole {
		_, _, err = m.row(ctx, d, e, &check)
	} else {
		err = m.checkUntouched(ctx, d, e, &check)
	}
	if r, refused := errors.AsType[*refusal](err); refused {
		lettersCounter.Inc(ctx, 1)
		letter(m.letter(e, r, slices.Concat(c.receipts, c.past)))
		return false, nil
	}
	return err == nil, err
}

// checkUntouched returns why the values can't be encoded that no step of the rule
// computes: what the others will be can't be told before the row is complete.
func (m *maker) checkUntouched(ctx context.Context, d *destination, e *change.Event, c *rowChange) error {
	image, err := d.enricher.Image(c.columns)
	if err != nil {
		return refuseStep(d.name, err)
	}
	c.columns = image
	_, err = m.encode(ctx, d, e, c)
	if r, refused := errors.AsType[*refusal](err); refused && r.reason == rowproto.ReasonUnknownColumn {
		return nil // the table may have it by the time when the row is made
	}
	return err
}

// incomplete returns the i-th of the row changes that an event made, to be completed.
// It is the next stage's to keep: nothing in it is the keyer's, or a renamer's, which
// the next event overwrites.
func (d *destination) incomplete(e *change.Event, changes []rowChange, message change.Message, i int) change.RowChange {
	c := &changes[i]
	of := change.RowChange{
		Event: *e, Table: d.name, Key: slices.Clone(c.key), Type: c.kind, Columns: slices.Clone(c.columns), Receipts: c.receipts,
	}
	of.Event.Message, of.Event.Sequence, of.Event.After = message, c.sequence, nil
	of.Event.Before, of.Event.Key = slices.Clone(e.Before), slices.Clone(e.Key)
	switch {
	case len(changes) > 1 && c.kind == change.Delete:
		of.MovedTo = slices.Clone(changes[1].key)
	case len(changes) > 1:
		of.MovedFrom = slices.Clone(changes[0].key)
	case c.kind == change.Delete:
		of.MovedTo = d.keyer.otherKey(e.MovedTo, c.key)
	default:
		of.MovedFrom = d.keyer.otherKey(e.MovedFrom, c.key)
	}
	if c.kind == change.Upsert && e.AbsentUnavailable && e.Op == change.OpUpdate {
		// A table that follows its source may get columns that this one doesn't know yet.
		of.Columns, of.Event.AbsentUnavailable = d.unavailableForAbsent(c.columns), d.Rule.UnknownColumns == "add"
	}
	return of
}

// unavailableForAbsent returns the row with the columns that it lacks and that the
// table has, as unavailable ones.
func (d *destination) unavailableForAbsent(columns []change.Column) []change.Column {
	all := slices.Clip(columns)
	for _, name := range d.sourceColumns() {
		if _, ok := find(columns, name); !ok && !d.ownColumn(name) && !isBeside(d.Table, name) {
			all = append(all, change.Column{Name: name, Value: change.Unavailable()})
		}
	}
	return all
}

// sourceColumns returns what the table's columns are called at the source, and what
// the rule's steps read besides.
func (d *destination) sourceColumns() []string {
	if d.enricher != nil {
		return d.enricher.Sources()
	}
	names := make([]string, len(d.Table.Columns))
	for i := range d.Table.Columns {
		names[i] = d.Table.Columns[i].Name
	}
	return names
}

// ownColumn reports whether the pipeline itself makes the column's values, so that no
// source has any.
func (d *destination) ownColumn(name string) bool {
	return slices.ContainsFunc(d.Rule.OwnColumns(), func(c table.Column) bool { return strings.EqualFold(c.Name, name) })
}

// otherKey returns the canonical bytes of a key that the source named beside this one,
// nil if there is none, or it is the same.
func (k *keyer) otherKey(columns []change.Column, key []byte) []byte {
	if columns == nil {
		return nil
	}
	image, err := k.keyImage(columns)
	if err != nil {
		return nil
	}
	other, err := k.old.AppendKey(nil, image)
	if err != nil || string(other) == string(key) {
		return nil
	}
	return other
}
