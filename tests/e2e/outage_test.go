package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"beamcdc/emulator"
)

// An outage of one table: the other's rows flow on and are acked, its own fill no dead
// letters, and memory stays flat, since the source stops taking messages when as many as may
// be are outstanding. When the outage is over all that was published is there.
func TestOutage(t *testing.T) {
	t.Parallel() // it waits more than it works
	const outstanding, held, flowing, later = 60, 40, 30, 200
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms")+`
  - source: public.customers
    destination: shop.customers
    primary_key: [id]
    columns: [{name: id, type: INT64, mode: REQUIRED}]
`)
	customer := func(id int) message {
		return pgChange{table: "public.customers", op: "c", after: fmt.Sprintf(`{"id":%d}`, id), lastCommit: 10, lsn: uint64(10 + id)}.message()
	}
	publish := func(n int, of func(id int) message, from int) {
		for i := range n { // little by little, since what comes in one response is taken as a whole
			s.publish(of(from + i))
			if i%5 == 4 {
				time.Sleep(100 * time.Millisecond)
			}
		}
	}
	l := s.launch("--finish_for", "200ms", "--max_outstanding_messages", fmt.Sprint(outstanding), "--metrics_address", "127.0.0.1:0")
	publish(1, placed, 1)
	publish(1, customer, 1)
	s.waitAcked(l)
	if err := s.bigquery.SetFaults([]emulator.Fault{{Table: "shop.orders", Effect: emulator.Effect{Code: "UNAVAILABLE"}}}); err != nil {
		t.Fatal(err)
	}
	publish(held, placed, 2)
	for round := range 3 { // bundle after bundle, by which the orders are known to be in trouble
		publish(flowing/3, customer, 2+round*flowing/3)
		l.waitFor("the acks of the other table's messages", func() bool { return s.pubsub.Unacked(launchTopic) == held })
	}
	publish(later, placed, 2+held)
	time.Sleep(3 * time.Second) // for as many as may be outstanding, and for tries
	page := l.metrics()
	for _, name := range []string{"beamcdc_pubsubsource_outstanding_messages", "beamcdc_bqcdc_rows_held_total"} {
		if n := figure(t, page, name); n < held || n > 2*outstanding { // by which a response may go beyond
			t.Errorf("%s is %v, while %d messages may be outstanding", name, n, outstanding)
		}
	}
	if n := s.pubsub.Unacked(launchTopic); n != held+later {
		t.Errorf("%d messages are unacked, want %d", n, held+later)
	}
	if err := s.bigquery.SetFaults(nil); err != nil {
		t.Fatal(err)
	}
	s.waitAcked(l)
	l.stop()
	if n := len(s.orders()); n != 1+held+later {
		t.Errorf("there are %d orders, want %d", n, 1+held+later)
	}
	if letters := s.deadLetters(); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
	if n := strings.Count(l.stderr.String(), "\n"); n > 5 {
		t.Errorf("it printed %d lines:\n%s", n, l.stderr.String())
	}
}

// metrics returns the page of figures that a process serves where it says.
func (l *launched) metrics() string {
	l.t.Helper()
	served := regexp.MustCompile(`http://[0-9.:]+/metrics`).FindString(l.stderr.String())
	response, err := http.Get(served)
	if err != nil {
		l.t.Fatalf("%v\n%s", err, l.stderr.String())
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(page)
}

// figure returns the sum of a metric's values on a page of figures.
func figure(t testing.TB, page, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+name+`(?:\{.*\})? (\S+)$`).FindAllStringSubmatch(page, -1)
	if found == nil {
		t.Fatalf("there is no %s in\n%s", name, page)
	}
	sum := 0.0
	for _, f := range found {
		value, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += value
	}
	return sum
}
