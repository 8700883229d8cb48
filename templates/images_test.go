package templates

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every image is built from pinned ones, with go.sum's checksums, and runs as a user
// that isn't root; but for the template's, whose launcher is Google's: README.md tells
// why that can't be another than its own image says.
func TestImages(t *testing.T) {
	pinned := regexp.MustCompile(`(?m)^FROM (scratch|[\w./-]+:[\w.-]*\d[\w.-]*|\$\{LAUNCHER\})( AS \w+)?$`)
	for path, user := range map[string]string{
		"../cmd/launch/Dockerfile":   "65532:65532",
		"../cmd/emulator/Dockerfile": "nonroot",
		"Dockerfile":                 "",
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		stages := strings.Split(text, "\nFROM ")
		if from := strings.Count(text, "\nFROM "); len(pinned.FindAllString(text, -1)) != from || from != 2 {
			t.Errorf("%s: of %d images some are not pinned", path, from)
		}
		is := ""
		for line := range strings.Lines(stages[len(stages)-1]) {
			if rest, ok := strings.CutPrefix(line, "USER "); ok {
				is = strings.TrimSpace(rest)
			}
		}
		if is != user {
			t.Errorf("%s runs as %q, want %q", path, is, user)
		}
		if !strings.Contains(text, "COPY go.mod go.sum ./\nRUN go mod download\n") || strings.Contains(text, "GONOSUM") || strings.Contains(text, "GOFLAGS=-mod=mod") {
			t.Errorf("%s takes modules without their checksums", path)
		}
	}
}
