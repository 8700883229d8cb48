package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The worker's binary is pure Go, for an image without a C library, and holds
// nothing of what runs on one machine alone.
func TestDependencies(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{if .CgoFiles}} cgo{{end}}{{end}}", ".")
	list.Env = append(list.Environ(), "CGO_ENABLED=1") // with cgo off, files that need it are not listed
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the dependencies: %v", err)
	}
	dependencies := strings.Fields(string(out))
	if len(dependencies) < 10 {
		t.Fatalf("cmd/launch has only these dependencies: %s", dependencies)
	}
	for line := range strings.Lines(string(out)) {
		path, cgo := strings.CutSuffix(strings.TrimSpace(line), " cgo")
		if cgo {
			t.Errorf("%s needs cgo", path)
		}
		for _, banned := range []string{"duckdb", "beamcdc/emulator", "beamcdc/cmd/local", "pubsub/v2/pstest"} {
			if strings.Contains(path, banned) {
				t.Errorf("cmd/launch depends on %s", path)
			}
		}
	}
}

// The worker's binary is static, and no larger than it is known to be: it goes to each
// worker at its start. What makes it larger is to be a decision.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds the command")
	}
	const most = 140 << 20
	path := filepath.Join(t.TempDir(), "launch")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := checkWorker(path, "amd64"); err != nil {
		t.Errorf("it can't run on Dataflow's workers: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("it has %d MiB, more than %d", info.Size()>>20, most>>20)
	}
	t.Logf("it has %d MiB", info.Size()>>20)
}
