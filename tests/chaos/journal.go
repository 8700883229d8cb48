package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// journal counts the lines that the pipeline's processes log, by kind.
type journal struct {
	mu     sync.Mutex
	kinds  map[string]int
	others []string // lines of no known kind, the first of them
	echo   func(line string)
}

// A warning's kind is its message, of which slog writes one text for all of a kind.
var warning = regexp.MustCompile(`level=(?:WARN|ERROR) msg=("(?:[^"\\]|\\.)*"|\S+)`)

// The kinds of lines that the command itself writes, and how each begins.
var lineKinds = []struct{ kind, mark string }{
	{"stopping", "launch: stopping"},
	{"ended by itself", "launch: "},
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.kinds == nil {
		j.kinds = map[string]int{}
	}
	if j.echo != nil {
		j.echo(line)
	}
	if found := warning.FindStringSubmatch(line); found != nil {
		j.kinds[found[1]]++
		return
	}
	for _, k := range lineKinds {
		if strings.HasPrefix(line, k.mark) {
			j.kinds[k.kind]++
			return
		}
	}
	j.kinds["other"]++
	if len(j.others) < 20 {
		j.others = append(j.others, line)
	}
}

func (j *journal) lines() (total int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, n := range j.kinds {
		total += n
	}
	return total
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(j.kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", j.kinds[kind], kind))
	}
	return strings.Join(parts, ", ")
}

func (j *journal) unknown() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.others)
}
