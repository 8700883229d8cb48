package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// happen lets a fault happen. What it does to the source and to Pub/Sub is done when it
// returns; the rest is, when all has its end.
func (s *system) happen(e event, all *sync.WaitGroup) {
	random := rand.New(rand.NewPCG(e.seed, 0))
	s.mu.Lock()
	s.events[e.fault]++
	// A fault is told once for each table and outcome, and again while it lasts.
	s.budget += (len(s.source.tables) + 2) * (1 + int(e.lasts/(30*time.Second)))
	s.mu.Unlock()
	s.printf("  %s", e)
	go1 := func(f func() error) {
		all.Go(func() { s.problem(f()) })
	}
	// during sets a fault of BigQuery's for so long, or until it has happened so often.
	during := func(f map[string]any) {
		name := fmt.Sprintf("%d %s", e.seed, e.fault)
		if e.table != "" {
			f["table"] = "shop." + e.table
		}
		go1(func() error {
			if err := s.bigquery.fault(name, f); err != nil {
				return err
			}
			if e.lasts > 0 {
				time.Sleep(e.lasts)
			} else {
				s.bigquery.wait(name, 20*time.Second)
			}
			return s.bigquery.reset(name)
		})
	}
	pause := func(longest time.Duration) { time.Sleep(time.Duration(random.Int64N(int64(longest)))) }
	switch e.fault {
	case "kill":
		go1(func() error {
			for i := range e.times {
				if i > 0 {
					pause(1500 * time.Millisecond)
				}
				if err := s.pipeline.kill(func() { pause(300 * time.Millisecond) }); err != nil {
					return err
				}
			}
			return nil
		})
	case "stop":
		go1(func() error { return s.pipeline.stop(20*time.Second, true) })
	case "kill_bigquery":
		go1(func() error { return s.bigquery.killed(func() { time.Sleep(e.lasts) }) })
	case "kill_both":
		go1(func() error {
			return s.pipeline.kill(func() { s.problem(s.bigquery.killed(func() { time.Sleep(e.lasts) })) })
		})
	case "cut_before":
		during(map[string]any{"times": e.times, "every": 2, "cut": "before"})
	case "cut_after":
		during(map[string]any{"times": e.times, "every": 2, "cut": "after"})
	case "lose_response":
		during(map[string]any{"times": e.times, "lose_response": true})
	case "unavailable":
		during(map[string]any{"times": e.times, "code": "UNAVAILABLE"})
	case "internal":
		during(map[string]any{"times": e.times, "code": "INTERNAL", "end_connection": true})
	case "exhausted":
		during(map[string]any{"code": "RESOURCE_EXHAUSTED"})
	case "quota":
		during(map[string]any{"bytes_per_second": 100_000})
	case "slow":
		during(map[string]any{"delay": time.Duration(random.Int64N(int64(2 * time.Second))).String(), "chance": 0.5, "seed": e.seed})
	case "reject":
		during(map[string]any{"times": e.times, "reject_rows": []int{0, random.IntN(3)}})
	case "rest_fails":
		during(map[string]any{"method": "tables.*", "times": e.times, "code": "UNAVAILABLE"})
	case "alter":
		during(map[string]any{"hide_new": e.lasts.String()})
		s.printf("  the source added %s.%s", e.table, s.source.alter(e.table))
	case "drop":
		go1(func() error { return s.dropTable(e.table, e.lasts) })
	case "truncate":
		s.source.truncate(e.table)
		if e.table == viewed {
			e.table += "_g*"
			during(map[string]any{"hide_new": e.lasts.String()})
		}
		if random.IntN(3) > 0 {
			go1(func() error {
				pause(5 * time.Second)
				return s.pipeline.kill(func() {})
			})
		}
	case "wait":
		go1(func() error { return s.endWhileWaiting(e) })
	case "forbid":
		f := map[string]any{"code": "PERMISSION_DENIED", "end_connection": random.IntN(2) == 0}
		if random.IntN(3) == 0 {
			f = map[string]any{"code": "PERMISSION_DENIED", "method": "tables.*"}
		}
		during(f)
	case "redelivery":
		s.broker.endLeases()
	case "lost_acks":
		s.broker.loseAcks(e.lasts)
	case "no_acks":
		s.broker.failAcks(e.lasts)
	case "cut_streams":
		s.broker.cutStreams()
	case "poison":
		s.source.spoil()
	case "burst": // the round's own
	case "clock":
		jump := time.Duration(random.Int64N(int64(6*time.Hour))) - 3*time.Hour
		go1(func() error { return s.jump(jump) })
	default:
		panic("no such fault: " + e.fault)
	}
}

// endWhileWaiting ends the pipeline while rows of a table wait aside, since BigQuery takes
// none: by kill -9, or by SIGTERM, after which they are still to be written once it does.
func (s *system) endWhileWaiting(e event) error {
	name := fmt.Sprintf("%d %s", e.seed, e.fault)
	if err := s.bigquery.fault(name, map[string]any{"code": "RESOURCE_EXHAUSTED", "table": "shop." + e.table}); err != nil {
		return err
	}
	time.Sleep(2 * finishFor)
	if e.times == 1 {
		err := s.pipeline.kill(func() {})
		return errors.Join(err, s.bigquery.reset(name))
	}
	var recovers sync.WaitGroup
	recovers.Go(func() {
		time.Sleep(finishFor)
		s.problem(s.bigquery.reset(name))
	})
	err := s.pipeline.stop(time.Minute, true)
	recovers.Wait()
	return err
}

// jump moves BigQuery's clock. It never gets more than six hours from where it was:
// after two days BigQuery forgets deletes, and older changes that come again would bring
// rows back. A clock that jumps while its process is killed has the real time again.
func (s *system) jump(by time.Duration) error {
	s.mu.Lock()
	if (s.offset + by).Abs() > 6*time.Hour {
		by = -by
	}
	s.offset += by
	s.mu.Unlock()
	err := s.bigquery.advance(by)
	var status *statusError
	if err != nil && !errors.As(err, &status) {
		return nil // it is down: a clock that is not there can't jump
	}
	return err
}

// dropTable drops a table, creates it again after a while, and publishes its source
// again: what BigQuery had is lost with the table, and comes from nowhere else.
func (s *system) dropTable(dropped string, away time.Duration) error {
	const path = "/bigquery/v2/projects/demo/datasets/shop/tables"
	var old map[string]any
	err := s.persist(func() error { return s.bigquery.call(http.MethodGet, path+"/"+dropped, nil, &old) })
	var missing *statusError
	if errors.As(err, &missing) && missing.code == http.StatusNotFound { // no row of it has come yet
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.persist(func() error { return s.bigquery.call(http.MethodDelete, path+"/"+dropped, nil, nil) }); err != nil {
		return err
	}
	time.Sleep(away)
	table := map[string]any{}
	for _, name := range []string{"tableReference", "schema", "tableConstraints", "clustering", "maxStaleness"} {
		if value, ok := old[name]; ok {
			table[name] = value
		}
	}
	err = s.persist(func() error {
		err := s.bigquery.call(http.MethodPost, path, table, nil)
		var status *statusError
		if errors.As(err, &status) && status.code == http.StatusConflict { // the pipeline has created it
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	s.printf("  %s dropped and created again, %d keys published again", dropped, s.source.republish(dropped))
	return nil
}

// persist does something of an operator's until it succeeds: BigQuery may be away.
func (s *system) persist(f func() error) error {
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		err := f()
		var status *statusError
		if err == nil || errors.As(err, &status) && status.code != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return err
		}
	}
}
