package databases

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// Rows that went wrong, are missing or should not be there are repaired while the
// source goes on changing, with long transactions among others, and Debezium streams:
// in the end the table is the source's.
func TestRepair(t *testing.T) {
	h := postgresHistory(t, true)
	h.tables = []*sourceTable{pgItems(), pgPairs()}
	for _, table := range h.tables {
		for i := range table.columns {
			table.columns[i].late = false
		}
	}
	s := h.source.(*postgres) //nolint:forcetypeassert // it is
	source := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", s.port)
	r := h.begin()
	w := r.workload
	w.altered = true
	w.run(150)
	w.commit()
	r.services.launch()
	r.capture.start()
	r.capture.catchUp(h.mark)
	r.services.settled()

	corrupted := corrupt(t, s, r.services)
	r.services.settled()
	for _, table := range []string{"public.items", "public.pairs"} {
		if counts := kinds(r.services.diff(source, table).differences); len(counts) != 3 {
			t.Errorf("%s: found %v of %d rows that are wrong, missing and extra", table, counts, corrupted)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // the source goes on
		defer close(stopped)
		for n := w.ended; ; n += 5 {
			select {
			case <-stop:
				w.commit() // the repairs wait for what is under way
				return
			default:
				w.run(n)
				if n%50 == 0 {
					w.commit()
				}
			}
		}
	}()
	repaired := 0
	for range 2 {
		for _, table := range []string{"public.items", "public.pairs"} {
			repaired += len(r.services.repair(source, table).differences)
		}
	}
	close(stop)
	<-stopped
	if repaired < corrupted/2 {
		t.Errorf("only %d rows were repaired of %d that went wrong", repaired, corrupted)
	}
	h.end(r)
	for _, table := range []string{"public.items", "public.pairs"} {
		if o := r.services.diff(source, table); o.status != 0 {
			t.Errorf("%s differs in the end: %v", table, o.differences)
		}
	}
}

// corrupt publishes changes that the source never made, at its log's end: of rows in
// BigQuery some get other values, others go, and some come that aren't in the source.
func corrupt(t *testing.T, s *postgres, services *services) int {
	t.Helper()
	var lsn int64
	if err := s.db.QueryRowContext(context.Background(), "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint").Scan(&lsn); err != nil {
		t.Fatal(err)
	}
	s.exec("CREATE TABLE more_log (n integer)") // what the source does later is later
	var messages []*pubsubpb.PubsubMessage
	add := func(table, op string, before, after map[string]any) {
		text, err := json.Marshal(map[string]any{
			"before": before, "after": after, "op": op,
			"source": map[string]any{"connector": "postgresql", "schema": "public", "table": table, "lsn": lsn - 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, &pubsubpb.PubsubMessage{Data: text})
	}
	key := func(table string, row map[string]any) map[string]any {
		if table == "items" {
			return map[string]any{"id": row["id"]}
		}
		return map[string]any{"n": row["n"], "tenant": row["tenant"]}
	}
	for _, table := range []string{"items", "pairs"} {
		for _, row := range services.rows(table) {
			k := key(table, row)
			switch rand.IntN(3) {
			case 0:
				add(table, "d", k, nil)
			case 1:
				wrong := key(table, row)
				if table == "items" {
					wrong["op"], wrong["Price"], wrong["at"] = "wrong", "AQ==", "2026-03-09T00:00:00Z"
				} else {
					wrong["v"] = 123.456
				}
				add(table, "u", nil, wrong)
			}
		}
	}
	for i := range 5 {
		add("items", "c", nil, map[string]any{"id": 5000 + i, "op": "extra", "Price": "AQ==", "at": "2026-03-09T00:00:00Z"})
		add("pairs", "c", nil, map[string]any{"n": 5000 + i, "tenant": "extra"})
	}
	services.publish(messages)
	return len(messages)
}
