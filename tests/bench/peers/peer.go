package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"beamcdc/tests/bench/peers/feed"
	"beamcdc/tests/internal/orders"
)

const (
	subscription = "projects/demo-project/subscriptions/peer"
	// After so many messages the same rows change again.
	distinctMessages = 1_000_000
)

// peer is a running program, with a Pub/Sub and a BigQuery of its own.
type peer struct {
	name     string
	messages int // of a turn
	process  *exec.Cmd
	output   string // a file
	started  time.Time
	ended    chan error
	feed     *feed.Server
	bigquery *bigquery
}

// start starts a program.
func start(ctx context.Context, s *settings, directory string, of *program) (p *peer, err error) {
	p = &peer{name: of.name, messages: max(s.messages/of.slow, 1), ended: make(chan error, 1)}
	if p.bigquery, err = startBigQuery(ctx, s.emulator); err != nil {
		return nil, err
	}
	if p.feed, err = feed.Start(subscription, orders.Of(distinctMessages).Message); err != nil {
		p.bigquery.close()
		return nil, err
	}
	output, err := os.CreateTemp(directory, of.name+"-*.log")
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	p.output = output.Name()
	p.process = of.command(p, s, directory)
	p.process.Stdout, p.process.Stderr = output, output
	p.process.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(p.output))
	group(p.process)
	p.started = time.Now()
	if err := p.process.Start(); err != nil {
		p.feed.Close()
		p.bigquery.close()
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	go func() { p.ended <- p.process.Wait() }()
	return p, nil
}

// end ends the program at once.
func (p *peer) end() {
	_ = p.signal(syscall.SIGKILL)     // it may have ended
	if err := <-p.ended; err == nil { // else it was killed
		fmt.Printf("%s had ended by itself\n", p.name)
	}
	p.feed.Close()
	p.bigquery.close()
}

// turn is what a turn came to.
type turn struct {
	messages int
	elapsed  time.Duration
	cpu      time.Duration // of the program's processes
	peak     int64         // the most memory that they ever had resident, added up, in bytes
}

func (t turn) rate() float64      { return float64(t.messages) / t.elapsed.Seconds() }
func (t turn) micros() float64    { return t.cpu.Seconds() * 1e6 / float64(t.messages) }
func (t turn) seconds() float64   { return t.elapsed.Seconds() }
func (t turn) megabytes() float64 { return float64(t.peak) / 1e6 }

func (t turn) String() string {
	return fmt.Sprintf("%.0f messages/s, %.1f µs of processor time a message", t.rate(), t.micros())
}

// turn lets the program go on until it has written the messages of a turn, and stops it.
func (p *peer) turn(ctx context.Context, s *settings) (t turn, err error) {
	if err := p.signal(syscall.SIGCONT); err != nil {
		return t, fmt.Errorf("%s: %w", p.name, err)
	}
	defer func() { _ = p.signal(syscall.SIGSTOP) }() // the next turn finds out
	busy, _ := p.used()
	start := time.Now()
	p.feed.Release(p.messages)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(s.patience); ; {
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case err := <-p.ended:
			p.ended <- err
			return t, fmt.Errorf("%s ended: %w", p.name, err)
		case <-late:
			return t, fmt.Errorf("%s did not finish its turn in %v: %s", p.name, s.patience, p.counts())
		case <-look.C:
		}
		released, _, acked := p.feed.Counts()
		if acked == released || p.bigquery.rows() >= int64(released) {
			elapsed := time.Since(start)
			cpu, peak := p.used()
			return turn{p.messages, elapsed, cpu - busy, peak}, nil
		}
	}
}

func (p *peer) counts() string {
	released, delivered, acked := p.feed.Counts()
	return fmt.Sprintf("%d messages released, %d delivered, %d acked, %d rows", released, delivered, acked, p.bigquery.rows())
}

// tail is an error of the end of what the program printed.
func (p *peer) tail() error {
	text, err := os.ReadFile(p.output)
	if err != nil {
		return err
	}
	const most = 4000
	return fmt.Errorf("%s printed: …%s", p.name, text[max(0, len(text)-most):])
}

func (p *peer) tailOf(err error) error {
	if err == nil {
		return nil
	}
	return p.tail()
}

// signal sends a signal to the program and the processes that it started.
func (p *peer) signal(signal syscall.Signal) error {
	return syscall.Kill(-p.process.Process.Pid, signal)
}

// used is the processor time that the program and the processes that it started have
// used, and the most memory that each had resident, added up; 0 where there is no /proc.
func (p *peer) used() (cpu time.Duration, peak int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range files {
		text, err := os.ReadFile(file)
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if err != nil || len(fields) < 15 || fields[2] != strconv.Itoa(p.process.Process.Pid) {
			continue // it ended, or is of another group
		}
		for _, ticks := range fields[11:15] { // by user and system, its own and of those that it waited for
			n, _ := strconv.ParseInt(ticks, 10, 64)
			cpu += time.Duration(n) * time.Second / ticksPerSecond
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if _, after, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
			var kilobytes int64
			_, _ = fmt.Sscan(string(after), &kilobytes)
			peak += kilobytes << 10
		}
	}
	return cpu, peak
}

// ticksPerSecond is what Linux counts processor time in.
const ticksPerSecond = 100
