package keyed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/metric"
)

// What this process did to tables that follow their sources.
var alterationCounters = map[table.AlterationKind]beam.Counter{
	table.AddColumn:   metrics.Counter("columns_added", metric.Columns, "Columns that this process added to tables that follow their source."),
	table.RelaxColumn: metrics.Counter("columns_relaxed", metric.Columns, "Columns that this process made NULLABLE in tables that follow their source."),
	table.WidenColumn: metrics.Counter("columns_widened", metric.Columns, "Columns whose type this process widened in tables that follow their source."),
}

// evolveRounds bounds how often one row has its table altered: it asks for all that
// it needs at once, and again where BigQuery refused to widen a column, or others
// altered the table meanwhile.
const evolveRounds = 8

// evolving is what a maker knows of tables that follow their source.
type evolving struct {
	besides  map[*table.Table][]beside
	renamers map[string]*renamers // by the source's table
}

// renamers give an event's images the names that the table has their columns under.
type renamers struct{ after, before, key table.Renamer }

// beside is a column that takes what another can't hold.
type beside struct{ name, of string }

const manyRemembered = 10_000 // of what is remembered, names that come from messages among it

// rename gives the columns of a table that follows its source the table's names, where
// BigQuery doesn't take the source's or can't tell them apart.
func (m *maker) rename(d *destination, e *change.Event) {
	if d.growth == nil {
		return
	}
	v := &m.evolving
	r := v.renamers[e.Table]
	if r == nil {
		if v.renamers == nil || len(v.renamers) > manyRemembered {
			v.renamers = make(map[string]*renamers)
		}
		r = new(renamers)
		v.renamers[e.Table] = r
	}
	e.After, e.Before, e.Key = r.after.Rename(d.Table, e.After), r.before.Rename(d.Table, e.Before), r.key.Rename(d.Table, e.Key)
}

// upsert appends a row to m.data, and returns the plan that it is encoded by.
//
// While BigQuery's writers may not know the table as it is, a row that fits the table
// as it was is encoded for that, so that it needn't wait.
func (m *maker) upsert(
	ctx context.Context, d *destination, columns []change.Column, sequence change.Sequence, o rowproto.RowOptions,
) (plan *rowproto.Plan, err error) {
	if d.growth == nil {
		m.data, err = d.keyer.encoder.AppendUpsert(m.data[:0], columns, sequence, o)
		return d.Plan, err
	}
	o.NullUnknown = true
	if o.AbsentUnavailable {
		columns = withBesides(columns, m.evolving.besidesOf(d.Table))
	}
	if old := d.settled(); old != nil {
		m.data, err = m.keyer(old.Plan).encoder.AppendUpsert(m.data[:0], columns, sequence, o)
		if err == nil && len(*o.Adjusted) == 0 { // what the table may hold today isn't adjusted
			return old.Plan, nil
		}
		*o.Adjusted = (*o.Adjusted)[:0]
	}
	m.data, err = d.keyer.encoder.AppendUpsert(m.data[:0], columns, sequence, o)
	for range evolveRounds {
		if _, bad := errors.AsType[*rowproto.ValueError](err); !bad {
			break
		}
		var evolution rowproto.Evolution
		if evolution, err = d.keyer.encoder.Evolve(columns, o, d.growth, m.catalog.Impossible(d.match.Name)); err != nil {
			break
		}
		if err = m.alter(ctx, d, evolution.Alterations); err != nil {
			break
		}
		m.data, err = d.keyer.encoder.AppendUpsert(m.data[:0], evolution.Row, sequence, o)
	}
	return d.Plan, err
}

// alter has the destination's table altered. What can't be done is the row's fault;
// a BigQuery that is out of reach is the world's (invariant 7).
func (m *maker) alter(ctx context.Context, d *destination, alterations []table.Alteration) error {
	if len(alterations) == 0 {
		return nil
	}
	var found *catalog.Destination
	err := m.patiently(ctx, func() error {
		evolved, done, err := m.catalog.Evolve(ctx, d.match, alterations)
		for i := range done {
			alterationCounters[done[i].Kind].Inc(ctx, 1)
		}
		found = evolved
		return err
	})
	switch {
	case catalog.IsPermanent(err):
		return refuse(StageEncode, rowproto.ReasonUnknownColumn, "the table can't follow its source: %w", err)
	case err != nil:
		return fmt.Errorf("altering the table of %s: %w", d.Rule.Source, err)
	case !slices.Equal(found.Table.PrimaryKey, d.Table.PrimaryKey): // the row's key was made for another
		return refuse(StageKey, ReasonBadTable, "table %s: its primary key was changed", d.name)
	}
	return m.use(ctx, d, found)
}

// settled returns the table as BigQuery's writers know it for sure, nil where that is
// as it is.
func (d *destination) settled() *catalog.Destination {
	if d.Before == nil || d.growth == nil || !d.Young(time.Now()) {
		return nil
	}
	return d.Before
}

// besidesOf returns the table's columns that take what others can't hold.
func (v *evolving) besidesOf(t *table.Table) []beside {
	besides, ok := v.besides[t]
	if ok {
		return besides
	}
	for i := range t.Columns {
		for j := range t.Columns {
			if t.Columns[i].IsBeside(t.Columns[j].Name) {
				besides = append(besides, beside{t.Columns[i].Name, t.Columns[j].Name})
			}
		}
	}
	if v.besides == nil || len(v.besides) > manyRemembered {
		v.besides = make(map[*table.Table][]beside)
	}
	v.besides[t] = besides
	return besides
}

// withBesides returns the row with a NULL in each column beside one that the row has:
// no source leaves it out because it is unchanged.
func withBesides(columns []change.Column, besides []beside) []change.Column {
	for _, b := range besides {
		_, has := find(columns, b.name)
		if _, ok := find(columns, b.of); ok && !has {
			columns = append(slices.Clip(columns), change.Column{Name: b.name, Value: change.Null()})
		}
	}
	return columns
}

// isBeside reports whether one of the table's columns takes what another can't hold, so
// that no source has it.
func isBeside(t *table.Table, name string) bool {
	c := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == name })
	return c >= 0 && t.Columns[c].Description != "" &&
		slices.ContainsFunc(t.Columns, func(of table.Column) bool { return t.Columns[c].IsBeside(of.Name) })
}
