package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"beamcdc/emulator"
)

// rememberConfig is ordersConfig with a history.
var rememberConfig = strings.Replace(ordersConfig, "destination: shop.orders\n", "destination: shop.orders\n    history: shop.orders_history\n", 1)

const (
	mirrorTable  = "shop.orders"
	historyTable = "shop.orders_history"
	distinctView = historyTable + "_distinct"
)

// query returns the rows of a query, each as text.
func (s *services) query(sql string) (rows []string) {
	s.t.Helper()
	client, err := bigquery.NewClient(s.t.Context(), "demo", option.WithEndpoint(s.bigquery.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	it, err := client.Query(sql).Read(s.t.Context())
	for err == nil {
		var row []bigquery.Value
		if err = it.Next(&row); err == nil {
			rows = append(rows, fmt.Sprint(row))
		}
	}
	if !errors.Is(err, iterator.Done) {
		s.t.Fatalf("%v\n%s", err, sql)
	}
	return rows
}

func (s *services) count(table string) int {
	s.t.Helper()
	return len(s.query("SELECT 1 FROM " + table))
}

func (s *services) fault(faults ...emulator.Fault) {
	s.t.Helper()
	if err := s.bigquery.SetFaults(faults); err != nil {
		s.t.Fatal(err)
	}
}

// rememberedOrders are the changes of some orders, and how many have been made.
type rememberedOrders struct {
	*services
	placed int
}

const eachPhase = 5

// place publishes some orders.
func (o *rememberedOrders) place() {
	for range eachPhase {
		o.placed++
		o.publish(placed(o.placed))
	}
}

// A message is acked once its row is in the table and its change in the history,
// whichever of the two BigQuery keeps waiting (invariant 1), and neither is in the
// other's bundle.
func TestRemember_appendsFail(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := &rememberedOrders{services: startServices(t, fmt.Sprintf(rememberConfig, "20ms"))}
	l := o.launch()
	o.place()
	o.waitAcked(l)
	for _, c := range []struct{ failing, other string }{{historyTable, mirrorTable}, {mirrorTable, historyTable}} {
		for _, code := range []string{"UNAVAILABLE", "RESOURCE_EXHAUSTED"} {
			o.failAlone(l, c.failing, c.other, code)
		}
	}
	// What BigQuery stored without saying so is stored again, and is in the view once.
	o.fault(emulator.Fault{Table: historyTable, Times: 2, Effect: emulator.Effect{Cut: "after"}})
	o.place()
	o.waitAcked(l)
	if n := o.count(historyTable); n <= o.placed {
		t.Errorf("the history has %d rows, want some of %d twice", n, o.placed)
	}
	if n := o.count(distinctView); n != o.placed {
		t.Errorf("the view has %d rows, want %d", n, o.placed)
	}
	l.stop()
	if letters := o.deadLetters(); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
}

// failAlone lets the appends to one table fail, and waits for the rows of the other.
//
// A bundle's end that waits stalls Beam's worker as soon as the runner asks how far the
// bundle is, and on a busy machine that is before the other's rows are written: then it
// begins again.
func (o *rememberedOrders) failAlone(l *launched, failing, other, code string) {
	o.t.Helper()
	for range 8 {
		before := o.count(failing)
		o.fault(emulator.Fault{Table: failing, Effect: emulator.Effect{Code: code}})
		o.place()
		written := func() bool { return o.count(other) == o.placed }
		for end := time.Now().Add(2 * time.Second); !written() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		reached := written()
		if reached {
			l.waitFor("an append to "+failing, func() bool { return o.bigquery.Faults()[0].Happened > 0 })
			time.Sleep(200 * time.Millisecond) // an ack would come at once
		}
		if n := o.pubsub.Unacked(launchTopic); n != eachPhase {
			o.t.Errorf("%s of %s: %d messages are unacked, want %d", code, failing, n, eachPhase)
		}
		if n := o.count(failing); n != before {
			o.t.Errorf("%s has %d rows, had %d", failing, n, before)
		}
		o.fault()
		o.waitAcked(l)
		for _, table := range []string{failing, other} {
			if n := o.count(table); n != o.placed {
				o.t.Errorf("%s has %d rows after %s, want %d", table, n, code, o.placed)
			}
		}
		if reached {
			return
		}
	}
	o.t.Errorf("%s of %s: the rows of %s are never written meanwhile", code, failing, other)
}

// A row that BigQuery refuses is a dead letter of the table or of the history, and the
// other has its own; the letter's message, published again, gives the one that lacks it.
func TestRemember_rowsRefused(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := &rememberedOrders{services: startServices(t, fmt.Sprintf(rememberConfig, "20ms"))}
	l := o.launch()
	for i, c := range []struct{ refused, other, stage string }{{historyTable, mirrorTable, "history"}, {mirrorTable, distinctView, "write"}} {
		o.fault(emulator.Fault{Table: c.refused, Times: 1, Effect: emulator.Effect{RejectRows: []int{0}, RejectMessage: "no"}})
		o.place()
		o.waitAcked(l)
		letters := o.pubsub.Messages(launchDead)
		if len(letters) != i+1 {
			t.Fatalf("%d dead letters, want %d", len(letters), i+1)
		}
		letter := letters[i]
		if stage := letter.Attributes["beamcdc_stage"]; stage != c.stage {
			t.Errorf("a row that %s refused is a dead letter of the stage %s, want %s", c.refused, stage, c.stage)
		}
		if n := o.count(c.refused); n != o.placed-1 {
			t.Errorf("%s has %d rows, want all but one of %d", c.refused, n, o.placed)
		}
		if n := o.count(c.other); n != o.placed {
			t.Errorf("%s has %d rows, want %d", c.other, n, o.placed)
		}
		o.publish(message{data: string(letter.Data)})
		o.waitAcked(l)
		for _, table := range []string{mirrorTable, distinctView} {
			if n := o.count(table); n != o.placed {
				t.Errorf("%s has %d rows after the letter's message, want %d", table, n, o.placed)
			}
		}
	}
	if counts := l.stop(); !balanced(counts) {
		t.Errorf("the counts don't add up: %v", counts)
	}
}
