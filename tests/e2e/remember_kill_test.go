package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rememberedTraffic publishes changes of some orders, changes of keys and deletes among
// them. It returns what the table must hold in the end, and how many changes of rows the
// history must have.
func (s *services) rememberedTraffic(changes int, pause time.Duration) (want map[int]string, remembered int) {
	const orders = 100
	want = map[int]string{}
	for i := range changes {
		key := 1 + rand.IntN(orders)
		c := pgChange{table: "public.orders", op: "u", lastCommit: uint64(1000 + 10*i), lsn: uint64(1005 + 10*i)}
		_, there := want[key]
		status := "s" + strconv.Itoa(i)
		remembered++
		switch {
		case there && i%7 == 0:
			c.op, c.before = "d", fmt.Sprintf(`{"order_id":%d,"status":null}`, key)
			delete(want, key)
		case there && i%7 == 1: // it gets a key that was never there
			c.before = fmt.Sprintf(`{"order_id":%d,"status":null}`, key)
			delete(want, key)
			key = orders + 1 + i
			remembered++
			fallthrough
		default:
			c.after = fmt.Sprintf(`{"order_id":%d,"status":%q}`, key, status)
			want[key] = status
		}
		s.publish(c.message())
		if i%20 == 0 {
			time.Sleep(pause)
		}
	}
	return want, remembered
}

// Killed at any instant, again and again, and started again, the pipeline loses no
// change of the history: without duplicates it has each once, and the query makes of it
// what the table holds, and the source.
func TestRemember_kill(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(rememberConfig, "100ms"))
	cdc := binary(t, "cdc")
	var want map[int]string
	var remembered int
	flowing := make(chan struct{})
	go func() {
		defer close(flowing)
		want, remembered = s.rememberedTraffic(2000, 40*time.Millisecond)
	}()
	kills := 0
	for done := false; !done; kills++ {
		l := s.launch()
		select {
		case <-flowing:
			done = true
		case <-l.ended:
			t.Fatalf("cmd/launch ended by itself\n%s", l.stderr.String())
		case <-time.After(time.Duration(200+rand.IntN(1500)) * time.Millisecond):
		}
		l.signal(syscall.SIGKILL)
		<-l.ended
	}
	l := s.launch()
	s.waitAcked(l)
	if counts := l.stop(); !balanced(counts) {
		t.Errorf("the counts of the last run don't add up: %v", counts)
	}
	if diff := cmp.Diff(want, s.orders()); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	rows, distinct := s.count(historyTable), s.count(distinctView)
	t.Logf("killed %d times; the history has %d rows for %d changes", kills, rows, remembered)
	if distinct != remembered {
		t.Errorf("the history has %d distinct changes, want %d", distinct, remembered)
	}
	rebuild := exec.CommandContext(t.Context(), cdc, "rebuild", "-config", s.config,
		"-bigquery_rest_endpoint", s.bigquery.RESTAddr(), "-bigquery_grpc_endpoint", s.bigquery.GRPCAddr(), mirrorTable)
	rebuild.Stderr = os.Stderr
	printed, err := rebuild.Output()
	if err != nil {
		t.Fatal(err)
	}
	const order = " ORDER BY order_id"
	query := strings.TrimSuffix(strings.TrimSpace(string(printed)), ";")
	if diff := cmp.Diff(s.query("SELECT * FROM "+mirrorTable+order), s.query("SELECT * FROM (\n"+query+"\n)"+order)); diff != "" {
		t.Errorf("-table +history:\n%s", diff)
	}
}
