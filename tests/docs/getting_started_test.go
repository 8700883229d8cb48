package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The message and the configuration of the page, in files of the names that it says, do
// what it says by the command that it shows.
func TestGettingStarted(t *testing.T) {
	const page = "docs/getting-started.md"
	folder := t.TempDir()
	var command string
	for _, b := range blocks(t, page) {
		switch {
		case b.language == "json":
			write(t, filepath.Join(folder, "messages.jsonl"), b.text)
		case b.language == "yaml":
			write(t, filepath.Join(folder, "pipeline.yaml"), b.text)
		case strings.HasPrefix(b.text, "go run ./cmd/local -config "):
			command = strings.TrimSpace(b.text)
		}
	}
	arguments := strings.Fields(command)
	if len(arguments) < 4 {
		t.Fatalf("%s shows no command with cmd/local", page)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", folder, "./cmd/local")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), filepath.Join(folder, "local"), append(arguments[3:], "-output", "json")...)
	run.Dir = folder
	var stderr strings.Builder
	run.Stderr = &stderr
	printed, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, stderr.String())
	}
	var result struct {
		Tables      map[string][]map[string]any `json:"tables"`
		DeadLetters []any                       `json:"dead_letters"`
	}
	if err := json.Unmarshal(printed, &result); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	want := map[string][]map[string]any{"shop.items": {{"id": "1", "name": "ink"}}}
	if diff := cmp.Diff(want, result.Tables); diff != "" || len(result.DeadLetters) > 0 {
		t.Errorf("-want +got:\n%s\n%v", diff, result.DeadLetters)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
