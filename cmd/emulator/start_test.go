package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// It starts in under a second, also with a file. The best of three counts: what else
// the machine does is not the emulator's.
func TestStart_underASecond(t *testing.T) {
	db := filepath.Join(t.TempDir(), "emulator.db")
	best := time.Hour
	for range 3 {
		cmd := command(t, "--project=demo", "--dataset=shop", "--db", db, "--grpc_addr=127.0.0.1:0", "--rest_addr=127.0.0.1:0")
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
			t.Fatalf("ready line %q, error %v", line, err)
		}
		best = min(best, time.Since(start))
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
	t.Log(best)
	if best >= time.Second {
		t.Errorf("it took %v to start", best)
	}
}

// --help says what it is, how it is started, and every flag.
func TestHelp(t *testing.T) {
	out, err := command(t, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"change data capture", "ready grpc=", "/healthz", "PUT    /emulator/v1/faults", `{"advance": "36h"}`, "/rows", "examples/clients/README.md", "-project", "-dataset", "-db", "-buckets", "-grpc_addr", "-rest_addr",
		"-max_request_bytes", "-idle_timeout", "-faults", "-verbose",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("--help lacks %q:\n%s", want, out)
		}
	}
}

// CI has no Docker: what can be said without it is that the image's flags are the
// command's, its ports those that it listens on, and its Go new enough for the module.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) string {
		t.Helper()
		match := regexp.MustCompile(`(?m)` + pattern).FindSubmatch(text)
		if match == nil {
			t.Fatalf("the Dockerfile has no %s", pattern)
		}
		return string(match[1])
	}
	var entry []string
	if err := json.Unmarshal([]byte(find(`^ENTRYPOINT (\[.*\])$`)), &entry); err != nil {
		t.Fatal(err)
	}
	if find(`go build .*-o (\S+) ./cmd/emulator`) != entry[0] {
		t.Errorf("the entry point %s isn't what is built", entry[0])
	}
	var ports []string
	for _, arg := range entry[1:] {
		_, port, _ := strings.Cut(arg, ":")
		ports = append(ports, port)
	}
	if exposed := find(`^EXPOSE (.*)$`); exposed != strings.Join(ports, " ") {
		t.Errorf("ports %s are exposed, %v listened on", exposed, ports)
	}
	if out, err := command(t, append(entry[1:], "--help")...).CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", entry[1:], err, out)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	needed := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if image := find(`^FROM golang:(\d+\.\d+)`); image != string(needed[1]) {
		t.Errorf("the image has Go %s, go.mod says %s", image, needed[1])
	}
}
