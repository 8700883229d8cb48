package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopFor is how long the pipeline may take to end after SIGTERM once nothing keeps it
// from writing: what it took, it finishes.
const stopFor = 3 * time.Minute

// pipeline is cmd/launch: a process that is started again whenever it ends, as a
// supervisor would.
type pipeline struct {
	program   string
	args      []string
	env       []string
	temporary string
	broker    *broker
	log       *journal

	mu      sync.Mutex // held while the process is replaced
	process *process
	closed  bool

	state sync.Mutex
	tally pipelineTally
}

// pipelineTally is what is known of all processes together.
type pipelineTally struct {
	starts, kills, stops int
	slow                 int      // stops that took too long, while BigQuery took no rows or not all
	exits                []string // by themselves, with the reason
	problems             []string
	messages             int64 // that the stopped ones counted
	unfinished           int64 // of those, given back
}

func newPipeline(program, directory, config string, b *broker, bq *bigquery, log *journal) *pipeline {
	p := &pipeline{
		program: program, broker: b, log: log, temporary: filepath.Join(directory, "tmp"),
		args: []string{
			"--config", config, "--runner", "direct",
			"--bigquery_rest_endpoint", "http://" + bq.rest, "--bigquery_grpc_endpoint", bq.grpc,
		},
	}
	p.env = []string{"PUBSUB_EMULATOR_HOST=" + b.addr, "TMPDIR=" + p.temporary}
	return p
}

// start starts the process. The lock is held.
func (p *pipeline) start() error {
	// What a killed process leaves there is nobody's.
	_ = os.RemoveAll(p.temporary)
	if err := os.MkdirAll(p.temporary, 0o700); err != nil {
		return err
	}
	p.broker.begin()
	last := &lastLine{}
	process, err := startProcess(p.program, p.args, p.env, func(line string) {
		last.set(line)
		p.log.add(line)
	})
	if err != nil {
		return err
	}
	p.process = process
	p.state.Lock()
	p.tally.starts++
	p.state.Unlock()
	go func() {
		<-process.ended
		if process.isExpected() {
			return
		}
		p.state.Lock()
		p.tally.exits = append(p.tally.exits, last.get())
		p.state.Unlock()
		time.Sleep(300 * time.Millisecond)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.process == process && !p.closed {
			if err := p.start(); err != nil {
				p.problem("starting the pipeline again: %v", err)
			}
		}
	}()
	return nil
}

// lastLine is the last line that a process said: why it ended.
type lastLine struct {
	mu   sync.Mutex
	text string
}

func (l *lastLine) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

func (l *lastLine) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

func (p *pipeline) problem(format string, args ...any) {
	p.state.Lock()
	defer p.state.Unlock()
	p.tally.problems = append(p.tally.problems, fmt.Sprintf(format, args...))
}

// takeProblems returns the problems since it was called last.
func (p *pipeline) takeProblems() []string {
	p.state.Lock()
	defer p.state.Unlock()
	taken := p.tally.problems
	p.tally.problems = nil
	return taken
}

func (p *pipeline) up() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
	return p.start()
}

// kill kills the process, does something, and starts it again.
func (p *pipeline) kill(meanwhile func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process.kill()
	p.state.Lock()
	p.tally.kills++
	p.state.Unlock()
	meanwhile()
	return p.start()
}

// stop ends the process by SIGTERM and looks at the counts that it prints. Where it is
// not up yet, or can't write, it is killed after a while.
func (p *pipeline) stop(atMost time.Duration, restart bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = !restart
	process := p.process
	select {
	case <-process.ended: // by itself
	default:
		process.signal(syscall.SIGTERM)
		switch {
		case !process.wait(atMost):
			if !restart {
				p.problem("it has not stopped %s after SIGTERM, though nothing was left to do", atMost)
			}
			p.state.Lock()
			p.tally.slow++
			p.state.Unlock()
			process.kill()
		case process.command.ProcessState.ExitCode() == 0:
			p.state.Lock()
			p.tally.stops++
			p.state.Unlock()
			p.count(process.output())
		case restart: // before it was up: interrupted, or killed by the signal
		default:
			p.problem("it exited with %s after SIGTERM", process.command.ProcessState)
		}
	}
	if !restart {
		return nil
	}
	return p.start()
}

// count checks the counts of a process that stopped: they add up, and what it acked it
// had decoded.
func (p *pipeline) count(output string) {
	var c map[string]int64
	if err := json.Unmarshal([]byte(strings.TrimSpace(output)), &c); err != nil {
		p.problem("it stopped and printed no counts: %v: %.200s", err, output)
		return
	}
	in := c["messages"] + c["extra_changes"] + c["key_changes"] + c["rows_completed_again"]
	out := c["rows_upserted"] + c["rows_deleted"] + c["superseded"] + c["filtered"] + c["control"] + c["truncates"] + c["dead_letters"] - c["history_letters"]
	// What waits in memory to be completed when it is told to stop is given back, and
	// comes again. The tables whose changes wait have one change a message.
	acked, waiting := int64(p.broker.acked()), c["waiting"]
	unfinished := c["messages"] - acked
	if kept := p.broker.kept(); waiting < 0 || in != out+waiting || unfinished != waiting {
		p.problem("counts don't add up: %d came in, %d came to rest, %d wait, %d messages were not acked (among them %d): %s",
			in, out, waiting, unfinished, kept[:min(len(kept), 10)], strings.TrimSpace(output))
	}
	p.state.Lock()
	p.tally.messages += c["messages"]
	p.tally.unfinished += unfinished
	p.state.Unlock()
}

func (p *pipeline) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.process != nil {
		p.process.kill()
	}
}

func (p *pipeline) counts() pipelineTally {
	p.state.Lock()
	defer p.state.Unlock()
	return p.tally
}
