package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the command itself when a test runs this binary as it.
func TestMain(m *testing.M) {
	if os.Getenv("EMULATOR_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "EMULATOR_TEST_MAIN=1")
	return cmd
}

func TestServe(t *testing.T) {
	db := filepath.Join(t.TempDir(), "emulator.db")
	for _, datasets := range [][]string{{"--dataset", "shop", "--dataset=ops"}, {"--dataset=shop"}} {
		args := append([]string{"--project=demo", "--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--db", db}, datasets...)
		cmd := command(t, args...)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(stdout)
		line, err := out.ReadString('\n')
		words := strings.Fields(line)
		if err != nil || len(words) != 3 || words[0] != "ready" || !strings.HasPrefix(words[1], "grpc=127.0.0.1:") || !strings.HasPrefix(words[2], "rest=http://127.0.0.1:") {
			t.Fatalf("ready line %q, error %v", line, err)
		}
		rest := strings.TrimPrefix(words[2], "rest=")
		if body := get(t, rest+"/healthz"); body != "ok\n" {
			t.Errorf("/healthz says %q", body)
		}
		list := get(t, rest+"/bigquery/v2/projects/demo/datasets")
		if !strings.Contains(list, `"demo:shop"`) || !strings.Contains(list, `"demo:ops"`) { // the second time from the file
			t.Errorf("datasets %s", list)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if more, err := io.ReadAll(out); err != nil || len(more) > 0 {
			t.Errorf("more on standard output: %q %v", more, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}

// A signal while the server starts isn't an error either.
func TestServe_endsWhileItStarts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	if code := run(ctx, []string{"--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--dataset=shop"}, io.Discard, &stderr); code != 0 {
		t.Errorf("exit status %d: %s", code, &stderr)
	}
}

// A statement that DuckDB doesn't let go of doesn't keep the server from its end.
func TestServe_endsWithAStatementUnderWay(t *testing.T) {
	cmd := command(t, "--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--dataset=shop")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	_, rest, ok := strings.Cut(strings.TrimSpace(line), "rest=")
	if err != nil || !ok {
		t.Fatalf("ready line %q, error %v", line, err)
	}
	statement := `{"useLegacySql": false, "timeoutMs": 500, "query": "SELECT REPEAT('a', 5000) LIKE CONCAT(REPEAT('%a', 2000), 'b')"}`
	r, err := http.Post(rest+"/bigquery/v2/projects/local/queries", "application/json", strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	begun := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || time.Since(begun) > 4*closeTimeout {
		t.Errorf("after SIGTERM: %v in %v", err, time.Since(begun))
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestExitStatus(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--nonsense"}, 2, "nonsense"},
		{[]string{"extra"}, 2, "extra"},
		{[]string{"--max_request_bytes=0"}, 2, "max_request_bytes"},
		{[]string{"--max_request_bytes=many"}, 2, "many"},
		{[]string{"--buckets=absent"}, 2, "absent"},
		{[]string{"--buckets=main.go"}, 2, "main.go is no folder"},
		{[]string{"--grpc_addr=256.0.0.1:1"}, 1, "listening for gRPC"},
		{[]string{"--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--dataset=no-dash"}, 1, "no-dash"},
		{[]string{"--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--db", filepath.Join(t.TempDir(), "absent", "x.db")}, 1, "opening the database"},
	} {
		cmd := command(t, test.args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // its status is what is tested
		if code := cmd.ProcessState.ExitCode(); code != test.code {
			t.Errorf("%v: exit status %d, want %d", test.args, code, test.code)
		}
		if text := stderr.String(); !strings.Contains(text, test.text) || strings.Count(text, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%v: standard error %q, standard output %q", test.args, text, &stdout)
		}
	}
}

// Faults of a script count from the start; a script that can't be meant is a bad flag.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[{code: NOPE}]":                 `"NOPE" is no gRPC code`,
		"[{code: ABORTED, colour: red}]": "colour",
	} {
		script := filepath.Join(t.TempDir(), "faults.yaml")
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, "--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--faults", script)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: error %v, %s", text, err, stderr.String())
		}
	}
	script := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(script, []byte("- {method: GetWriteStream, delay: 1s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0", "--faults", script)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	_, rest, ok := strings.Cut(strings.TrimSpace(line), "rest=")
	if err != nil || !ok {
		t.Fatalf("ready line %q, error %v", line, err)
	}
	if list := get(t, rest+"/emulator/v1/faults"); !strings.Contains(list, "GetWriteStream") {
		t.Errorf("faults %s", list)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
