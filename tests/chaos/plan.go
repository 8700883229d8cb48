package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// event is something that goes wrong, once the round's change of this number is
// published. What lasts is in real time from then on.
type event struct {
	at    int
	fault string
	lasts time.Duration
	times int // how often, or how much of it
	table string
	seed  uint64
}

func (e event) String() string {
	s := fmt.Sprintf("%7d %-16s", e.at, e.fault)
	if e.lasts > 0 {
		s += fmt.Sprintf(" %s", e.lasts.Round(time.Millisecond))
	}
	if e.times > 0 {
		s += fmt.Sprintf(" x%d", e.times)
	}
	if e.table != "" {
		s += " " + e.table
	}
	return s
}

// The faults, with how long each lasts in minutes of an hour's run, its weight
// beyond the once that each happens in every round, and whether it is one table's.
var faultKinds = []struct {
	name     string
	longest  time.Duration // at scale 1
	shortest time.Duration // at any
	times    int           // at most
	weight   int
	oneTable bool
	does     string
}{
	{name: "kill", times: 3, does: "kill -9 of the pipeline, again before it is up"}, // the plan counts these
	{name: "stop", weight: 2, does: "SIGTERM to the pipeline"},
	{name: "kill_bigquery", longest: 20 * time.Second, weight: 2, does: "kill -9 of the emulator, which is away for a while"},
	{name: "kill_both", longest: 5 * time.Second, weight: 1, does: "kill -9 of both at once"},
	{name: "cut_before", times: 20, weight: 2, oneTable: true, does: "connections are cut before rows are stored"},
	{name: "cut_after", times: 20, weight: 2, oneTable: true, does: "connections are cut after rows were stored"},
	{name: "lose_response", times: 2, weight: 1, oneTable: true, does: "rows are stored, and their connection says nothing any more"},
	{name: "unavailable", times: 30, weight: 2, does: "appends are answered with UNAVAILABLE"},
	{name: "internal", times: 10, weight: 1, oneTable: true, does: "connections end with INTERNAL"},
	{name: "exhausted", longest: 3 * time.Minute, weight: 1, does: "RESOURCE_EXHAUSTED, of all tables"},
	{name: "quota", longest: time.Minute, weight: 1, does: "a quota of 100 kB a second"},
	{name: "slow", longest: time.Minute, weight: 1, does: "half of the answers take up to two seconds"},
	{name: "reject", times: 5, weight: 2, oneTable: true, does: "rows are rejected"},
	{name: "rest_fails", times: 10, weight: 1, does: "BigQuery's REST API answers with 503"},
	{name: "alter", longest: 20 * time.Second, oneTable: true, does: "the source adds a column, which BigQuery's writers learn late"},
	{name: "drop", longest: 5 * time.Second, oneTable: true, does: "a table is dropped and created again; its source is published again"},
	{name: "truncate", longest: 20 * time.Second, weight: 3, oneTable: true, does: "the source truncates a table; BigQuery's writers learn of new tables late; often kill -9 meanwhile"},
	{name: "wait", times: 2, weight: 2, oneTable: true, does: "kill -9 or SIGTERM to the pipeline while a table's rows wait, since BigQuery takes none"},
	{name: "forbid", longest: 10 * time.Second, shortest: 2 * time.Second, weight: 1, oneTable: true, does: "PERMISSION_DENIED, of one table, by the Write API or the REST API"},
	{name: "redelivery", weight: 2, does: "all leases end"},
	{name: "lost_acks", longest: 10 * time.Second, weight: 1, does: "half of the acks have no effect"},
	{name: "no_acks", longest: 10 * time.Second, weight: 1, does: "acks and extensions are UNAVAILABLE"},
	{name: "cut_streams", weight: 2, does: "Pub/Sub's streams are cut"},
	{name: "poison", weight: 2, does: "messages that can't be used"},
	{name: "burst", longest: 10 * time.Second, times: 5000, weight: 1, does: "nothing is published for a while, then much at once"},
	{name: "clock", weight: 2, does: "BigQuery's clock jumps, up to six hours forth or back"},
}

// rejectable are the tables whose rows are rejected: their letters are replayed. The
// dead letters' own table refusing a letter would rightly end the pipeline.
var rejectable = []string{"orders", "lines", "customers", "docs", "notes", "stock"}

// namesOf are the names of the tables that have something.
func namesOf(tables []tableSpec, have func(*tableSpec) bool) (names []string) {
	for i := range tables {
		if have(&tables[i]) {
			names = append(names, tables[i].name)
		}
	}
	return names
}

// tablesFor are the tables that a fault of one table can be of.
func tablesFor(fault string, tables []tableSpec) []string {
	switch fault {
	case "reject":
		return rejectable
	case "alter":
		return namesOf(tables, (*tableSpec).grows)
	case "truncate":
		return namesOf(tables, func(t *tableSpec) bool { return t.follows })
	case "drop":
		return namesOf(tables, func(t *tableSpec) bool { return t.name == dropped || strings.HasPrefix(t.name, plain) })
	}
	return namesOf(tables, func(*tableSpec) bool { return true })
}

// makePlan draws a round's faults: each kind once, the kills, and as many others again.
func makePlan(random *rand.Rand, changes, kills int, scale float64, tables []tableSpec) []event {
	var events []event
	draw := func(i int) {
		k := faultKinds[i]
		e := event{at: changes/50 + random.IntN(max(changes*95/100, 1)), fault: k.name, seed: random.Uint64()}
		if k.longest > 0 {
			longest := time.Duration(float64(k.longest) * scale)
			e.lasts = max(k.shortest, longest/4+time.Duration(random.Int64N(int64(longest*3/4))))
		}
		if k.times > 0 {
			e.times = 1 + random.IntN(k.times)
		}
		if k.oneTable {
			names := tablesFor(k.name, tables)
			e.table = names[random.IntN(len(names))]
		}
		events = append(events, e)
	}
	weights := 0
	for i, k := range faultKinds {
		draw(i)
		weights += k.weight
	}
	for range len(faultKinds) / 2 {
		dice := random.IntN(weights)
		for i, k := range faultKinds {
			if dice -= k.weight; dice < 0 {
				draw(i)
				break
			}
		}
	}
	planned := 0
	for _, e := range events {
		planned += e.kills()
	}
	for planned < kills {
		draw(0)
		planned += events[len(events)-1].kills()
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// kills is how many kill -9 of a process an event is.
func (e event) kills() int {
	switch e.fault {
	case "kill":
		return e.times
	case "kill_bigquery":
		return 1
	case "kill_both":
		return 2
	}
	return 0
}
