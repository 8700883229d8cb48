package truncate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// Invariant 2, with truncates: however the changes of a table are dealt out to workers
// that run at the same time, each with a catalog of its own, in whatever order, some of
// them twice, and though workers die in the middle of what they do and others begin it
// again, the table becomes the source's.
func TestConvergence(t *testing.T) { converges(t, catalog.DeleteKeys, 5*time.Millisecond) }

// The same of a view over the tables of truncates.
func TestConvergence_recreate(t *testing.T) { converges(t, catalog.Recreate, 30*time.Millisecond) }

func converges(t *testing.T, truncates string, lease time.Duration) {
	const workers = 3
	w := newWorldOf(t, truncates, lease, 0, emulator.Options{OnAppend: func(*storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
		if rand.N(6) == 0 { // on its way for longer than a truncate takes
			time.Sleep(rand.N(60 * time.Millisecond))
		}
		return nil, nil, false
	}})
	var tables, truncated, died atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		name := table.Name{Project: "p", Dataset: "shop", Table: fmt.Sprint("items_", tables.Add(1))}
		config := w.config
		rule := config.Catalog.Rules[0]
		rule.Destination = name.Dataset + "." + name.Table
		config.Catalog.Rules = []table.Rule{rule}

		source := make(map[int64]string)
		var delivered []change.RowChange // of rows, the Key's first byte is the id and Position the text
		for n := uint64(1); n <= uint64(rapid.IntRange(1, 25).Draw(rt, "changes")); n++ {
			id := rapid.Int64Range(1, 5).Draw(rt, "id")
			c := change.RowChange{Key: []byte{byte(id)}, Type: change.Upsert}
			switch kind := rapid.IntRange(0, 9).Draw(rt, "kind"); {
			case kind <= 1:
				c = truncateAt(n, 0)
				c.Table = name.String()
				clear(source)
				truncated.Add(1)
			case kind <= 3:
				c.Type = change.Delete
				delete(source, id)
			default:
				c.Event.Position = fmt.Sprint("v", n)
				source[id] = c.Event.Position
			}
			c.Event.Sequence = sequence(n)
			delivered = append(delivered, c)
			if rapid.IntRange(0, 4).Draw(rt, "twice") == 0 {
				delivered = append(delivered, c)
			}
		}
		delivered = rapid.Permutation(delivered).Draw(rt, "order of arrival")
		deaths := rapid.Float64Range(0, 0.4).Draw(rt, "deaths")
		seed := rapid.Uint64().Draw(rt, "seed")

		var wait sync.WaitGroup
		failures := make([]error, workers)
		for i := range workers {
			own := config
			own.Catalog.CallTimeout = 10*time.Second + time.Duration(i) // another catalog
			worker := &worker{world: w, config: own, name: name, random: rand.New(rand.NewPCG(seed, uint64(i))), deaths: deaths, died: &died}
			wait.Go(func() {
				for j := i; j < len(delivered) && failures[i] == nil; j += workers {
					failures[i] = worker.process(&delivered[j])
				}
			})
		}
		wait.Wait()
		if err := errors.Join(failures...); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(source, w.rowsOf(t, name.Table)); diff != "" {
			rt.Fatalf("the table is not the source's (-source +table):\n%s", diff)
		}
	})
	if truncated.Load() == 0 || died.Load() == 0 {
		t.Errorf("%d truncates, %d deaths: nothing was tried", truncated.Load(), died.Load())
	}
}

// worker processes one change after the other, and dies now and then.
type worker struct {
	world  *world
	config bqcdc.Config
	name   table.Name
	random *rand.Rand
	deaths float64
	died   *atomic.Int64
}

// process processes a change until it comes to rest. A worker that dies leaves what
// it has begun, and the change is processed from its beginning.
func (w *worker) process(c *change.RowChange) error {
	for {
		ctx, cancel := context.WithCancel(context.Background())
		dies := w.random.Float64() < w.deaths
		if dies {
			time.AfterFunc(time.Duration(w.random.IntN(int(60*time.Millisecond))), cancel)
		}
		err := w.try(ctx, c)
		over := ctx.Err() != nil
		cancel()
		if !over {
			return err
		}
		w.died.Add(1)
	}
}

func (w *worker) try(ctx context.Context, c *change.RowChange) error {
	tables, err := catalog.Open(ctx, w.config.Catalog)
	if err != nil {
		return err
	}
	if c.Event.Op == change.OpTruncate {
		f := &truncateFn{Writer: w.config, catalog: tables}
		rest, wait, err := f.step(ctx, &c.Event, restriction{})
		for ; err == nil && !rest.Over; rest, wait, err = f.step(ctx, &c.Event, rest) {
			time.Sleep(wait)
		}
		return err
	}
	match, _ := tables.Route("public.items")
	d, err := tables.Destination(ctx, match)
	if err != nil {
		return err
	}
	row, err := rowOf(d.Plan, d.Hides, int64(c.Key[0]), c.Event.Sequence, c.Event.Position)
	if err != nil {
		return err
	}
	row.Table = w.name.String()
	if c.Type == change.Upsert {
		time.Sleep(time.Duration(w.random.IntN(int(10 * time.Millisecond)))) // on its way from one hop to the next
	}
	_, err = bqcdc.WriteAll(ctx, w.config, all([]change.Row{row}), func(l deadletter.Letter) { panic(l.Error) })
	return err
}

// A worker that is killed in the middle of the deletes leaves the rest to who comes
// after it: nothing is noted as done before it is.
func TestDeleteKeys_killed(t *testing.T) {
	ctx, kill := context.WithCancel(t.Context())
	w := newWorld(t, time.Millisecond, 0, emulator.Options{})
	want := make(map[int64]string)
	var rows []change.Row
	for id := range int64(500) {
		rows = append(rows, w.row(t, id, 1, "old"))
	}
	rows = append(rows, w.row(t, 7, 20, "new"))
	want[7] = "new"
	if err := w.write(t.Context(), rows...); err != nil {
		t.Fatal(err)
	}
	tables, err := catalog.Open(t.Context(), w.config.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	c := truncateAt(10, 0)
	killed := &truncateFn{Writer: w.config, catalog: tables}
	killed.Writer.MaxRequestRows = 10
	killed.Writer.MaxInflightRequests = 1
	rest, wait, err := killed.step(ctx, &c.Event, restriction{})
	if err != nil || rest.Over {
		t.Fatal(rest, err)
	}
	time.Sleep(wait)
	go func() {
		for w.count(t) > 400 {
			time.Sleep(time.Millisecond)
		}
		kill()
	}()
	if rest, _, err = killed.step(ctx, &c.Event, rest); err == nil || rest.Over {
		t.Fatalf("a worker that was killed is done: %+v, %v", rest, err)
	}
	if n := w.count(t); n < 2 || n > 400 {
		t.Fatalf("it left %d rows: it was not killed in the middle", n)
	}
	again := &truncateFn{Writer: w.config, catalog: tables}
	for rest, wait, err = again.step(t.Context(), &c.Event, restriction{}); err == nil && !rest.Over; rest, wait, err = again.step(t.Context(), &c.Event, rest) {
		time.Sleep(wait)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, w.rows(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// With max_staleness a query sees a baseline of before: the truncate waits until no
// row that it has to see can be later than that.
func TestDeleteKeys_staleness(t *testing.T) {
	const staleness = time.Second
	w := newWorld(t, time.Millisecond, staleness, emulator.Options{})
	if err := w.write(t.Context(), w.row(t, 1, 1, "old"), w.row(t, 2, 20, "new")); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	w.run(t, []change.RowChange{truncateAt(10, 7)}, []any{"7/0/1"}, nil)
	if took := time.Since(began); took < staleness {
		t.Errorf("the keys were read after %v", took)
	}
	if diff := cmp.Diff(map[int64]string{2: "new"}, w.rows(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// What BigQuery refuses for good is a dead letter, with the receipts.
func TestDeleteKeys_refused(t *testing.T) {
	w := newWorld(t, time.Millisecond, 0, emulator.Options{})
	unlisted := truncateAt(11, 8)
	unlisted.Event.Table = "public.absent"
	counts := w.run(t, []change.RowChange{unlisted}, nil, []any{"t11 truncate refused public.absent [{8 0 1}]"})
	if diff := cmp.Diff(map[string]int64{"truncates": 1, "letters": 1}, counts); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

func TestTracker(t *testing.T) {
	whole := &tracker{}
	if _, residual, err := whole.TrySplit(0); residual != nil || err != nil || whole.IsDone() {
		t.Errorf("a step that is not done is split: %v, %v", residual, err)
	}
	if !whole.TryClaim(restriction{Raised: 5}) {
		t.Fatal("a first step can't be claimed")
	}
	if _, residual, _ := whole.TrySplit(0.5); residual != nil {
		t.Errorf("a step was halved: %v", residual)
	}
	_, residual, err := whole.TrySplit(0)
	if diff := cmp.Diff(any(restriction{Raised: 5}), residual); diff != "" || err != nil || !whole.IsDone() {
		t.Errorf("left is %v, %v, done %v", residual, err, whole.IsDone())
	}
	last := &tracker{rest: restriction{Raised: 5}}
	if !last.TryClaim(restriction{Over: true}) || !last.IsDone() || last.TryClaim(restriction{Over: true}) {
		t.Error("the last step doesn't end it")
	}
}
