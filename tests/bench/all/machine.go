package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine tells what the results are of. What the system doesn't tell is left out.
func machine(ctx context.Context) string {
	text := fmt.Sprintf("%d cores", runtime.NumCPU())
	if model := field("/proc/cpuinfo", "model name"); model != "" {
		text += " of " + model
	}
	if memory := field("/proc/meminfo", "MemTotal"); memory != "" {
		var kilobytes int
		_, _ = fmt.Sscan(memory, &kilobytes)
		text += fmt.Sprintf(", %d GB", (kilobytes+1<<19)>>20)
	}
	text += fmt.Sprintf(", %s/%s, %s; %s, commit %s", runtime.GOOS, runtime.GOARCH, runtime.Version(), time.Now().UTC().Format("2 January 2006 15:04 MST"), output(ctx, "git", "rev-parse", "--short", "HEAD"))
	if output(ctx, "git", "status", "--porcelain", "--untracked-files=no") != "" {
		text += ", with changes"
	}
	return text + "."
}

// field is the value of the first line "NAME : VALUE" of a file, "" where there is none.
func field(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range bytes.Lines(text) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func output(ctx context.Context, name string, args ...string) string {
	text, _ := exec.CommandContext(ctx, name, args...).Output()
	return strings.TrimSpace(string(text))
}

// load is how many processes ran or waited on average over the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	if err != nil {
		return "unknown"
	}
	return first
}
