package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/tests/internal/emulatorcmd"
)

var (
	startLine = regexp.MustCompile(`(?m)^go run ./cmd/emulator (.*)$`)
	codeBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
)

// Each command of the README that begins with curl works as it stands, in their order,
// against an emulator that is started as the README starts it; its file of faults is
// the README's. Where a block marked text follows, that is what the commands print.
func TestREADME_curl(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs curl")
	}
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: run tests/clients/install", err)
		}
	}
	readme, err := os.ReadFile("../../examples/clients/README.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := startLine.FindSubmatch(readme)
	if flags == nil {
		t.Fatal("the README doesn't start the emulator")
	}
	emulator := start(t, strings.Fields(string(flags[1]))...)
	folder := t.TempDir()
	blocks := codeBlock.FindAllStringSubmatch(string(readme), -1)
	for _, block := range blocks {
		if block[1] == "yaml" {
			if err := os.WriteFile(filepath.Join(folder, "faults.yaml"), []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	ran := 0
	for i, block := range blocks {
		var printed bytes.Buffer
		for line := range strings.Lines(block[2]) {
			if !strings.HasPrefix(line, "curl ") {
				continue
			}
			ran++
			// An answer that tells of an error fails the command.
			script := `curl() { command curl --fail --silent --show-error "$@"; }; ` + strings.ReplaceAll(line, "http://127.0.0.1:9050", emulator.REST)
			command := exec.CommandContext(t.Context(), "bash", "-c", script)
			command.Dir = folder
			var stderr bytes.Buffer
			command.Stdout, command.Stderr = &printed, &stderr
			if err := command.Run(); err != nil {
				t.Errorf("%s%v: %s", line, err, &stderr)
			}
		}
		if i+1 < len(blocks) && block[1] == "sh" && blocks[i+1][1] == "text" {
			if diff := cmp.Diff(blocks[i+1][2], strings.TrimSpace(printed.String())+"\n"); diff != "" {
				t.Errorf("%s prints something else than the README shows (-README +printed):\n%s", block[2], diff)
			}
		}
	}
	if all := strings.Count(string(readme), "\ncurl "); ran != all || ran < 15 {
		t.Errorf("%d of %d commands were run", ran, all)
	}
}

// start builds the emulator and runs it until the test's end.
func start(t *testing.T, args ...string) *emulatorcmd.Process {
	t.Helper()
	program, err := emulatorcmd.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	emulator, err := emulatorcmd.Start(program, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := emulator.Stop(); err != nil {
			t.Error(err)
		}
	})
	return emulator
}
