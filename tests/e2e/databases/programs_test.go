package databases

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds each wait for another process: the machine may have much else to do.
const patience = 3 * time.Minute

func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it runs databases and builds and runs the real commands")
	}
}

// program returns the path of a program that the tests need. Debian keeps
// PostgreSQL's and MariaDB's servers outside of most users' PATH.
func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is good
	found = append(found, "/usr/sbin/"+name)
	slices.Reverse(found) // the newest version is the last
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	t.Fatalf("the program %s is missing: run tests/e2e/databases/install, or skip these tests by -short", name)
	return ""
}

// account is whom a database runs as.
type account struct {
	name     string
	uid, gid int
}

// accountFor returns the system's account for a database, which refuses root, or
// this process's own if that isn't root.
func accountFor(t testing.TB, name string) account {
	t.Helper()
	if os.Getuid() != 0 {
		current, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		return account{current.Username, os.Getuid(), os.Getgid()}
	}
	found, err := user.Lookup(name)
	if err != nil {
		t.Fatalf("there is no user %s to run a database as: run tests/e2e/databases/install: %v", name, err)
	}
	uid, errUID := strconv.Atoi(found.Uid)
	gid, errGID := strconv.Atoi(found.Gid)
	if errUID != nil || errGID != nil {
		t.Fatalf("the user %s has the ids %s and %s", name, found.Uid, found.Gid)
	}
	return account{name, uid, gid}
}

// directory makes a directory of the account's, which it can reach: those that
// testing makes are this user's alone.
func (a account) directory(t testing.TB) string {
	t.Helper()
	directory := t.TempDir()
	parent := filepath.Dir(directory)
	for _, err := range []error{os.Chmod(parent, 0o711), os.Chmod(directory, 0o700), os.Chown(directory, a.uid, a.gid)} { //nolint:gosec // others may pass, not look
		if err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// command makes a command that runs as the account, and ends with this process
// even if that is killed.
func (a account) command(ending syscall.Signal, path string, args ...string) *exec.Cmd {
	command := exec.Command(path, args...)
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: ending}
	if os.Getuid() == 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)} //nolint:gosec // they are small and positive
	}
	return command
}

// run runs a command to its end.
func run(t testing.TB, command *exec.Cmd) {
	t.Helper()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("running %s: %v\n%s", filepath.Base(command.Path), err, out)
	}
}

// process is a running program.
type process struct {
	t       testing.TB
	name    string
	command *exec.Cmd
	said    tail // both its outputs, but for a standard output that is piped
	ended   chan struct{}
}

// start starts a command; the test's end ends it.
func start(t testing.TB, name string, command *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, name: name, command: command, ended: make(chan struct{})}
	if command.Stdout == nil {
		command.Stdout = &p.said
	}
	command.Stderr = &p.said
	if err := command.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = command.Wait() // the state tells
	}()
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	return p
}

// end sends a signal and waits until the process has ended. One that ended before
// is fine.
func (p *process) end(sig syscall.Signal) {
	_ = p.command.Process.Signal(sig)
	select {
	case <-p.ended:
		return
	case <-time.After(patience):
	}
	p.t.Errorf("%s has not ended after signal %v:\n%s", p.name, sig, p.said.String())
	_ = p.command.Process.Kill()
	<-p.ended
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// waitFor waits until done, which is asked every few milliseconds, and fails the
// test if a process has ended meanwhile, or after so long without any progress.
func waitFor(t testing.TB, what string, done func() bool, processes ...*process) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		for _, p := range processes {
			if !p.running() {
				t.Fatalf("waiting for %s: %s has ended:\n%s", what, p.name, p.said.String())
			}
		}
		if time.Now().After(deadline) {
			var said strings.Builder
			for _, p := range processes {
				fmt.Fprintf(&said, "\n%s:\n%s", p.name, p.said.String())
			}
			t.Fatalf("waiting for %s: not after %s%s", what, patience, said.String())
		}
	}
}

// tail keeps the last of what a process said.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 16 << 10

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if extra := len(w.text) - 2*tailBytes; extra > 0 {
		w.text = append(w.text[:0], w.text[len(w.text)-tailBytes:]...)
	}
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text[max(0, len(w.text)-tailBytes):]
	return string(bytes.ToValidUTF8(text, []byte("?")))
}

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// seedOf returns the seed of the test's workload, and tells it.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("BEAMCDC_E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("BEAMCDC_E2E_SEED: %v", err)
		}
	}
	t.Logf("BEAMCDC_E2E_SEED=%d repeats this workload", seed)
	return seed
}

const defaultTransactions = 3000

// transactions returns how many transactions a workload makes.
func transactions(t testing.TB) int {
	t.Helper()
	text := os.Getenv("BEAMCDC_E2E_TRANSACTIONS")
	if text == "" {
		return defaultTransactions
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("BEAMCDC_E2E_TRANSACTIONS=%s is no positive number", text)
	}
	return n
}
