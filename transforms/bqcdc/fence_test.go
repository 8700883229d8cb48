package bqcdc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

var itemsName = table.Name{Project: "p", Dataset: "d", Table: "items"}

// newFenced is a BigQuery whose table's truncates are followed, by a lease.
func newFenced(t *testing.T, lease time.Duration, o emulator.Options) *emulated {
	t.Helper()
	e := newEmulated(t, o)
	e.config.Catalog.Rules[0].Truncates = catalog.DeleteKeys
	e.config.Catalog.FenceLease = lease
	return e
}

// truncate raises the table's fence, as another worker does.
func (e *emulated) truncate(t *testing.T, sequence uint64) {
	t.Helper()
	c := e.config.Catalog
	c.CallTimeout = 8e9 // a catalog of its own
	other, err := catalog.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.RaiseFence(t.Context(), itemsName, change.NewSequence(0, sequence, 0, 1)); err != nil {
		t.Fatal(err)
	}
}

// keyedRow is a change of the table with its key's bytes.
func (e *emulated) keyedRow(t *testing.T, id int64, sequence uint64, text string) change.Row {
	t.Helper()
	row := e.row(t, id, sequence, text)
	var err error
	if row.Key, err = e.plan.NewEncoder().AppendKey(nil, []change.Column{{Name: "id", Value: change.Int64(id)}}); err != nil {
		t.Fatal(err)
	}
	return row
}

// What is at the fence or below it is deleted, though it may have been stored before,
// what is above it stays.
func TestFence_knownBefore(t *testing.T) {
	e := newFenced(t, time.Minute, emulator.Options{})
	if _, err := write(t, e.writer(t), e.keyedRow(t, 1, 8, "stored")); err != nil {
		t.Fatal(err)
	}
	e.truncate(t, 10)
	e.config.Catalog.CallTimeout = 7e9 // a worker that has not seen the table before
	unaware, err := openWriter(t.Context(), e.config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := write(t, unaware, e.keyedRow(t, 1, 8, "again"), e.keyedRow(t, 2, 10, "at"), e.keyedRow(t, 3, 11, "above"), e.keyedRow(t, 4, 9, ""))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1@8", "2@10", "3@11", "4@9"}, nil)
	if diff := cmp.Diff(map[string]string{"3": "above"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// The table is truncated between the look at its fence and the append: a row below
// is deleted before it comes to rest.
func TestFence_raisedMeanwhile(t *testing.T) {
	var e *emulated
	var appends atomic.Int64
	e = newFenced(t, time.Nanosecond, emulator.Options{OnAppend: func(*storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
		if appends.Add(1) == 1 {
			e.truncate(t, 10)
		}
		return nil, nil, false
	}})
	got, err := write(t, e.writer(t), e.keyedRow(t, 1, 8, "below"), e.keyedRow(t, 2, 12, "above"), e.keyedRow(t, 3, 9, "below"), e.keyedRow(t, 4, 13, "above"))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1@8", "2@12", "3@9", "4@13"}, nil)
	if diff := cmp.Diff(map[string]string{"2": "above", "4": "above"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if n := appends.Load(); n != 2 {
		t.Errorf("%d appends, want the rows and what is deleted of them", n)
	}
}

// A look at the fence is relied on for as long as the lease, and no longer.
func TestFence_lease(t *testing.T) {
	e := newFenced(t, time.Hour, emulator.Options{})
	w := e.writer(t)
	if _, err := write(t, w, e.keyedRow(t, 1, 8, "before")); err != nil {
		t.Fatal(err)
	}
	e.truncate(t, 10)
	if _, err := write(t, w, e.keyedRow(t, 2, 9, "unknowing")); err != nil {
		t.Fatal(err)
	}
	// The truncate waits as long before it reads the keys, and finds the row.
	if diff := cmp.Diff(map[string]string{"1": "before", "2": "unknowing"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	w.lease = time.Nanosecond
	if _, err := write(t, w, e.keyedRow(t, 3, 9, "late")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"1": "before", "2": "unknowing"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// A fence that can't be read fails the bundle, and no row rests.
func TestFence_unreadable(t *testing.T) {
	e := newFenced(t, time.Nanosecond, emulator.Options{})
	w := e.writer(t)
	var update bigquery.TableMetadataToUpdate
	update.SetLabel("beamcdc_truncated", "_")
	if _, err := e.client.Dataset("d").Table("items").Update(t.Context(), update, ""); err != nil {
		t.Fatal(err)
	}
	got, err := write(t, w, e.keyedRow(t, 1, 8, "x"))
	if err == nil || len(got.acknowledged) > 0 {
		t.Errorf("%v, %v acknowledged", err, got.acknowledged)
	}
}

// Where rows may wait aside, those of which can't be told for now whether a truncate has
// passed them do: BigQuery has them, and they are written again.
func TestFence_unreadableForNow(t *testing.T) {
	e := newFenced(t, time.Nanosecond, emulator.Options{})
	w := e.writer(t)
	w.aside, w.config.Aside, w.config.FinishFor = true, true, 20*time.Millisecond
	fence := w.fence
	var looks atomic.Int64
	w.fence = func(ctx context.Context, table string, asOf time.Time) (catalog.Fence, error) {
		if looks.Add(1) == 1 { // before the row is sent
			return fence(ctx, table, asOf)
		}
		return catalog.Fence{}, errors.New("the service is away")
	}
	acknowledged, waiting, _ := begun(t, w, false, e.keyedRow(t, 1, 8, "x"))
	if len(acknowledged) > 0 || len(waiting) != 1 {
		t.Fatalf("acknowledged %v, waiting %v", acknowledged, waiting)
	}
	w.fence = fence
	if acknowledged, waiting, _ = begun(t, w, true, e.keyedRow(t, 1, 8, "x")); len(acknowledged) != 1 {
		t.Errorf("later: acknowledged %v, waiting %v", acknowledged, waiting)
	}
}

func TestWriteAll(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	ctx := t.Context()
	e.writer(t) // which the test closes
	unsendable := e.row(t, 7, 1, "none")
	unsendable.Sequence = change.Sequence{}
	rows := func(fail error) iter.Seq2[change.Row, error] {
		return func(yield func(change.Row, error) bool) {
			for id := range int64(5) {
				if !yield(e.row(t, id, 1, fmt.Sprint("v", id)), nil) {
					return
				}
			}
			if !yield(unsendable, nil) || fail == nil {
				return
			}
			yield(change.Row{}, fail)
		}
	}
	var letters []deadletter.Letter
	written, err := WriteAll(ctx, e.config, rows(nil), func(l deadletter.Letter) { letters = append(letters, l) })
	if err != nil || written != 5 || len(letters) != 1 || letters[0].Reason != reasonNoSequence {
		t.Errorf("%d rows written, %v, letters %+v", written, err, letters)
	}
	if got := e.table(t); len(got) != 5 {
		t.Errorf("the table has %v", got)
	}
	broken := errors.New("no more")
	if _, err := WriteAll(ctx, e.config, rows(broken), func(deadletter.Letter) {}); !errors.Is(err, broken) {
		t.Errorf("rows that end in an error: %v", err)
	}
}
