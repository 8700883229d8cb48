package main

import (
	"os/exec"
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
