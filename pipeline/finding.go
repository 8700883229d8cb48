package pipeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Finding is one thing that is wrong with a configuration.
type Finding struct {
	File    string // "" where the value came from a flag or from Go
	Line    int    // 0 where there is none
	Key     string // the key's path, "tables[0].columns[2].type", or the flag, "--window"
	Problem string
}

// String returns "file:line: key: problem", without what is not known.
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 {
			b.WriteString(":" + strconv.Itoa(f.Line))
		}
		b.WriteString(": ")
	}
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	b.WriteString(f.Problem)
	return b.String()
}

// Findings is the error of a configuration: everything that is wrong with it,
// in the order of its lines.
type Findings []Finding

// Error returns one finding a line.
func (f Findings) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the findings in the order of their lines, those without a line
// last, and each once.
func (f Findings) sorted() Findings {
	line := func(a Finding) int {
		if a.Line == 0 {
			return 1 << 30
		}
		return a.Line
	}
	sorted := slices.Clone(f)
	slices.SortStableFunc(sorted, func(a, b Finding) int { return cmp.Compare(line(a), line(b)) })
	seen := make(map[Finding]bool, len(sorted))
	return slices.DeleteFunc(sorted, func(a Finding) bool {
		if seen[a] {
			return true
		}
		seen[a] = true
		return false
	})
}

// position is where a key was set.
type position struct {
	line int    // in the file, or
	flag string // the flag that set it
}

// find returns a finding about a key: where that is not set, about the line of
// the nearest key that holds it.
func (o *Options) find(key, problem string) Finding {
	for at := key; at != ""; at = parentKey(at) {
		p, ok := o.positions[at]
		switch {
		case !ok:
		case p.flag != "":
			return Finding{Key: "--" + p.flag, Problem: problem}
		default:
			return Finding{File: o.file, Line: p.line, Key: key, Problem: problem}
		}
	}
	return Finding{File: o.file, Key: key, Problem: problem}
}

// parentKey returns the path of the key that holds this one: "a[0].b" → "a[0]" → "a" → "".
func parentKey(key string) string {
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}
