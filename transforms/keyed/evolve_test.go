package keyed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/bqcdc"
	"beamcdc/transforms/catalog"
)

// evolvingWorld is a BigQuery with a table that follows its source, and several
// processes that write it, each with a catalog of its own.
type evolvingWorld struct {
	server *emulator.Server
	tables int
}

func newEvolvingWorld(t *testing.T) *evolvingWorld {
	t.Helper()
	server, err := emulator.New(emulator.Options{Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &evolvingWorld{server: server}
}

// config is that of the n-th process for the world's latest table.
func (w *evolvingWorld) config(n int) catalog.Config {
	return catalog.Config{
		Project: "p", RESTEndpoint: w.server.RESTAddr(), GRPCEndpoint: w.server.GRPCAddr(), Plaintext: true, CreateTables: true,
		CallTimeout: time.Minute + time.Duration(n), RefreshEvery: time.Millisecond, // another one for each process
		Rules: []table.Rule{{
			Source: "src", Destination: fmt.Sprint("d.t", w.tables), PrimaryKey: []string{"id"}, UnknownColumns: "add",
			Columns: []table.Column{
				{Name: "id", Type: table.Int64, Mode: table.Required},
				{Name: "a", Type: table.String, Mode: table.Required, MaxLength: 3},
				{Name: "n", Type: table.Int64},
			},
		}},
	}
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// maker returns the n-th process's maker, as one of its DoFn instances has it.
func (w *evolvingWorld) maker(ctx context.Context, t failer, n int) *maker {
	m := new(maker)
	if err := m.setup(ctx, w.config(n), RowsConfig{}); err != nil {
		t.Fatal(err)
	}
	m.startBundle()
	return m
}

// rowsOf makes the rows of an event.
func rowsOf(ctx context.Context, t failer, m *maker, e change.Event) []change.Row {
	d, err := m.destination(ctx, &e)
	if err != nil {
		t.Fatal(err)
	}
	m.rename(d, &e)
	changes, err := d.keyer.split(&e, e.Sequence, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	var rows []change.Row
	for i := range changes {
		row, _, err := m.row(ctx, d, &e, &changes[i])
		if err != nil {
			t.Fatalf("the row of %v is refused: %v", e.After, err)
		}
		m.keep(&row, changes[i].key)
		rows = append(rows, row)
	}
	return rows
}

// write writes rows as the n-th process, all of them acknowledged.
func (w *evolvingWorld) write(ctx context.Context, t failer, n int, rows []change.Row) {
	err := bqcdc.Append(ctx, bqcdc.Config{
		Catalog: w.config(n), InitialBackoff: time.Millisecond, MaxBackoff: 10 * time.Millisecond, RetryFor: time.Minute, FinishFor: time.Minute,
	}, rows)
	if err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// rows returns what the table has, its NULLs left out, by id.
func (w *evolvingWorld) rows(ctx context.Context, t failer) map[string]map[string]string {
	texts, err := w.server.Rows(ctx, "d", fmt.Sprint("t", w.tables))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]map[string]string)
	for _, text := range texts {
		var row map[string]any
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		values := make(map[string]string)
		for name, v := range row {
			if v != nil {
				values[name] = fmt.Sprint(v)
			}
		}
		got[values["id"]] = values
	}
	return got
}

// value is what a column holds in a message, and in the table.
type value struct {
	message change.Value
	text    string
}

// sourceColumn is a column whose values change their type as its source is altered.
type sourceColumn struct {
	name   string
	values []value // each of another version of the schema
}

var sourceColumns = []sourceColumn{
	{"a", []value{{change.String("abc"), "abc"}, {change.String("longer than three"), "longer than three"}, {change.Null(), ""}}},
	{"n", []value{{change.Int64(7), "7"}, {change.Decimal("7.5"), "7.5"}, {change.String("seven"), "seven"}, {change.Null(), ""}}},
	{"NewCol", []value{{change.Null(), ""}, {change.String("new"), "new"}, {change.Timestamp(1), "1970-01-01T00:00:00.000001Z"}}},
	{"newcol", []value{{change.Int64(1), "1"}, {change.Null(), ""}}},
	{"late", []value{{change.Null(), ""}, {change.Int64(3), "3"}, {change.Decimal("0.25"), "0.25"}}},
	{"_CHANGE_TYPE", []value{{change.String("DELETE"), "DELETE"}}},
	{"a`; DROP TABLE t", []value{{change.Bool(true), "true"}}},
}

// Several workers, each of a process of its own or sharing one, see rows of every
// version of the source's schema in any order, more than once, while BigQuery's writers
// lag behind: in the end each row is there as its latest change has it, in columns that
// are there once, and none was refused.
func TestEvolve_interleaved(t *testing.T) {
	w := newEvolvingWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		w.tables++
		lag := time.Duration(rapid.SampledFrom([]int{0, 0, 15}).Draw(rt, "lag")) * time.Millisecond
		var faults []emulator.Fault
		if lag > 0 {
			faults = []emulator.Fault{{Effect: emulator.Effect{HideNew: lag}}}
		}
		if err := w.server.SetFaults(faults); err != nil {
			rt.Fatal(err)
		}
		var events []change.Event
		want := make(map[string][]value) // of each key the latest row's values, by column
		for n := range rapid.IntRange(1, 10).Draw(rt, "changes") {
			id := rapid.Int64Range(1, 3).Draw(rt, "id")
			e := change.Event{
				Message: change.Message{ID: fmt.Sprint(n), Token: uint64(n + 1)}, Parts: 1, Table: "src", Op: change.OpUpdate,
				Key: []change.Column{{Name: "id", Value: change.Int64(id)}}, Sequence: change.NewSequence(0, uint64(n+1), 0, 1),
				After: []change.Column{{Name: "id", Value: change.Int64(id)}},
			}
			var row []value
			for _, c := range sourceColumns {
				v := value{}
				has := rapid.IntRange(0, 2).Draw(rt, c.name) > 0 // the source has the column, at this time
				if c.name == "newcol" {                          // beside NewCol: alone it would be another spelling of that
					_, has = change.Find(e.After, "NewCol")
				}
				if has {
					v = rapid.SampledFrom(c.values).Draw(rt, "value")
					e.After = append(e.After, change.Column{Name: c.name, Value: v.message})
				}
				row = append(row, v)
			}
			want[strconv.FormatInt(id, 10)] = row
			if rapid.IntRange(0, 5).Draw(rt, "delete") == 0 {
				e.Op, e.Before, e.After = change.OpDelete, e.Key, nil
				delete(want, strconv.FormatInt(id, 10))
			}
			events = append(events, e)
		}
		for range rapid.IntRange(0, 3).Draw(rt, "redeliveries") {
			events = append(events, rapid.SampledFrom(events).Draw(rt, "redelivered"))
		}
		events = rapid.Permutation(events).Draw(rt, "order")

		// Workers 0 and 1 share a process.
		processes := []int{0, 0, 1, 2}
		share := make([][]change.Event, len(processes))
		for _, e := range events {
			i := rapid.IntRange(0, len(processes)-1).Draw(rt, "worker")
			share[i] = append(share[i], e)
		}
		writer := rapid.IntRange(0, 3).Draw(rt, "writing process") // 3 has seen nothing yet
		var wait sync.WaitGroup
		failures := make(chan string, len(processes))
		for i, process := range processes {
			wait.Go(func() {
				f := &collected{}
				defer func() {
					if recover() != nil {
						failures <- f.text
					}
				}()
				m := w.maker(ctx, f, process)
				var rows []change.Row
				for j, e := range share[i] {
					if j%3 == 2 {
						m.startBundle()
					}
					rows = append(rows, rowsOf(ctx, f, m, e)...)
				}
				slices.Reverse(rows) // a shuffle
				w.write(ctx, f, (writer+i)%4, rows)
			})
		}
		wait.Wait()
		close(failures)
		for text := range failures {
			rt.Fatal(text)
		}
		got := w.rows(ctx, rt)
		for id, row := range want {
			check(rt, id, row, got[id])
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
			rt.Fatalf("keys (-want +got):\n%s", diff)
		}
	})
}

// collected fails on a goroutine that is not the test's.
type collected struct{ text string }

func (c *collected) Fatal(args ...any) { c.text = fmt.Sprint(args...); panic(c) }
func (c *collected) Fatalf(format string, args ...any) {
	c.text = fmt.Sprintf(format, args...)
	panic(c)
}

// check holds a row against what the source has: each value in a column of its name, or
// in the one that stands for it, and nothing else.
func check(t *rapid.T, id string, want []value, got map[string]string) {
	left := maps.Clone(got)
	delete(left, "id")
	folded := make(map[string]string)
	for name := range got {
		if other, twice := folded[strings.ToLower(name)]; twice {
			t.Fatalf("columns %s and %s are both there", name, other)
		}
		folded[strings.ToLower(name)] = name
	}
	for i, c := range sourceColumns {
		if want[i].text == "" {
			continue
		}
		legal := table.LegalName(c.name)
		found := false
		for name, text := range left {
			if text == want[i].text && strings.HasPrefix(strings.ToLower(name), strings.ToLower(legal)) {
				delete(left, name)
				found = true
				break
			}
		}
		if !found {
			t.Fatalf("row %s: %s is not %q: %v", id, c.name, want[i].text, got)
		}
	}
	if len(left) > 0 {
		t.Fatalf("row %s has what the source has not: %v", id, left)
	}
}

// While BigQuery's writers may not know a new column, rows that don't need it are
// encoded as before it, and those that do for the table as it is.
func TestEvolve_othersFlow(t *testing.T) {
	w := newEvolvingWorld(t)
	m := w.maker(t.Context(), t, 0)
	event := func(seq uint64, columns ...change.Column) change.Event {
		return change.Event{
			Parts: 1, Table: "src", Op: change.OpCreate, Sequence: change.NewSequence(0, seq, 0, 1),
			After: append([]change.Column{{Name: "id", Value: change.Int64(1)}, {Name: "a", Value: change.String("x")}}, columns...),
		}
	}
	before := rowsOf(t.Context(), t, m, event(1))[0].Schema
	with := rowsOf(t.Context(), t, m, event(2, change.Column{Name: "c", Value: change.Int64(1)}))[0].Schema
	if with == before {
		t.Fatal("a row with a new column has the schema of before")
	}
	for name, e := range map[string]change.Event{
		"without": event(3), "with NULL": event(4, change.Column{Name: "c", Value: change.Null()}),
		"deleted": {Parts: 1, Table: "src", Op: change.OpDelete, Before: event(5).After, Sequence: change.NewSequence(0, 5, 0, 1)},
	} {
		if got := rowsOf(t.Context(), t, m, e)[0].Schema; got != before {
			t.Errorf("a row %s the new column waits for it", name)
		}
	}
}

// A source that leaves unchanged columns out has none of the columns beside.
func TestWithBesides(t *testing.T) {
	g := table.Growth{Untyped: table.UntypedInfer}
	n := table.Column{Name: "n", Type: table.Int64}
	b := g.Beside(&n, change.String("x"))[0]
	plan, err := rowproto.Compile(&table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: "t"}, PrimaryKey: []string{"id"},
		Columns: []table.Column{{Name: "id", Type: table.Int64}, n, b, {Name: "n_other", Type: table.String}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var v evolving
	besides := v.besidesOf(plan.Table())
	if diff := cmp.Diff([]beside{{"n_string", "n"}}, besides, cmp.AllowUnexported(beside{})); diff != "" {
		t.Errorf("besides (-want +got):\n%s", diff)
	}
	row := withBesides([]change.Column{{Name: "id", Value: change.Int64(1)}, {Name: "N", Value: change.Int64(2)}}, besides)
	if len(row) != 3 || row[2].Name != "n_string" || !row[2].Value.IsNull() {
		t.Errorf("row %v", row)
	}
	if row := withBesides(row[:1], besides); len(row) != 1 {
		t.Errorf("without n: row %v", row)
	}
	if !isBeside(plan.Table(), "n_string") || isBeside(plan.Table(), "n_other") {
		t.Error("columns are mistaken for ones beside others")
	}
}
