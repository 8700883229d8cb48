package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// binaries holds the commands that the tests run, each built once.
var binaries struct {
	mu        sync.Mutex
	directory string
	built     map[string]error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if binaries.directory != "" {
		_ = os.RemoveAll(binaries.directory)
	}
	os.Exit(code)
}

// binary returns the path of one of the commands: "local", "launch", "prism". They are
// built as the tests are, so that they share what is compiled already.
func binary(t testing.TB, name string) string {
	t.Helper()
	binaries.mu.Lock()
	defer binaries.mu.Unlock()
	if binaries.directory == "" {
		directory, err := os.MkdirTemp("", "beamcdc-e2e-*") //nolint:usetesting // it outlives the test that built the first command
		if err != nil {
			t.Fatal(err)
		}
		binaries.directory, binaries.built = directory, map[string]error{}
	}
	path := filepath.Join(binaries.directory, name)
	err, done := binaries.built[name]
	if !done {
		source := "beamcdc/cmd/" + name
		if name == "prism" {
			source = "github.com/apache/beam/sdks/v2/go/cmd/prism" // Beam's own, as a process
		}
		build := exec.Command("go", "build", "-o", path, source)
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			err = errors.New(err.Error() + "\n" + string(out))
		}
		binaries.built[name] = err
	}
	if err != nil {
		t.Fatalf("building cmd/%s: %v", name, err)
	}
	return path
}

func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it builds and runs the real commands")
	}
}

// message is a Pub/Sub message.
type message struct {
	data        string
	orderingKey string
	attributes  map[string]string
}

// line returns the message as cmd/local reads it, its data byte for byte.
func (m message) line() string {
	members := map[string]any{}
	if m.orderingKey != "" {
		members["ordering_key"] = m.orderingKey
	}
	if m.attributes != nil {
		members["attributes"] = m.attributes
	}
	exact := json.Valid([]byte(m.data)) && utf8.ValidString(m.data) && !strings.ContainsAny(m.data, "\n\r")
	if !exact {
		members["data_base64"] = []byte(m.data)
	}
	text, _ := json.Marshal(members) // strings and bytes can be marshalled
	if !exact {
		return string(text)
	}
	if len(members) == 0 {
		return `{"data": ` + m.data + `}`
	}
	return `{"data": ` + m.data + `, ` + string(text[1:]) // json.Marshal would compact the data
}

// outcome is what cmd/local prints with -output json.
type outcome struct {
	Tables      map[string][]row `json:"tables"`
	DeadLetters []deadLetter     `json:"dead_letters"`
	Counts      map[string]int64 `json:"counts"`
}

type row map[string]any // numbers as json.Number

type deadLetter struct {
	Stage      string `json:"stage"`
	Reason     string `json:"reason"`
	Error      string `json:"error"`
	Data       string `json:"data"`
	DataBase64 string `json:"data_base64"`
}

// runLocal runs cmd/local on a configuration and messages, and fails the test
// unless it exits with 0 and prints one JSON object and nothing else.
func runLocal(t testing.TB, config string, messages []message, args ...string) outcome {
	t.Helper()
	skipShort(t)
	path := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, m := range messages {
		lines.WriteString(m.line() + "\n")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary(t, "local"), append([]string{"-config", path, "-messages", "-", "-output", "json"}, args...)...)
	command.Stdin = strings.NewReader(lines.String())
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("running cmd/local: %v\n%s", err, stderr.String())
	}
	decoder := json.NewDecoder(&stdout)
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	var out outcome
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("reading what cmd/local printed: %v", err)
	}
	if decoder.More() {
		t.Error("cmd/local printed more than one JSON object")
	}
	return out
}

// decodeRow reads a row that a test wants, with its numbers as json.Number.
func decodeRow(t testing.TB, text string) row {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var r row
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("reading what is wanted, %s: %v", text, err)
	}
	return r
}
