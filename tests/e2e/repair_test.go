package e2e

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What examples/repair shows works as it stands, but for the addresses: the table is
// compared with a file of rows, printed as shown, and repaired.
func TestExampleRepair(t *testing.T) {
	t.Parallel() // it waits more than it works
	skipShort(t)
	root := filepath.Join("..", "..")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	text, err := os.ReadFile(filepath.Join(root, "examples/repair/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```(console|text)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(shown) != 4 {
		t.Fatalf("examples/repair/README.md shows %d blocks, want 4", len(shown))
	}
	arguments := func(block, prefix string) []string {
		_, rest, found := strings.Cut(strings.TrimSpace(block), prefix+" ")
		if !found {
			t.Fatalf("%q doesn't run %s", block, prefix)
		}
		return strings.Fields(rest)
	}
	local := exec.Command(binary(t, "local"), arguments(shown[0][2], "go run ./cmd/local")...)
	said := startCommand(t, local, root)
	host := readMatch(t, said, `(PUBSUB_EMULATOR_HOST=\S+)`)
	address := readMatch(t, said, `REST +(http://\S+)`)
	go func() { _, _ = io.Copy(io.Discard, said) }()
	const rows = "/emulator/v1/projects/demo/datasets/shop/tables/items/rows"
	waitFor(ctx, t, address+rows, `"mug"`)

	diff := func(block string) (printed string, status int) {
		command := exec.CommandContext(ctx, binary(t, "cdc"), arguments(strings.ReplaceAll(block, "http://HOST:PORT", address), "go run ./cmd/cdc")...)
		command.Dir, command.Env, command.Stderr = root, append(os.Environ(), host), t.Output()
		out, err := command.Output()
		if command.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), command.ProcessState.ExitCode()
	}
	if printed, status := diff(shown[1][2]); printed != shown[2][2] || status != 1 {
		t.Errorf("status %d, printed\n%swhere the example shows\n%s", status, printed, shown[2][2])
	}
	if _, status := diff(shown[3][2]); status != 1 {
		t.Errorf("repairing: status %d", status)
	}
	waitFor(ctx, t, address+rows, `"can"`)
	for { // one row after the other comes
		printed, status := diff(shown[1][2])
		if status == 0 && printed == "" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("after the repair: status %d\n%s", status, printed)
		}
	}
}
