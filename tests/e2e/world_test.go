package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitFor waits until a condition holds, while the process runs.
func (l *launched) waitFor(what string, holds func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-l.ended:
			l.t.Fatalf("waiting for %s: cmd/launch ended with %d\n%s", what, l.command.ProcessState.ExitCode(), l.stderr.String())
		default:
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("waiting for %s: a minute is over", what)
		}
	}
}

// waitEnd waits until the process has ended, and returns its exit status.
func (l *launched) waitEnd() int {
	l.t.Helper()
	select {
	case <-l.ended:
	case <-time.After(time.Minute):
		l.t.Fatalf("cmd/launch has not ended after a minute\n%s", l.stderr.String())
	}
	return l.command.ProcessState.ExitCode()
}

func placed(id int) message {
	return pgChange{table: "public.orders", op: "c", after: fmt.Sprintf(`{"order_id":%d,"status":"placed"}`, id), lastCommit: 10, lsn: uint64(10 + id)}.message()
}

// A BigQuery that goes away fills no dead letters and acks nothing (invariant 7):
// the rows are tried again. Asked to stop, the pipeline waits for them; asked a
// second time, it ends at once, and the messages are there for its successor.
func TestBigQueryGone(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms"))
	l := s.launch()
	s.publish(placed(1))
	l.waitFor("the first message's ack", func() bool { return s.pubsub.Unacked(launchTopic) == 0 })
	if err := s.bigquery.Close(); err != nil {
		t.Fatal(err)
	}
	s.publish(placed(2))
	l.waitFor("the second message's delivery", func() bool { return s.pubsub.Messages(launchTopic)[1].Deliveries > 0 })
	time.Sleep(time.Second) // for the window, and some tries
	l.signal(syscall.SIGTERM)
	time.Sleep(time.Second)
	select {
	case <-l.ended:
		t.Fatalf("it has ended with a row unwritten\n%s", l.stderr.String())
	default:
	}
	l.signal(syscall.SIGTERM)
	if code := l.waitEnd(); code != 1 {
		t.Errorf("after the second signal it exited with %d, want 1", code)
	}
	if n := s.pubsub.Unacked(launchTopic); n != 1 {
		t.Errorf("%d messages are unacked, want the second", n)
	}
	if letters := s.deadLetters(); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
	if text := l.stderr.String(); strings.Contains(text, "goroutine ") {
		t.Errorf("it printed a stack:\n%s", text)
	}
}

// A table that is dropped while the pipeline runs: a warning, one clear error, once
// patience is over, and nothing acked.
func TestTableDropped(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms"))
	l := s.launch("--retry_for", "1s", "--finish_for", "1s")
	s.publish(placed(1))
	l.waitFor("the first message's ack", func() bool { return s.pubsub.Unacked(launchTopic) == 0 })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.bigquery.RESTAddr()+"/projects/demo/datasets/shop/tables/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	s.publish(placed(2))
	if code := l.waitEnd(); code != 1 {
		t.Errorf("it exited with %d, want 1", code)
	}
	var warnings, last []string
	for line := range strings.Lines(l.stderr.String()) {
		switch {
		case strings.Contains(line, `msg="an append is sent again" table=demo.shop.orders outcome=schema_mismatch`):
			warnings = append(warnings, line)
		case strings.HasPrefix(line, "launch: running the pipeline: writing to table demo.shop.orders"), strings.HasPrefix(line, "launch: running the pipeline: writing 1 rows to table demo.shop.orders"):
			last = append(last, line)
		default:
			t.Errorf("it printed %s", line)
		}
	}
	if len(warnings) != 1 || len(last) != 1 {
		t.Errorf("it printed, want one warning and one line that both name the table:\n%s", l.stderr.String())
	}
	if n := s.pubsub.Unacked(launchTopic); n != 1 {
		t.Errorf("%d messages are unacked, want the second", n)
	}
	if letters := s.deadLetters(); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
}
