package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	_ "beamcdc/transforms/coders" // change.Row and change.Receipt
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
)

func init() {
	dofn.Register(func(f *writeFn) dofn.Func { return dofn.Func6x1(f.ProcessElement) })
	register.Emitter2[beam.EventTime, change.Receipt]()
	register.Emitter2[beam.EventTime, deadletter.Letter]()
	register.Emitter3[beam.EventTime, string, []byte]()
}

// Write writes rows, a PCollection<change.Row>, to their tables through the
// Storage Write API. It returns PCollections<change.Receipt> of the rows that
// BigQuery has acknowledged, and PCollections<deadletter.Letter> of the rows that
// it can't be made to take; each row is in one of them, with its own event time, or
// with that of the try that it came to rest with. All are in the global window.
//
// It panics if the configuration is invalid.
func Write(s beam.Scope, c Config, rows beam.PCollection) (receipts, letters []beam.PCollection) {
	if err := c.Validate(); err != nil {
		panic(fmt.Sprintf("bqcdc.Write: %v", err))
	}
	s = s.Scope("bqcdc.Write")
	// What FinishBundle emits is in the global window, and all of one PCollection
	// is in windows of one kind.
	rows = beam.WindowInto(s, window.NewGlobalWindows(), rows)
	acknowledged, rejected, waiting := beam.ParDo3(s, &writeFn{Config: c}, rows)
	receipts, letters = []beam.PCollection{acknowledged}, []beam.PCollection{rejected}
	if !c.grows() && !c.Aside {
		return receipts, letters
	}
	laterReceipts, laterLetters := beam.ParDo2(s, newWaitFn(c), waiting)
	receipts, letters = append(receipts, laterReceipts), append(letters, laterLetters)
	if c.Aside { // Prism can stall on a Flatten of unbounded collections
		return receipts, letters
	}
	return []beam.PCollection{beam.Flatten(s, receipts...)}, []beam.PCollection{beam.Flatten(s, letters...)}
}

// grows reports whether any table may be altered to follow its source.
func (c *Config) grows() bool {
	return slices.ContainsFunc(c.Catalog.Rules, func(r table.Rule) bool { return table.GrowthOf(&r) != nil })
}

// writeFn writes the rows of a bundle.
type writeFn struct {
	Config Config

	writer  *writer
	bundle  *bundle
	figures *figures
}

// Setup opens what the process shares. It does not connect.
func (f *writeFn) Setup(ctx context.Context) error {
	var err error
	f.writer, err = openWriter(ctx, f.Config)
	if err == nil {
		f.figures, f.writer.aside = newFigures(f.writer.config.Namespace), true
	}
	return err
}

// openWriter returns a writer on the process's client and catalog.
func openWriter(ctx context.Context, c Config) (*writer, error) {
	c = c.withDefaults()
	tables, err := catalog.Open(ctx, c.Catalog)
	if err != nil {
		return nil, fmt.Errorf("opening the writer: %w", err)
	}
	s, err := streamsFor(ctx, endpointOf(c))
	if err != nil {
		return nil, fmt.Errorf("opening the writer: %w", err)
	}
	w := &writer{config: c, plain: tables.IsPlain(), streams: s}
	var schemas sync.Map // streamKey -> *schema
	w.describe = func(ctx context.Context, key streamKey) (*schema, error) {
		if known, ok := schemas.Load(key); ok {
			return known.(*schema), nil
		}
		plan, err := tables.Plan(ctx, key.table, key.schema)
		for patience := w.newPatience(); err != nil; plan, err = tables.Plan(ctx, key.table, key.schema) {
			switch {
			case errors.Is(err, catalog.ErrUnknownSchema):
				return nil, errUnknownSchema
			case catalog.IsPermanent(err):
				return nil, err
			}
			w.streams.faults.note(ctx, key.table, transient, err)
			if err := patience.wait(ctx, transient, err); err != nil {
				return nil, err
			}
		}
		s := newSchema(key, plan.Descriptor(), c.TraceID)
		if !w.plain && tables.Fenced(key.table) {
			s.plan = plan
		}
		described, _ := schemas.LoadOrStore(key, s)
		return described.(*schema), nil
	}
	w.grows, w.young = tables.Grows, tables.Young
	if slices.ContainsFunc(c.Catalog.Rules, func(r table.Rule) bool { return r.Truncates == catalog.Recreate }) {
		w.isView = tables.IsView
	}
	w.fence, w.lease = tables.Fence, tables.Lease()
	w.fits = func(ctx context.Context, key streamKey) (bool, error) { return tables.Fits(ctx, key.table, key.schema) }
	return w, nil
}

// StartBundle begins a bundle.
func (f *writeFn) StartBundle(ctx context.Context, _ func(beam.EventTime, change.Receipt), _ func(beam.EventTime, deadletter.Letter), _ func(beam.EventTime, string, []byte)) {
	f.bundle = f.writer.begin(ctx)
}

// ProcessElement takes one row, and emits what has come to rest meanwhile.
func (f *writeFn) ProcessElement(
	ctx context.Context, at beam.EventTime, row change.Row,
	receipt func(beam.EventTime, change.Receipt), letter func(beam.EventTime, deadletter.Letter), wait func(beam.EventTime, string, []byte),
) error {
	take := emit(ctx, f.writer, f.figures, receipt, letter, wait)
	err := f.bundle.collect(take)
	if err == nil {
		err = f.bundle.add(&row, at)
	}
	if err == nil {
		err = f.bundle.settle(take)
	}
	if err != nil {
		f.bundle.cancel(err) // nobody will wait for the rest of it
	}
	return err
}

// FinishBundle waits until all the bundle's rows have come to rest.
func (f *writeFn) FinishBundle(
	ctx context.Context, receipt func(beam.EventTime, change.Receipt), letter func(beam.EventTime, deadletter.Letter), wait func(beam.EventTime, string, []byte),
) error {
	return f.bundle.finish(emit(ctx, f.writer, f.figures, receipt, letter, wait))
}

// emit returns a function that emits and counts what became of a request. It is
// called by the DoFn's own goroutine: emitters and metrics are not for others. What
// has to wait goes to wait by its table, unless that is nil: it has waited already.
func emit(
	ctx context.Context, w *writer, f *figures,
	receipt func(beam.EventTime, change.Receipt), letter func(beam.EventTime, deadletter.Letter), wait func(beam.EventTime, string, []byte),
) func(*result) {
	var rests []change.Receipt
	return func(r *result) {
		f.count(ctx, r)
		for _, rows := range r.acknowledged {
			if !r.tokens { // the runner acks: there is no one to tell
				break
			}
			for i := range rows {
				rests = rows[i].appendReceipts(rests[:0])
				for _, rest := range rests {
					if rest.Token != 0 {
						receipt(rows[i].at, rest)
					}
				}
			}
		}
		for i := range r.rejected {
			x := &r.rejected[i]
			letter(x.at, letterOf(x, w.config.Stage))
		}
		if wait != nil {
			f.rowsHeld.Inc(ctx, int64(len(r.waiting)))
			chunks(r.waiting, func(table string, chunk []byte) { wait(mtime.Now(), table, chunk) })
		}
	}
}

// letterOf keeps the row's receipts: the changes that it superseded rest only
// when its letter does.
func letterOf(x *rejection, stage string) deadletter.Letter {
	l := deadletter.Letter{
		Message: x.message(), Stage: stage, Reason: x.reason, Error: x.text,
		Table: x.table,
	}
	for _, r := range x.appendReceipts(nil) {
		if r.Token == 0 {
			continue
		}
		l.Receipts = append(l.Receipts, r)
		if r.Token == x.token {
			l.Part = r.Part
		}
	}
	return l
}
