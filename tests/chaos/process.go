package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is a child of this one.
type process struct {
	command *exec.Cmd
	ended   chan struct{}

	mu       sync.Mutex
	stdout   []byte
	expected bool // its end is the driver's doing
}

// startProcess starts a program. Each line of its standard error goes to said; the
// whole of its standard output is kept.
func startProcess(program string, args, env []string, said func(line string)) (*process, error) {
	p := &process{command: exec.Command(program, args...), ended: make(chan struct{})}
	p.command.Env = append(os.Environ(), env...)
	diesWithParent(p.command)
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := p.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			said(lines.Text())
		}
		_, _ = io.Copy(io.Discard, stderr) // a line that is too long must not block it
	})
	reading.Go(func() {
		some := make([]byte, 4096)
		for {
			n, err := stdout.Read(some)
			p.mu.Lock()
			p.stdout = append(p.stdout, some[:n]...)
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	go func() {
		defer close(p.ended)
		reading.Wait()
		_ = p.command.Wait() // the state tells
	}()
	return p, nil
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.stdout)
}

func (p *process) isExpected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.expected
}

// signal sends a signal, by which the process is to end.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	_ = p.command.Process.Signal(s) // it may have ended
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// wait waits for the process's end, and reports false if it takes too long.
func (p *process) wait(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}
