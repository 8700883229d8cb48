package cost

import (
	"math"
	"time"
)

// Load is what flows into a table.
type Load struct{ Rows, Bytes float64 } // a second

// Traffic is one table's.
type Traffic struct {
	Table    string
	Sampled  int     // rows of the sample; 0 of a given rate
	Before   Load    // as it arrives
	Baseline float64 // bytes of the table
	Origin   string  // where Baseline is from
	// After is what a window leaves.
	After func(window time.Duration) Load
}

// given is the traffic of a rate of rows of a size, on keys that are equally likely; 0
// keys for rows that are never of the same key.
func given(rate, size, keys float64) Traffic {
	return Traffic{
		Before: Load{rate, rate * size},
		After: func(window time.Duration) Load {
			rows := rate * window.Seconds()
			if keys == 0 || rows == 0 {
				return Load{rate, rate * size}
			}
			left := keys * -math.Expm1(rows*math.Log1p(-1/keys)) / window.Seconds()
			if keys == 1 {
				left = min(rows, 1) / window.Seconds()
			}
			left = min(left, rate)
			return Load{left, left * size}
		},
	}
}

// Model is what an estimate assumes.
type Model struct {
	Hours      float64       // of a month
	Queries    float64       // an hour, of each table
	QueryShare float64       // of the baseline, that a query reads where it needn't merge
	UnsetApply time.Duration // how often BigQuery applies where max_staleness is not set
}

// Month is what a month makes of one table.
type Month struct {
	Write      float64 // bytes of rows
	Applies    float64
	ApplyBytes float64
	Queries    float64
	Merges     float64 // of the queries
	QueryBytes float64
}

// month estimates a table's month, with this window and max_staleness, 0 for none.
func (m *Model) month(t *Traffic, window, staleness time.Duration) Month {
	seconds := m.Hours * 3600
	after := t.After(window)
	every := staleness.Seconds()
	if staleness == 0 {
		every = m.UnsetApply.Seconds()
	}
	e := Month{Write: after.Bytes * seconds, Queries: m.Queries * m.Hours}
	e.Applies = seconds / every * -math.Expm1(-after.Rows*every)
	e.ApplyBytes = e.Applies*t.Baseline + e.Write
	if staleness == 0 {
		e.Merges = e.Queries
		e.QueryBytes = e.Merges * (t.Baseline + after.Bytes*every/2)
	} else {
		e.QueryBytes = e.Queries * m.QueryShare * t.Baseline
	}
	return e
}

// add adds another table's month.
func (e *Month) add(o Month) {
	e.Write += o.Write
	e.Applies += o.Applies
	e.ApplyBytes += o.ApplyBytes
	e.Queries += o.Queries
	e.Merges += o.Merges
	e.QueryBytes += o.QueryBytes
}

// Bill is what a month costs.
type Bill struct{ Write, Apply, Query float64 }

// Total is the sum.
func (b Bill) Total() float64 { return b.Write + b.Apply + b.Query }

// bill prices a month. What is free of processing is taken off applies and queries in
// proportion.
func (p *Prices) bill(e Month) Bill {
	processed := p.process(e.ApplyBytes + e.QueryBytes)
	b := Bill{Write: p.write(e.Write)}
	if all := e.ApplyBytes + e.QueryBytes; all > 0 {
		b.Apply = processed * e.ApplyBytes / all
		b.Query = processed * e.QueryBytes / all // the rest might be -0.00
	}
	return b
}
