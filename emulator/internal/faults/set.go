package faults

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

// Set is the faults that count now. It is safe for any number of goroutines.
type Set struct {
	now     func() time.Time
	methods []string

	mu     sync.Mutex
	faults []*counted
}

// counted is a fault and what it has done.
type counted struct {
	Fault
	since    time.Time
	random   *rand.Rand
	matched  int
	happened int
	taken    int64     // bytes of this second, for Throttle
	second   time.Time // that taken is of
}

// NewSet returns a set without faults, on the emulator's clock, for the calls of
// these methods.
func NewSet(now func() time.Time, methods []string) *Set { return &Set{now: now, methods: methods} }

// Replace puts these faults in the place of those that were there. It changes
// nothing if one of them is wrong; the error says which.
func (s *Set) Replace(list []Fault) error {
	now := s.now()
	var all []*counted
	for i := range list {
		f := list[i]
		if err := f.Check(s.methods); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		all = append(all, &counted{Fault: f, since: now, random: rand.New(rand.NewPCG(f.Seed, 0))})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = all
	return nil
}

// Status is a fault and how often it matched and happened.
type Status struct {
	Fault    Fault `json:"fault"`
	Matched  int   `json:"matched"`
	Happened int   `json:"happened"`
}

// List returns the faults in their order.
func (s *Set) List() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Status, len(s.faults))
	for i, f := range s.faults {
		list[i] = Status{f.Fault, f.matched, f.happened}
	}
	return list
}

// Next returns what goes wrong with this call: of the faults that are due the first
// one, in their order. Every fault that matches counts the call.
func (s *Set) Next(c Call) Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return Effect{}
	}
	now := s.now()
	var effect Effect
	for _, f := range s.faults {
		if f.HideNew > 0 || !f.matches(c, now) {
			continue
		}
		f.matched++
		if effect.IsZero() && f.due(c, now) {
			f.happened++
			effect = f.Effect
		}
	}
	return effect
}

// Hidden returns for how long the Write API doesn't know what is new about a table:
// the longest of the faults that say so.
func (s *Set) Hidden(table string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hidden time.Duration
	for _, f := range s.faults {
		if f.HideNew > 0 && f.active(s.now()) && matchTable(f.Table, table) {
			hidden = max(hidden, f.HideNew)
		}
	}
	return hidden
}

func (f *counted) active(now time.Time) bool {
	age := now.Sub(f.since)
	return age >= f.From && (f.For == 0 || age < f.From+f.For)
}

func (f *counted) matches(c Call, now time.Time) bool {
	return f.matchMethod(c.Method) && f.active(now) && matchTable(f.Table, c.Table)
}

// matchTable holds a table against a pattern; one of two parts is for any project.
func matchTable(pattern, table string) bool {
	if pattern == "" {
		return true
	}
	if strings.Count(pattern, ".") == 1 {
		_, table, _ = strings.Cut(table, ".")
	}
	// path.Match's * stops at slashes.
	matched, _ := path.Match(strings.ReplaceAll(pattern, ".", "/"), strings.ReplaceAll(table, ".", "/"))
	return matched
}

// due decides about a call that matches and was counted.
func (f *counted) due(c Call, now time.Time) bool {
	n := f.matched - f.Skip
	switch {
	case n <= 0 || f.Times > 0 && f.happened >= f.Times || (n-1)%max(1, f.Every) != 0:
		return false
	case f.Chance > 0 && f.random.Float64() >= f.Chance:
		return false
	case f.Throttle == 0:
		return true
	}
	if second := now.Truncate(time.Second); second != f.second {
		f.second, f.taken = second, 0
	}
	size := int64(proto.Size(c.Request))
	if f.taken > 0 && f.taken+size > f.Throttle { // a request larger than a second's worth goes through alone
		return true
	}
	f.taken += size
	return false
}
