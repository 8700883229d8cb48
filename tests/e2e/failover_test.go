package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
)

// Case 20: of two requests the first fails and comes again after the second. The
// later change stays, and so it does when the older one is delivered anew.
func TestAppendFails(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "5ms"))
	err := s.bigquery.SetFaults([]emulator.Fault{{Times: 1, Effect: emulator.Effect{Code: "UNAVAILABLE"}}})
	if err != nil {
		t.Fatal(err)
	}
	change := func(status string, lsn uint64) message {
		return pgChange{table: "public.orders", op: "u", after: fmt.Sprintf(`{"order_id":1,"status":%q}`, status), lastCommit: 10, lsn: lsn}.message()
	}
	l := s.launch()
	s.publish(change("first", 11))
	l.waitFor("the fault", func() bool { return s.bigquery.Faults()[0].Happened == 1 })
	s.publish(change("second", 12))
	s.waitAcked(l)
	s.publish(change("first", 11))
	s.waitAcked(l)
	l.stop()
	if diff := cmp.Diff(map[int]string{1: "second"}, s.orders()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Cases 23 and 24: after a failover the new primary's positions are below the old
// one's. Without a raised epoch the older row stays, and it is counted and warned
// of; with it the new row wins.
func TestFailover(t *testing.T) {
	const config = `
source: {subscription: projects/demo/subscriptions/changes, epoch: %d}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: %s
    destination: shop.items
    primary_key: [id]
    columns: [{name: id, type: INT64, mode: REQUIRED}, {name: v, type: STRING}]
`
	at := func(m message, second int) message { // when the source committed it
		for _, ms := range []string{"1741507626005", "1741507626000"} {
			m.data = strings.Replace(m.data, `"ts_ms":`+ms, fmt.Sprintf(`"ts_ms":%d`, 1741507626000+1000*second), 1)
		}
		return m
	}
	mysql := func(v, file string, pos, server uint64) message {
		return myChange{table: "shop.items", op: "u", after: fmt.Sprintf(`{"id":1,"v":%q}`, v), file: file, pos: pos, server: server}.message()
	}
	for _, c := range []struct {
		name, source  string
		before, after message
	}{
		{"23 PostgreSQL", "public.items", at(item("u", "1", `,"v":"a"`, 900, 950), 0), at(item("u", "1", `,"v":"z"`, 880, 890), 120)},
		{"24 MySQL", "shop.items", at(mysql("a", "bin.000120", 9, 1), 0), at(mysql("z", "bin.000003", 4, 2), 120)},
	} {
		for _, epoch := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, epoch 1 and then %d", c.name, epoch), func(t *testing.T) {
				db := t.TempDir() + "/tables.db"
				out := runLocal(t, fmt.Sprintf(config, 1, c.source), []message{c.before}, "-db", db)
				if n := out.Counts["positions_backwards"]; n != 0 {
					t.Errorf("%d positions ran backwards before the failover", n)
				}
				want := "z"
				if epoch == 1 {
					want = "a" // as BigQuery has it, whoever asks
				}
				out = runLocal(t, fmt.Sprintf(config, epoch, c.source), []message{c.after}, "-db", db)
				if diff := cmp.Diff([]row{{"id": "1", "v": want}}, out.Tables["shop.items"]); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
		t.Run(c.name+", in one run", func(t *testing.T) {
			s := startServices(t, fmt.Sprintf(config, 1, c.source))
			l := s.launch()
			s.publish(c.before)
			s.waitAcked(l) // the second comes after the first was decoded
			s.publish(c.after)
			s.waitAcked(l)
			if n := l.stop()["positions_backwards"]; n != 1 {
				t.Errorf("%d positions ran backwards, want 1", n)
			}
		})
	}
}
