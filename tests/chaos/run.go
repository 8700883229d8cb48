package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// options are what a run is asked for.
type options struct {
	seed      uint64
	changes   int           // at least, in all rounds
	kills     int           // kill -9 of either process, at least
	duration  time.Duration // at least
	round     int           // changes in a round
	faults    int           // kills planned for a round
	rate      int           // changes a second that are published, unless they pile up
	backlog   int           // messages that may be unacked
	tables    int           // plain ones, beside the others
	hold      time.Duration // fill.hold_for of the tables that have one
	scale     float64       // of the faults that last: 1 is minutes
	settleFor time.Duration // for what is left after a round: beyond it the pipeline is stuck
	goOn      bool          // with the next round after a problem
	directory string
	launch    string // programs
	emulator  string
	cdc       string
	out       io.Writer // progress
	trace     io.Writer // what becomes of each message; nil for nowhere
	pipeline  io.Writer // the pipeline's log; nil for nowhere
}

// summary is what a run came to.
type summary struct {
	options
	rounds, published, kills, bigqueryKills, stops, slow, starts int
	events                                                       map[string]int
	happened                                                     map[string]int
	exits                                                        []string
	letters, replayed, overdue                                   int
	deliveries                                                   brokerCounts
	counted, unfinished                                          int64
	logLines                                                     int
	log                                                          string
	took                                                         time.Duration
}

// system is all that runs.
type system struct {
	options
	broker   *broker
	bigquery *bigquery
	pipeline *pipeline
	source   *source
	journal  *journal
	began    time.Time
	config   string

	mu       sync.Mutex
	events   map[string]int
	problems []error
	offset   time.Duration // of BigQuery's clock
	budget   int           // log lines that the faults may make
	replayed int
	letters  int
	overdue  map[string]bool // dead letters of updates whose rows were deleted: see isOverdue
}

func (s *system) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, "%7.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// lockedWriter is written to by one at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(text)
}

func (s *system) problem(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, err)
	s.printf("PROBLEM: %v", err)
}

// run runs rounds until it has what the options ask for. The error is all that was
// wrong.
func run(ctx context.Context, o options) (*summary, error) {
	if _, locked := o.out.(*lockedWriter); !locked {
		o.out = &lockedWriter{w: o.out}
	}
	s := &system{options: o, began: time.Now(), events: map[string]int{}, journal: &journal{}, overdue: map[string]bool{}}
	if o.pipeline != nil {
		s.journal.echo = func(line string) { _, _ = fmt.Fprintln(o.pipeline, line) }
	}
	defer s.close()
	if err := s.start(); err != nil {
		return nil, err
	}
	rounds := 0
	for ; ctx.Err() == nil && (len(s.problems) == 0 || s.goOn) && (rounds == 0 || !s.enough()); rounds++ {
		s.round(ctx, rounds)
	}
	if ctx.Err() != nil {
		s.problem(context.Cause(ctx))
	}
	p := s.pipeline.counts()
	return &summary{
		options: o, rounds: rounds, published: s.source.count(), kills: p.kills, bigqueryKills: int(s.bigquery.kills.Load()), stops: p.stops, slow: p.slow, starts: p.starts,
		events: s.events, happened: s.bigquery.happened, exits: p.exits, letters: s.letters, replayed: s.replayed, overdue: len(s.overdue), deliveries: s.broker.counts(),
		counted: p.messages, unfinished: p.unfinished, logLines: s.journal.lines(), log: s.journal.String(), took: time.Since(s.began),
	}, errors.Join(s.problems...)
}

// killed is how often a process was killed by now.
func (s *system) killed() int { return s.pipeline.counts().kills + int(s.bigquery.kills.Load()) }

func (s *system) enough() bool {
	return s.source.count() >= s.options.changes && s.killed() >= s.options.kills && time.Since(s.began) >= s.duration
}

func (s *system) start() (err error) {
	if s.broker, err = startBroker(s.seed, usualHabits); err != nil {
		return err
	}
	s.broker.mu.Lock()
	s.broker.trace = s.trace
	s.broker.mu.Unlock()
	s.source = newSource(s.seed, tablesOf(s.tables), s.broker)
	emulatorLog, err := os.Create(filepath.Join(s.directory, "emulator.log"))
	if err != nil {
		return err
	}
	s.bigquery, err = startBigQuery(s.emulator, filepath.Join(s.directory, "bigquery.duckdb"), func(line string) { _, _ = fmt.Fprintln(emulatorLog, line) })
	if err != nil {
		return err
	}
	if err := s.bigquery.up(); err != nil {
		return err
	}
	s.config = filepath.Join(s.directory, "pipeline.yaml")
	if err := os.WriteFile(s.config, []byte(configuration(tablesOf(s.tables), 200*time.Millisecond, s.hold)), 0o600); err != nil {
		return err
	}
	s.pipeline = newPipeline(s.launch, s.directory, s.config, s.broker, s.bigquery, s.journal)
	return s.pipeline.up()
}

func (s *system) close() {
	if s.pipeline != nil {
		s.pipeline.close()
	}
	if s.bigquery != nil {
		s.bigquery.stop()
	}
	if s.broker != nil {
		s.broker.close()
	}
}

// round publishes a round's changes while its faults happen, and then, when all is well
// again, waits until nothing is left and compares.
func (s *system) round(ctx context.Context, n int) {
	plan := makePlan(rand.New(rand.NewPCG(s.seed, 1000+uint64(n))), s.options.round, s.faults, s.scale, tablesOf(s.tables))
	s.printf("round %d: %d changes, %d faults", n+1, s.options.round, len(plan))
	for _, e := range plan {
		s.printf("  planned %s", e)
	}
	s.broker.behave(usualHabits)
	before := s.source.count()
	var faults sync.WaitGroup
	freely := 0 // changes of a burst
	next, slept := time.Now(), time.Time{}
	for i := 0; i < s.options.round && ctx.Err() == nil; i++ {
		for len(plan) > 0 && plan[0].at <= i {
			e := plan[0]
			plan = plan[1:]
			if e.fault == "burst" {
				time.Sleep(e.lasts)
				freely = e.times
			}
			s.happen(e, &faults)
		}
		s.source.change()
		if freely > 0 {
			freely--
			next = time.Now()
			continue
		}
		next = next.Add(time.Second / time.Duration(s.rate))
		if pause := time.Until(next); pause > 5*time.Millisecond {
			time.Sleep(pause)
		}
		for unacked, _ := s.broker.left(); unacked > s.backlog && ctx.Err() == nil; unacked, _ = s.broker.left() {
			time.Sleep(20 * time.Millisecond)
			next = time.Now()
		}
		if time.Since(slept) > 10*time.Second {
			slept = time.Now()
			unacked, _ := s.broker.left()
			s.printf("%d changes, %d unacked, %d kills", s.source.count(), unacked, s.killed())
		}
	}
	faults.Wait()
	s.settle(ctx)
	s.printf("round %d: %d changes published", n+1, s.source.count()-before)
}

// settle waits until nothing is left to deliver, replays what was refused, stops the
// pipeline, compares and starts it again.
func (s *system) settle(ctx context.Context) {
	s.broker.behave(habits{})
	if !s.drain(ctx) {
		return
	}
	if s.replay(ctx); !s.drain(ctx) {
		return
	}
	s.problem(s.pipeline.stop(stopFor, false))
	for _, text := range s.pipeline.takeProblems() {
		s.problem(errors.New(text))
	}
	s.compare()
	s.checkLog()
	s.checkExits()
	s.problem(s.pipeline.up())
}

// drain waits until every message is acked and no delivery is to come. It reports false,
// and the problem, if that takes too long: something is stuck.
func (s *system) drain(ctx context.Context) bool {
	for deadline := time.Now().Add(s.settleFor); ; time.Sleep(50 * time.Millisecond) {
		unacked, deliveries := s.broker.left()
		if deliveries == 0 && unacked == 0 {
			return true
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			s.problem(fmt.Errorf("%s after the last fault %d messages are not acked, %d deliveries under way", s.settleFor, unacked, deliveries))
			return false
		}
	}
}
