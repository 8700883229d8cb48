package main

import (
	"fmt"
	"maps"
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

// The kinds of lines that faults make the pipeline log, and what each has in it.
var lineKinds = []struct{ kind, mark string }{
	{"append tried again", "is tried again"},
	{"stopping", "launch: stopping"},
	{"table altered", "altered a table to follow its source"},
	{"source out of reach", "still trying"},
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
	for _, k := range lineKinds {
		if strings.Contains(line, k.mark) {
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
