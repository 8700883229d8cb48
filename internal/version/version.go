// Package version tells which commit a program was built from, for reports of bugs.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Asked reports whether a command line asks for the version alone.
func Asked(args []string) bool {
	return len(args) == 1 && (args[0] == "-version" || args[0] == "--version")
}

// String returns what the Go toolchain wrote into this binary: the module's version,
// the commit with its time, whether files were changed since, and Go's version.
func String() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown version, " + runtime.Version()
	}
	return describe(build)
}

func describe(build *debug.BuildInfo) string {
	settings := make(map[string]string, len(build.Settings))
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	var parts []string
	if v := build.Main.Version; v != "" {
		parts = append(parts, v)
	}
	if commit := settings["vcs.revision"]; commit != "" {
		if at := settings["vcs.time"]; at != "" {
			commit += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			commit += " with changed files"
		}
		parts = append(parts, "commit "+commit)
	} else {
		parts = append(parts, "no commit is known") // go run, go test and -buildvcs=false
	}
	return strings.Join(append(parts, build.GoVersion), ", ")
}
