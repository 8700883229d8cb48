package truncate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"beamcdc/internal/logs"
	"beamcdc/schemas/change"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
	_ "beamcdc/transforms/coders" // of events and receipts
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/dofn"
	"beamcdc/transforms/metric"
)

// Namespace is the namespace of this package's counters: truncates, each of which
// emptied a table (tables_emptied), had nothing left to do (truncates_repeated), or
// became a dead letter (letters); and of the writer rows_deleted, requests and the others.
const Namespace = "truncate"

// Stage is the stage of this package's dead letters, and ReasonRefused why there
// are any besides the writer's: BigQuery refuses what the truncate needs of the
// table, and no repetition will help.
const (
	Stage         = "truncate"
	ReasonRefused = "refused"
)

func init() {
	dofn.Register(func(f *truncateFn) dofn.Func { return dofn.Func5x2(f.ProcessElement) })
	register.Emitter1[change.Receipt]()
	register.Emitter1[deadletter.Letter]()
	beam.RegisterType(reflect.TypeFor[restriction]())
}

func init() { bqcdc.Declare(Namespace) }

var metrics = metric.In(Namespace)

var (
	truncatesCounter = metrics.Counter("truncates", metric.Changes, "TRUNCATEs that came in.")
	emptiedCounter   = metrics.Counter("tables_emptied", metric.Changes, "TRUNCATEs that emptied a table.")
	repeatedCounter  = metrics.Counter("truncates_repeated", metric.Changes, "TRUNCATEs that had nothing left to do.")
	lettersCounter   = metrics.Counter("letters", metric.Letters, "TRUNCATEs that BigQuery refuses: dead letters.")
	retriesCounter   = metrics.Counter("retries", metric.Tries, "Questions that BigQuery did not answer, and that were asked again.")
)

// DeleteKeys empties the table of each truncate, a change.RowChange without key and
// type, of whatever is not later than its event. It returns a
// PCollection<change.Receipt> of the truncates that have come to rest, and a
// PCollection<deadletter.Letter>. It panics if the configuration is invalid.
func DeleteKeys(s beam.Scope, c bqcdc.Config, truncates beam.PCollection) (receipts, letters beam.PCollection) {
	if err := c.Validate(); err != nil {
		panic(fmt.Sprintf("truncate.DeleteKeys: %v", err))
	}
	c.Stage, c.Namespace = Stage, Namespace
	return beam.ParDo2(s.Scope("truncate.DeleteKeys"), &truncateFn{Writer: c}, truncates)
}

// truncateFn does one truncate at a time.
type truncateFn struct {
	Writer bqcdc.Config

	catalog *catalog.Catalog
}

// Setup finds the process's catalog.
func (f *truncateFn) Setup(ctx context.Context) (err error) {
	f.catalog, err = catalog.Open(ctx, f.Writer.Catalog)
	return err
}

// CreateInitialRestriction returns the whole truncate.
func (*truncateFn) CreateInitialRestriction(change.RowChange) restriction { return restriction{} }

// SplitRestriction returns the restriction as it is: a truncate has no parts.
func (*truncateFn) SplitRestriction(_ change.RowChange, rest restriction) []restriction {
	return []restriction{rest}
}

// RestrictionSize returns a made-up size.
func (*truncateFn) RestrictionSize(change.RowChange, restriction) float64 { return 1 }

// CreateTracker returns the restriction's tracker.
func (*truncateFn) CreateTracker(rest restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(&tracker{rest: rest})
}

// TruncateRestriction leaves the restriction as it is: a runner that drains lets a
// truncate end first, whose message may be acked already.
func (*truncateFn) TruncateRestriction(rt *sdf.LockRTracker, _ change.RowChange) restriction {
	return rt.GetRestriction().(restriction)
}

// ProcessElement does a truncate's next step: it raises the table's fence, or, when
// all that was written without knowing of it can be seen, deletes the keys.
func (f *truncateFn) ProcessElement(
	ctx context.Context, rt *sdf.LockRTracker, c change.RowChange, rest func(change.Receipt), letter func(deadletter.Letter),
) (sdf.ProcessContinuation, error) {
	before := rt.GetRestriction().(restriction)
	if before.Over {
		return sdf.StopProcessing(), nil
	}
	if before.Raised == 0 {
		truncatesCounter.Inc(ctx, 1)
	}
	e := &c.Event
	after, wait, err := f.step(ctx, e, before)
	if r := new(refusal); errors.As(err, &r) || catalog.IsPermanent(err) {
		lettersCounter.Inc(ctx, 1)
		letter(deadletter.Letter{
			Message: e.Message, Stage: Stage, Reason: cmp.Or(r.reason, ReasonRefused), Table: e.Table, Part: e.Part, Receipts: c.Receipts,
			Error: fmt.Sprintf("truncating the destination of %.100s: %v", e.Table, err),
		})
		rt.TryClaim(restriction{Over: true})
		return sdf.StopProcessing(), nil
	}
	if err != nil {
		return sdf.StopProcessing(), fmt.Errorf("truncating the destination of %s: %w", e.Table, err)
	}
	rt.TryClaim(after)
	if !after.Over {
		return sdf.ResumeProcessingIn(wait), nil
	}
	for _, r := range c.Receipts {
		rest(r)
	}
	return sdf.StopProcessing(), nil
}

// refusal says that some of the rows can't be deleted, or copied. The truncate becomes one dead
// letter, not one for each of them.
type refusal struct {
	reason, text string // of the first
	rows         int
	doing        string // what can't be done: deleted, copied
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%d of its rows can't be %s, the first since: %s", r.rows, r.doing, r.text)
}

// step does the step that comes after before, and returns what is left then, and
// when it may be gone on with.
func (f *truncateFn) step(ctx context.Context, e *change.Event, before restriction) (after restriction, wait time.Duration, err error) {
	d, err := f.destination(ctx, e)
	if err != nil {
		return before, 0, err
	}
	if d.Hides {
		return f.recreate(ctx, e, d, before)
	}
	over := restriction{Over: true}
	var fence catalog.Fence
	err = f.retry(ctx, func() (err error) {
		fence, err = f.catalog.RaiseFence(ctx, d.Table.Name, e.Sequence)
		return err
	})
	if err != nil {
		return before, 0, err
	}
	if fence.Truncated.Compare(e.Sequence) > 0 || fence.Emptied.Compare(e.Sequence) >= 0 {
		// A later truncate's message is on its way, and deletes what this one would; or
		// this one's was delivered before.
		repeatedCounter.Inc(ctx, 1)
		return over, 0, nil
	}
	if before.Raised == 0 {
		logs.Info(ctx, "a table was truncated; its rows from before will be deleted", logs.SourceTable.Of(e.Table), logs.Position.Of(e.Position), logs.Table.Of(d.Table.Name))
		before.Raised = time.Now().UnixMilli()
	}
	// Whoever wrote a row without knowing the fence did so no later than a lease after
	// it was raised, or deletes the row; and a query sees what was written MaxStaleness ago.
	readable := time.UnixMilli(before.Raised + 1).Add(f.catalog.Lease() + fence.MaxStaleness)
	if wait = time.Until(readable); wait > 0 {
		return before, wait, nil
	}
	var refused refusal
	written, err := bqcdc.WriteAll(ctx, f.Writer, deletes(ctx, f.catalog, d, e), func(l deadletter.Letter) {
		if refused.rows++; refused.rows == 1 {
			refused.reason, refused.text, refused.doing = l.Reason, l.Error, "deleted"
		}
	})
	if err == nil && refused.rows > 0 {
		err = &refused
	}
	if err != nil {
		return before, 0, err
	}
	err = f.retry(ctx, func() error {
		_, err := f.catalog.MarkEmptied(ctx, d.Table.Name, e.Sequence)
		return err
	})
	if err != nil {
		return before, 0, err
	}
	emptiedCounter.Inc(ctx, 1)
	logs.Info(ctx, "the rows from before a truncate were deleted", logs.Rows.Of(written), logs.Table.Of(d.Table.Name), logs.Position.Of(e.Position))
	return over, 0, nil
}

// deletes returns a DELETE of each key that the table has, at the truncate's
// sequence: what is later than that stays.
func deletes(ctx context.Context, tables *catalog.Catalog, d *catalog.Destination, e *change.Event) iter.Seq2[change.Row, error] {
	return func(yield func(change.Row, error) bool) {
		encoder := d.Plan.NewEncoder()
		row := change.Row{
			Table: d.Table.Name.String(), Schema: d.Plan.Fingerprint(), Type: change.Delete, Sequence: e.Sequence,
			CommitTime: e.CommitTime, Message: e.Message,
		}
		for key, err := range tables.Keys(ctx, d.Table) {
			if err == nil {
				row.Data, err = encoder.AppendDelete(nil, key, e.Sequence)
			}
			if err == nil {
				row.Key, err = encoder.AppendKey(nil, key)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
