package bqcdc

import (
	"fmt"
	"testing"
	"time"
)

// One line a fault, not one a request, and not one a table either where thousands fail.
func TestFaults(t *testing.T) {
	var f faults
	now := time.Now()
	lines, told := 0, 0
	for period := range 3 {
		for range 5 {
			for table := range 2000 {
				if more, logged := f.see(fmt.Sprint("t", table), transient, now); logged {
					lines++
					told += 1 + more
				}
			}
		}
		if want := faultyTables * (period + 1); lines != want {
			t.Errorf("%d lines in period %d, want %d", lines, period, want)
		}
		if more, logged := f.see("t0", throttled, now); !logged || more != 0 {
			t.Errorf("another outcome is logged: %v, and tells of %d more", logged, more)
		}
		now = now.Add(faultsEvery)
	}
	if _, logged := f.see("t0", transient, now); !logged {
		t.Error("a later fault is not logged")
	}
	if want := 2*10_000 + faultyTables; told != want {
		t.Errorf("the lines tell of %d faults, want %d", told, want)
	}
}
