// Package docs runs what the documents show, so that they stay true.
package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/pipeline"
)

const root = "../.."

// block is a fenced code block of a Markdown file.
type block struct{ language, text string }

// blocks returns a file's fenced code blocks in their order.
func blocks(t *testing.T, name string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	inside := false
	for line := range strings.Lines(string(data)) {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !inside:
			found, inside = append(found, block{language: strings.TrimSpace(fence)}), true
		case isFence:
			inside = false
		case inside:
			found[len(found)-1].text += line
		}
	}
	if inside {
		t.Fatalf("%s: a code block without an end", name)
	}
	return found
}

// pages are the README and those of docs/.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(found) < 5 {
		t.Fatalf("docs has %d pages: %v", len(found), err)
	}
	names := []string{"README.md"}
	for _, page := range found {
		names = append(names, filepath.Join("docs", filepath.Base(page)))
	}
	return names
}

// Each command of a block marked sh works as it stands, in the project's folder; where a
// block marked text follows, that is what it prints. Blocks marked console need an
// account, take minutes or go on until interrupted; other tests run what they show.
func TestCommands(t *testing.T) {
	temporary := t.TempDir()
	ran := make(map[string]string) // what a command printed
	for _, page := range pages(t) {
		all := blocks(t, page)
		for i, b := range all {
			if b.language != "sh" {
				continue
			}
			for command := range strings.Lines(b.text) {
				command = strings.TrimSpace(command)
				if command == "go test ./..." {
					continue // it is running
				}
				stdout, done := ran[command]
				if !done {
					// The binary that the README builds goes to a folder of the test's.
					inPlace := strings.NewReplacer("-o launch", "-o "+temporary+"/launch", "./launch ", temporary+"/launch ").Replace(command)
					cmd := exec.CommandContext(t.Context(), "sh", "-c", inPlace)
					cmd.Dir = root
					var stderr strings.Builder
					cmd.Stderr = &stderr
					printed, err := cmd.Output()
					if err != nil {
						t.Errorf("%s: %s: %v\n%s", page, command, err, stderr.String())
					}
					stdout, ran[command] = string(printed), string(printed)
				}
				if i+1 < len(all) && all[i+1].language == "text" {
					if diff := cmp.Diff(all[i+1].text, stdout); diff != "" {
						t.Errorf("%s prints something else than %s shows (-page +printed):\n%s", command, page, diff)
					}
				}
			}
		}
	}
	if len(ran) < 4 {
		t.Errorf("only %d commands were found", len(ran))
	}
}

// Each block marked yaml that has a source is a whole configuration, and a good one.
func TestConfigurations(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.language != "yaml" || !strings.Contains(b.text, "source: {subscription") && !strings.HasPrefix(b.text, "source:\n") {
				continue
			}
			found++
			name := filepath.Join(t.TempDir(), "pipeline.yaml")
			if err := os.WriteFile(name, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			options, err := pipeline.Load(name)
			if err == nil {
				err = options.Validate()
			}
			if err != nil {
				t.Errorf("%s: %v\nin\n%s", page, err, b.text)
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d configurations were found", found)
	}
}
