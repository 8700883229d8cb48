package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// example is an example that runs with cmd/local -serve, as its README says.
type example struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // the test's
	readme string
	blocks []string // what the README shows, but the command that serves
	// places has what stands for HOST:PORT, and a folder of the test's for the file of a
	// position.
	places *strings.Replacer
}

const exampleRoot = "../.."

// serveExample starts the first command of an example's README, which shows some blocks.
func serveExample(t *testing.T, name string, blocks int) *example {
	t.Helper()
	skipShort(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	text, err := os.ReadFile(filepath.Join(exampleRoot, "examples", name, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	e := &example{t: t, ctx: ctx, readme: string(text)}
	for _, block := range regexp.MustCompile("(?s)```(?:console|text)\n(.*?)\n```").FindAllStringSubmatch(e.readme, -1) {
		e.blocks = append(e.blocks, block[1])
	}
	if len(e.blocks) != blocks {
		t.Fatalf("examples/%s/README.md shows %d blocks, want %d", name, len(e.blocks), blocks)
	}
	arguments, found := strings.CutPrefix(e.blocks[0], "go run ./cmd/local ")
	if !found {
		t.Fatalf("%q doesn't run cmd/local", e.blocks[0])
	}
	e.blocks = e.blocks[1:]
	said := startCommand(t, exec.Command(binary(t, "local"), strings.Fields(arguments)...), exampleRoot)
	host := readMatch(t, said, `(PUBSUB_EMULATOR_HOST=\S+)`)
	rest := readMatch(t, said, `REST +(http://\S+)`)
	grpc := readMatch(t, said, `Storage Write +(\S+)`)
	go func() { _, _ = io.Copy(io.Discard, said) }()
	e.places = strings.NewReplacer(
		"PUBSUB_EMULATOR_HOST=HOST:PORT", host, "http://HOST:PORT", rest, "HOST:PORT", grpc,
		"position.json", filepath.Join(t.TempDir(), "position.json"), "go run ./cmd/cdc", binary(t, "cdc"),
	)
	return e
}

// commands returns the commands of a block, which is to have some.
func (e *example) commands(block, want int) []string {
	e.t.Helper()
	lines := strings.Split(e.blocks[block], "\n")
	if len(lines) != want {
		e.t.Fatalf("%d commands, want %d:\n%s", len(lines), want, e.blocks[block])
	}
	return lines
}

// try runs a command, and returns what it prints.
func (e *example) try(line string) (string, error) {
	script := `curl() { command curl --fail --silent --show-error "$@"; }; ` + e.places.Replace(line)
	command := exec.CommandContext(e.ctx, "sh", "-c", script)
	var stderr bytes.Buffer
	command.Dir, command.Stderr = exampleRoot, &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", line, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// run runs a command, which is to succeed.
func (e *example) run(line string) string {
	e.t.Helper()
	out, err := e.try(line)
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

// runUntil runs a command until it succeeds, as it does once the tables are there, and
// prints what is wanted, times aside.
func (e *example) runUntil(line, want string) {
	e.t.Helper()
	times := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	want = times.ReplaceAllString(want, "TIME")
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		out, err := e.try(line)
		diff := cmp.Diff(want, times.ReplaceAllString(out, "TIME"))
		if err == nil && diff == "" {
			return
		}
		if time.Now().After(until) {
			e.t.Fatalf("%s: %v (-want +got):\n%s", line, err, diff)
		}
	}
}

// What examples/replay shows is what it prints: a dead letter is listed, shown,
// repaired and replayed, and then the row is there and the letter gone.
func TestExampleReplay(t *testing.T) {
	t.Parallel() // it waits more than it works
	e := serveExample(t, "replay", 5)
	list := e.commands(0, 1)[0]
	e.runUntil(list, e.blocks[1])
	commands := e.commands(2, 3)
	if shown := e.run(commands[0]); !strings.Contains(shown, `"total": "12,50"`) {
		t.Errorf("shown is\n%s", shown)
	}
	outcome, rows, _ := strings.Cut(e.blocks[3], "\n")
	if said := e.run(commands[1]); said != outcome {
		t.Errorf("the replay says %q, want %q", said, outcome)
	}
	e.runUntil(commands[2], rows)
	if left := e.run(list); left != "" { // that there are none is on standard error
		t.Errorf("left are\n%s", left)
	}
}

// What examples/follow shows is what comes: the second table becomes what the first
// is, and does so again after an update and a delete.
func TestExampleFollow(t *testing.T) {
	t.Parallel() // it waits more than it works
	e := serveExample(t, "follow", 4)
	prepare, follow := e.commands(0, 2), e.commands(1, 4)
	last := regexp.MustCompile("table has `(.*?)`").FindStringSubmatch(strings.ReplaceAll(e.readme, "\n", " "))
	if last == nil {
		t.Fatal("the README doesn't say what the second table has in the end")
	}
	second := follow[3]
	first := strings.Replace(second, "/second/", "/shop/", 1)
	e.runUntil(first, `{"rows":[]}`)
	e.run(prepare[0])
	for _, round := range []struct{ file, rows string }{{"messages.jsonl", e.blocks[2]}, {"later.jsonl", last[1]}} {
		e.run(strings.Replace(prepare[1], "messages.jsonl", round.file, 1))
		e.runUntil(first, round.rows)
		for _, command := range follow[:3] {
			e.run(command)
		}
		e.runUntil(second, round.rows)
	}
}
