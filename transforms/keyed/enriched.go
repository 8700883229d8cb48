package keyed

import (
	"context"
	"errors"
	"slices"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/enrich"
	"beamcdc/transforms/metric"
)

// ReasonBadSteps is of rows whose rule's steps don't fit the table.
const ReasonBadSteps = "bad_steps"

// beforesLeftOut counts before images that a step could not be applied to: histories
// don't have them.
var beforesLeftOut = metrics.Counter("befores_left_out", metric.Changes, "Before images that a step of enrich can't be applied to, and that histories lack.")

// errLeftOut says that a row is not to be written, and that nothing has to be removed
// either: the table's rule leaves it out.
var errLeftOut = errors.New("the rule leaves the row out")

// enricherOf is what enrichers are kept by: they outlive bundles.
type enricherOf struct {
	rule *table.Rule
	plan *rowproto.Plan
}

// use makes the destination the table as the catalog has it.
func (m *maker) use(ctx context.Context, d *destination, found *catalog.Destination) error {
	rows, err := m.enricher(ctx, d.match.Rule, found.Plan)
	if err != nil {
		return err
	}
	d.Destination, d.keyer, d.enricher = found, m.keyer(found.Plan), rows
	if rows != nil && rows.ChangesKey() {
		d.keyer.enricher = rows
	}
	return nil
}

// enricher returns what takes the rule's rows through its steps, nil where it has none.
// Invariant 7: steps that don't fit the table are refused; a reference that can't be
// read fails the bundle.
func (m *maker) enricher(ctx context.Context, rule *table.Rule, plan *rowproto.Plan) (*enrich.Rows, error) {
	of := enricherOf{rule, plan}
	if rows, known := m.enrichers[of]; known {
		return rows, nil
	}
	rows, err := enrich.New(ctx, m.references, rule, plan)
	if problems := new(enrich.Problems); errors.As(err, &problems) {
		return nil, &refusal{enrich.Stage, ReasonBadSteps, err}
	} else if err != nil {
		return nil, err
	}
	m.enrichers[of] = rows
	return rows, nil
}

// enrich returns the row change as its rule's steps make it. A row that a where leaves
// out is removed, in case an earlier one of its key was not: its UPSERT becomes a
// DELETE. A row that is new has none before it, so that there is nothing to remove:
// the error is errLeftOut then.
func (m *maker) enrich(ctx context.Context, d *destination, e *change.Event, c *rowChange) (*rowChange, error) {
	if d.enricher == nil || c.kind == change.Delete {
		return c, nil
	}
	var columns []change.Column
	var stays bool
	var err error
	if c.checked {
		columns, stays, err = d.enricher.Try(e, c.columns, c.sequence)
	} else {
		columns, stays, err = d.enricher.Row(ctx, e, c.columns, c.sequence)
	}
	if err != nil {
		return nil, refuseStep(d.name, err)
	}
	enriched := *c
	enriched.columns = columns
	if !stays {
		if e.Op == change.OpCreate && !Completes(d.Rule) {
			return nil, errLeftOut
		}
		enriched.kind = change.Delete
		if enriched.columns, err = d.keyer.keyColumns(c.columns); err != nil {
			return nil, err
		}
	}
	return &enriched, nil
}

// enriched makes what the history gets of a change what the table got of it, so that
// the one can be made of the other, and nothing that a step hides is in either.
func (d *destination) enriched(ctx context.Context, past *change.RowChange, written *rowChange, e *change.Event) {
	past.Type, past.Columns, past.Event.AbsentUnavailable = written.kind, slices.Clone(written.columns), e.AbsentUnavailable
	before, err := d.enricher.Image(e.Before)
	if err != nil { // an image that can't be hidden is not shown
		before = nil
		beforesLeftOut.Inc(ctx, 1)
	}
	past.Event.Before = before
}

// refuseStep refuses a row by what a step says of it.
func refuseStep(name string, err error) error {
	var e *enrichment.Error
	if !errors.As(err, &e) {
		return err
	}
	return refuse(enrich.Stage, e.Reason, "enriching a row of %s: %w", name, err)
}

// source returns what the i-th column of the key is called in messages.
func (k *keyer) source(i int) string {
	if k.enricher == nil {
		return k.key[i]
	}
	return k.enricher.Source(i)
}

// masked returns the i-th column of the key with a value from a message, as the table
// has it. The error is a refusal.
func (k *keyer) masked(i int, v change.Value) (change.Column, error) {
	if k.enricher != nil {
		var err error
		if v, err = k.enricher.Key(i, v); err != nil {
			return change.Column{}, refuseStep(k.plan.Table().Name.String(), err)
		}
	}
	return change.Column{Name: k.key[i], Value: v}, nil
}

// keyColumns returns the key's columns of an image as the table has them: those that
// it has, and each as often. The error is a refusal.
func (k *keyer) keyColumns(image []change.Column) ([]change.Column, error) {
	columns := make([]change.Column, 0, len(k.key))
	for i := range k.key {
		source := k.source(i)
		for j := range image {
			if !sameName(image[j].Name, source) {
				continue
			}
			c, err := k.masked(i, image[j].Value)
			if err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
	}
	return columns, nil
}

// keyImage returns what the key of an image is encoded from: the image itself where
// no step changes the key.
func (k *keyer) keyImage(image []change.Column) ([]change.Column, error) {
	if k.enricher == nil {
		return image, nil
	}
	return k.keyColumns(image)
}
