package e2e

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"beamcdc/emulator"
)

// What README.md has a user type against emulators works as it stands, but for the
// addresses: what examples/publish publishes to a system that goes on is in its tables,
// and in those of a launch that reads a subscription of its own.
func TestREADME_emulators(t *testing.T) {
	t.Parallel() // it waits more than it works
	skipShort(t)
	root := filepath.Join("..", "..")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	local := exec.Command(binary(t, "local"), readmeArguments(t, "go run ./cmd/local", "-serve")...)
	said := startCommand(t, local, root)
	host := readMatch(t, said, `(PUBSUB_EMULATOR_HOST=\S+)`)
	address := readMatch(t, said, `REST +(http://\S+)`)
	go func() { _, _ = io.Copy(io.Discard, said) }()

	publish := exec.CommandContext(ctx, "go", append([]string{"run"}, readmeArguments(t, "PUBSUB_EMULATOR_HOST=HOST:PORT go run", "./examples/publish")...)...)
	publish.Dir, publish.Env = root, append(os.Environ(), host)
	if out, err := publish.CombinedOutput(); err != nil || !strings.Contains(string(out), "published 48 messages") {
		t.Fatalf("publish: %v\n%s", err, out)
	}
	_, path, _ := strings.Cut(readmeArguments(t, "curl", "http://")[0], "HOST:PORT")
	waitFor(ctx, t, address+path, `"cancelled"`, `"shipped"`)

	bigquery, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bigquery.Close() }() // its tables are of no more use
	arguments := readmeArguments(t, "PUBSUB_EMULATOR_HOST=HOST:PORT ./launch", "--subscription")
	for i := range arguments {
		switch arguments[i] {
		case "http://HOST:PORT":
			arguments[i] = bigquery.RESTAddr()
		case "HOST:PORT":
			arguments[i] = bigquery.GRPCAddr()
		}
	}
	launch := exec.Command(binary(t, "launch"), arguments...)
	launch.Env = append(os.Environ(), host)
	counts := startCommand(t, launch, root)
	waitFor(ctx, t, bigquery.RESTAddr()+path, `"cancelled"`, `"shipped"`)
	if err := launch.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	readMatch(t, counts, `^(\{"messages":[1-9].*"rows_upserted":[1-9].*\})`)
}

// startCommand starts a command in a folder, and returns its standard output.
func startCommand(t *testing.T, command *exec.Cmd, folder string) *bufio.Reader {
	t.Helper()
	command.Dir, command.Stderr = folder, t.Output()
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
	})
	return bufio.NewReader(stdout)
}

// waitFor waits until what url tells has each of the texts.
func waitFor(ctx context.Context, t *testing.T, url string, texts ...string) {
	t.Helper()
	for ; ; time.Sleep(50 * time.Millisecond) {
		text := get(ctx, t, url)
		missing := false
		for _, want := range texts {
			missing = missing || !strings.Contains(text, want)
		}
		if !missing {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the rows are not there: %s", text)
		}
	}
}

// readmeArguments returns the arguments of README.md's one command that begins with
// prefix and has a word.
func readmeArguments(t *testing.T, prefix, word string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if rest, ok := strings.CutPrefix(line, prefix+" "); ok && strings.Contains(rest, word) {
			found = append(found, strings.Fields(rest))
		}
	}
	if len(found) != 1 {
		t.Fatalf("README.md has %d commands that begin with %q and have %s, want 1", len(found), prefix, word)
	}
	return found[0]
}
