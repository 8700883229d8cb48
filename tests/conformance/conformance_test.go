package conformance

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// testCase holds the tested against what some sentences say.
type testCase struct {
	name  string
	cites []string // sentences of testdata/sentences.txt, word for word
	// emulatorOnly says that the case steps the clock, holds applies back or injects faults.
	emulatorOnly bool
	run          func(r *run)
}

// cases are all cases, one list for each file.
var cases = slices.Concat(
	changeCases, sequenceCases, requirementCases, stalenessCases, applyCases, deleteCases,
	limitCases, streamCases, restCases, sqlCases, historyCases, monitoringCases,
)

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds and starts the emulator")
	}
	b := newBackend(t)
	names := map[string]bool{}
	var passed, pendingCount, left int
	for _, c := range cases {
		if names[c.name] {
			t.Errorf("two cases are named %q", c.name)
		}
		names[c.name] = true
		if b.emulator == nil && c.emulatorOnly {
			t.Logf("%s: not run against BigQuery itself, whose clock can't be stepped", c.name)
			left++
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := b
			if c.emulatorOnly { // its clock and its faults are nobody else's
				b = startEmulator(t, b.program)
			}
			failures := b.try(t.Context(), c)
			reason, isPending := pending[c.name]
			if b.emulator == nil {
				isPending = false // the list is the emulator's
			}
			switch {
			case isPending && len(failures) == 0:
				t.Errorf("it passes: take it off pending_test.go (%s)", reason)
			case isPending:
				pendingCount++
				t.Logf("pending: %s\n%s", reason, strings.Join(failures, "\n"))
			case len(failures) == 0:
				passed++
			default:
				t.Errorf("%s\nthe reference says:\n  %s", strings.Join(failures, "\n"), strings.Join(c.cites, "\n  "))
			}
		})
	}
	for name := range pending {
		if !names[name] {
			t.Errorf("pending_test.go names %q, which is no case", name)
		}
	}
	t.Logf("%d of %d cases pass, %d are pending, %d not run", passed, len(cases), pendingCount, left)
}

// try runs a case and returns how it failed. It isn't the test itself, so that a
// pending case may fail.
func (b *backend) try(ctx context.Context, c testCase) []string {
	ctx, cancel := context.WithTimeout(ctx, b.caseTimeout())
	defer cancel()
	r := &run{backend: b, ctx: ctx, suffix: suffix()}
	done := make(chan struct{})
	go func() { // fatal ends this goroutine alone
		defer close(done)
		defer r.cleanup()
		defer func() {
			if p := recover(); p != nil {
				r.errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		c.run(r)
	}()
	<-done
	return r.failures
}

// errorf notes a failure and goes on.
func (r *run) errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// fatalf notes a failure and ends the case.
func (r *run) fatalf(format string, args ...any) {
	r.errorf(format, args...)
	runtime.Goexit()
}

func (r *run) must(err error, doing string) {
	if err != nil {
		r.fatalf("%s: %v", doing, err)
	}
}
