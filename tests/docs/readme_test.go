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
	if inside || len(found) == 0 {
		t.Fatalf("%s: no code block, or one without an end", name)
	}
	return found
}

// Each command of a block marked sh works as it stands; where a block marked text
// follows, that is what it prints. Blocks marked console need an account, or go on
// until interrupted; other tests run what they show.
func TestREADME_commands(t *testing.T) {
	temporary := t.TempDir()
	all := blocks(t, "README.md")
	ran := 0
	for i, b := range all {
		if b.language != "sh" {
			continue
		}
		for command := range strings.Lines(b.text) {
			command = strings.TrimSpace(command)
			if command == "go test ./..." {
				continue // it is running
			}
			ran++
			// The binary that the README builds goes to a folder of the test's.
			inPlace := strings.NewReplacer("-o launch", "-o "+temporary+"/launch", "./launch ", temporary+"/launch ").Replace(command)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", inPlace)
			cmd.Dir = root
			var stderr strings.Builder
			cmd.Stderr = &stderr
			stdout, err := cmd.Output()
			if err != nil {
				t.Errorf("%s: %v\n%s", command, err, stderr.String())
				continue
			}
			if i+1 < len(all) && all[i+1].language == "text" {
				if diff := cmp.Diff(all[i+1].text, string(stdout)); diff != "" {
					t.Errorf("%s prints something else than README.md shows (-README +printed):\n%s", command, diff)
				}
			}
		}
	}
	if ran < 4 {
		t.Errorf("only %d commands were found in README.md", ran)
	}
}

func TestREADME_configurations(t *testing.T) {
	found := 0
	for _, b := range blocks(t, "README.md") {
		if b.language != "yaml" {
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
			t.Errorf("%v\nin\n%s", err, b.text)
		}
	}
	if found == 0 {
		t.Error("README.md shows no configuration")
	}
}
