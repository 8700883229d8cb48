// Package emulatorcmd runs cmd/emulator as its users do: as a process that prints
// its addresses.
package emulatorcmd

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Build builds cmd/emulator into a directory and returns the program's path.
func Build(directory string) (string, error) {
	program := filepath.Join(directory, "emulator")
	if out, err := exec.Command("go", "build", "-o", program, "beamcdc/cmd/emulator").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cmd/emulator: %w\n%s", err, out)
	}
	return program, nil
}

// Process is a running emulator.
type Process struct {
	GRPC string // host:port of the Storage Write API
	REST string // the URL of the REST API, without a path

	command *exec.Cmd
}

// Start starts the program on free ports and waits for its ready line; its log goes
// to this process's standard error. Callers must Stop or Kill it.
func Start(program string, args ...string) (*Process, error) {
	p := &Process{command: exec.Command(program, append([]string{"--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0"}, args...)...)}
	p.command.Stderr = os.Stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the emulator: %w", err)
	}
	timeout := time.AfterFunc(30*time.Second, p.Kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	timeout.Stop()
	if err == nil {
		_, err = fmt.Sscanf(line, "ready grpc=%s rest=%s", &p.GRPC, &p.REST)
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("waiting for the emulator's ready line, got %q: %w", strings.TrimSpace(line), err)
	}
	return p, nil
}

// Stop ends the emulator as SIGTERM does, and says if it didn't end well.
func (p *Process) Stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping the emulator: %w", err)
	}
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("stopping the emulator: %w", err)
	}
	return nil
}

// Kill ends the emulator at once, as a crash does.
func (p *Process) Kill() {
	_ = p.command.Process.Kill() // it may have ended
	_ = p.command.Wait()         // it was killed
}
