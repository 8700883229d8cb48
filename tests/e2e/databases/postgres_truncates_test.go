package databases

import (
	"encoding/json"
	"testing"
	"time"
)

// A TRUNCATE takes from BigQuery what was there before it, of one table and of several
// by one statement, in transactions that change the tables before and after it: by a
// DELETE of each key, and by a new table behind a view. The pipeline is killed while
// truncates are under way.
func TestPostgresTruncates(t *testing.T) {
	h := postgresHistory(t, true)
	h.settings["skipped.operations"] = "none" // a truncate is skipped by default
	h.more = "runtime: {truncate_wait: 500ms}\n"
	items, days, pairs, types := pgItems(), pgDays(), pgPairs(), pgTypes()
	for _, table := range []*sourceTable{items, days} {
		table.rule += "    truncates: delete_keys\n"
	}
	for _, table := range []*sourceTable{pairs, types} {
		table.rule += "    truncates: recreate\n"
	}
	h.tables = []*sourceTable{items, days, pairs, types}
	r := h.begin()
	w, s, capture := r.workload, r.services, r.capture

	w.run(60)
	w.commit()
	s.launch()
	capture.start()
	capture.catchUp(h.mark)
	h.source.exec(h.addColumns()...)
	w.altered = true
	w.run(120)
	w.commit()
	capture.catchUp(h.mark)
	s.acked()
	w.truncate(items)
	w.truncate(pairs)
	w.run(200)
	w.truncate(days, types)
	w.run(250)
	w.truncate(items, pairs)
	w.run(300)
	w.truncate(types)
	w.commit()
	capture.catchUp(h.mark) // the truncates are published, and wait
	s.kill()
	s.launch()
	// Pub/Sub delivers again what was not acked only when all of this is done.
	for i, tables := range [][]*sourceTable{{pairs, types}, {items}, {days}, {items, days, pairs}, {types}} {
		w.run(350 + 50*i)
		time.Sleep(time.Second) // some of it is written
		w.truncate(tables...)
	}
	w.run(600)
	h.end(r)

	var counts map[string]int64
	if err := json.Unmarshal(s.counts.Bytes(), &counts); err != nil {
		t.Fatal(err)
	}
	if counts["truncates"] == 0 {
		t.Errorf("there was no truncate since the last start: %v", counts)
	}
}

// truncate truncates tables in a transaction that goes on, and may be rolled back.
// The others end: a TRUNCATE waits for all that have changed its tables.
func (w *workload) truncate(tables ...*sourceTable) {
	w.t.Helper()
	w.commit()
	names := make([]string, len(tables))
	for i, table := range tables {
		names[i] = table.name
	}
	s := w.sessions[w.r.IntN(len(w.sessions))]
	w.step(s) // begins
	s.left = 2 + w.r.IntN(4)
	for range 2 {
		w.change(s)
	}
	// Where a change has failed there is no transaction any more.
	w.must(s, "TRUNCATE "+w.d.quoted(names...))
	w.counts["truncated"]++
}
