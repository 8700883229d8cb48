package bqcdc

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// plainWriter returns a writer of plain rows beside e's of CDC rows, and makes its table.
func (e *emulated) plainWriter(t *testing.T) (*writer, *catalog.Catalog) {
	t.Helper()
	config := e.config
	config.Stage, config.Namespace = "history", "history"
	config.Catalog.Rules = nil
	config.Catalog.Plain = []table.Column{{Name: "id", Type: table.Int64, Mode: table.Required}, {Name: "text", Type: table.String}}
	tables, err := catalog.Open(t.Context(), config.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	past := &table.Table{Name: table.Name{Project: "p", Dataset: "d", Table: "past"}, Columns: config.Catalog.Plain}
	if err := tables.Appendable(t.Context(), past); err != nil {
		t.Fatal(err)
	}
	w, err := openWriter(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutdown(w.streams) })
	return w, tables
}

func plainRow(t *testing.T, tables *catalog.Catalog, name string, id int64) change.Row {
	t.Helper()
	parsed, err := table.ParseName(name, "p")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tables.PlainPlan(parsed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := plan.NewEncoder().AppendPlain(nil, []change.Column{{Name: "id", Value: change.Int64(id)}, {Name: "text", Value: change.String("plain")}})
	if err != nil {
		t.Fatal(err)
	}
	return change.Row{Table: name, Schema: plan.Fingerprint(), Data: data, Message: change.Message{ID: fmt.Sprint("plain ", id)}}
}

// Invariant 6: the emulator, as BigQuery, refuses a connection on which plain rows
// follow CDC rows. Here both go to one table, at once and in turn.
func TestPlain_ownConnections(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	cdc := e.writer(t)
	plain, tables := e.plainWriter(t)
	if cdc.streams != plain.streams {
		t.Fatal("the two writers don't share what they could get wrong")
	}
	for round := range int64(3) {
		got, err := write(t, plain, plainRow(t, tables, "p.d.items", 10+round), plainRow(t, tables, "p.d.past", round), plainRow(t, tables, "p.d.past", round))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.acknowledged) != 3 || len(got.rejected) != 0 {
			t.Fatalf("round %d of plain rows: %+v", round, got)
		}
		if got, err = write(t, cdc, e.row(t, round, 1, "cdc")); err != nil || len(got.acknowledged) != 1 {
			t.Fatalf("round %d of CDC rows: %+v, %v", round, got, err)
		}
	}
	want := map[string]string{"0": "cdc", "1": "cdc", "2": "cdc", "10": "plain", "11": "plain", "12": "plain"}
	if diff := cmp.Diff(want, e.table(t)); diff != "" {
		t.Error(diff)
	}
	rows, err := e.server.Rows(t.Context(), "d", "past")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, text := range rows {
		var row map[string]any
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(row["id"]))
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{"0", "0", "1", "1", "2", "2"}, ids); diff != "" {
		t.Error(diff)
	}
}

// What tells the two kinds of rows apart does so though table and schema are the same.
func TestStreamKey_plain(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	w := e.writer(t)
	key := streamKey{table: "p.d.items", schema: e.plan.Fingerprint()}
	first, err := w.streams.acquire(t.Context(), key, e.plan.Descriptor(), time.Minute, errSilent)
	if err != nil {
		t.Fatal(err)
	}
	defer w.streams.release(first)
	key.plain = true
	second, err := w.streams.acquire(t.Context(), key, e.plan.Descriptor(), time.Minute, errSilent)
	if err != nil {
		t.Fatal(err)
	}
	defer w.streams.release(second)
	if first == second || first.writer == second.writer {
		t.Error("plain rows share the CDC rows' stream")
	}
}

// A dead letter of plain rows is of its own stage.
func TestPlain_letters(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	w, tables := e.plainWriter(t)
	row := plainRow(t, tables, "p.d.past", 1)
	w.config.MaxRequestBytes = 1
	got, err := write(t, w, row)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, nil, map[string]string{"plain 1": "row_too_large"})
	if l := letterOf(&rejection{pending: newPending(&row, 0), reason: "row_too_large"}, w.config.Stage); l.Stage != "history" {
		t.Errorf("stage %q", l.Stage)
	}
}
