// Command peers measures the pipeline beside other ways to do its work, in turns: Beam's
// Java SDK (java), its Python SDK (python) and the program that one writes at first
// (plain). Each is a process of its own, or several, and stopped (SIGSTOP) while it isn't
// its turn. All get the same messages from the same Pub/Sub and write to the same kind of
// BigQuery, a server of this process for each that counts rows, or the emulator.
//
//	go run ./tests/bench/peers               # rates and processor time
//	go run ./tests/bench/peers -emulator     # the same, into the emulator
//	go run ./tests/bench/peers -start        # from a process's start to its first row
//	go run ./tests/bench/peers -programs ours,java-pubsub -rounds 3
//
// The first turns of each warm it up and don't count. A turn is over when BigQuery has
// acknowledged a row for each of its messages, or each is acked, which ours is after
// its row, or the row of a later change of its window, is acknowledged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	rounds, messages, warmup int
	window                   time.Duration
	emulator, start          bool
	programs                 string
	patience                 time.Duration
}

// Linux ends a process with the thread that started it: let that be the main one.
func init() { runtime.LockOSThread() }

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 10, "rounds that count")
	flag.IntVar(&s.messages, "messages", 60_000, "messages of a turn; slow programs get a tenth or less, for rates of turns of like length")
	flag.IntVar(&s.warmup, "warmup", 3, "turns of each that come first and don't count; a JVM takes some to be quick")
	flag.DurationVar(&s.window, "window", time.Second, "our window")
	flag.BoolVar(&s.emulator, "emulator", false, "write to the emulator, not to servers that only count")
	flag.BoolVar(&s.start, "start", false, "measure the start: a turn is a process, from its start to its first row")
	flag.StringVar(&s.programs, "programs", "ours,plain,java,java-unchecked,python", "which of "+strings.Join(names(), ", ")+"; the first is what the others are compared with")
	flag.DurationVar(&s.patience, "patience", 10*time.Minute, "how long a turn may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &s)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *settings) error {
	directory, err := os.MkdirTemp("", "beamcdc-peers-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }() // what is left is small
	var chosen []program
	for name := range strings.SplitSeq(s.programs, ",") {
		i := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("there is no program %q, only %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, programs[i])
	}
	for i := range chosen {
		fmt.Printf("building %s\n", chosen[i].name)
		if err := chosen[i].build(ctx, directory); err != nil {
			return fmt.Errorf("building %s: %w", chosen[i].name, err)
		}
	}
	if s.start {
		return measureStarts(ctx, s, directory, chosen)
	}
	return measureRates(ctx, s, directory, chosen)
}

// measureRates runs all programs at once, of which one at a time goes on.
func measureRates(ctx context.Context, s *settings, directory string, chosen []program) (err error) {
	peers := make([]*peer, 0, len(chosen))
	defer func() {
		for _, p := range peers {
			p.end()
		}
	}()
	s.warmup = max(s.warmup, 1)
	turns := make([][]turn, len(chosen))
	for round := range s.rounds + s.warmup {
		for i := range chosen {
			var p *peer
			if round == 0 {
				if p, err = start(ctx, s, directory, &chosen[i]); err != nil {
					return err
				}
				peers = append(peers, p)
			} else {
				p = peers[i]
			}
			t, err := p.turn(ctx, s)
			if err != nil {
				return errors.Join(err, p.tail())
			}
			if round < s.warmup {
				fmt.Printf("warming up %s: %v\n", p.name, t)
				continue
			}
			turns[i] = append(turns[i], t)
			fmt.Printf("round %d, %s: %v\n", round-s.warmup+1, p.name, t)
		}
	}
	fmt.Printf("\n%d rounds of turns of %d messages; medians (least to most)\n\n", s.rounds, s.messages)
	first, name := turns[0], chosen[0].name
	fmt.Printf("| | messages/s | processor time a message | most memory | %s is so many times as fast | and takes one part in so many of the processor time |\n|---|---|---|---|---|---|\n", name)
	for i := range chosen {
		faster, lighter := "", ""
		if i > 0 {
			faster, lighter = spread(first, turns[i], turn.rate), spread(turns[i], first, turn.micros)
		}
		fmt.Printf("| %s | %.0f | %.1f µs | %.0f MB | %s | %s |\n", chosen[i].name,
			median(each(turns[i], turn.rate)), median(each(turns[i], turn.micros)), median(each(turns[i], turn.megabytes)), faster, lighter)
	}
	return nil
}

// measureStarts starts each program anew in each turn.
func measureStarts(ctx context.Context, s *settings, directory string, chosen []program) error {
	turns := make([][]turn, len(chosen))
	s.messages = 1
	for round := range s.rounds + 1 {
		for i := range chosen {
			p, err := start(ctx, s, directory, &chosen[i])
			if err != nil {
				return err
			}
			began := p.started
			t, err := p.turn(ctx, s)
			t.elapsed = time.Since(began)
			err = errors.Join(err, p.tailOf(err))
			p.end()
			if err != nil {
				return err
			}
			if round > 0 { // the first has read the files
				turns[i] = append(turns[i], t)
				fmt.Printf("round %d, %s: %.2f s\n", round, p.name, t.elapsed.Seconds())
			}
		}
	}
	fmt.Printf("\n%d rounds; medians (least to most)\n\n", s.rounds)
	fmt.Printf("| | from its start to its first row | memory | times %s's |\n|---|---|---|---|\n", chosen[0].name)
	for i := range chosen {
		times := ""
		if i > 0 {
			times = spread(turns[i], turns[0], turn.seconds)
		}
		fmt.Printf("| %s | %.2f s | %.0f MB | %s |\n", chosen[i].name, median(each(turns[i], turn.seconds)), median(each(turns[i], turn.megabytes)), times)
	}
	return nil
}

func each(turns []turn, of func(turn) float64) []float64 {
	values := make([]float64, len(turns))
	for i := range turns {
		values[i] = of(turns[i])
	}
	return values
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// spread tells the rounds' ratios of a to b.
func spread(a, b []turn, of func(turn) float64) string {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = of(a[i]) / of(b[i])
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(ratios), slices.Min(ratios), slices.Max(ratios))
}
