package truncate

import (
	"fmt"
)

// restriction is what is left to do of one truncate. It is done in steps, each in a
// bundle of its own, so that a worker is free between them.
type restriction struct {
	// Raised is when the table's fence was raised, in milliseconds since 1970; 0
	// before that is done.
	Raised int64
	Fence  string // of a view: the sequence that Raised is of
	Over   bool   // nothing is left
}

// tracker claims one step of a restriction.
type tracker struct {
	rest restriction
	next *restriction // what is left after the step that is done; nil before
}

// TryClaim claims what is left after the step, a restriction, once the step is done.
func (t *tracker) TryClaim(next any) bool {
	n, ok := next.(restriction)
	if !ok || t.rest.Over {
		return false
	}
	if n.Over {
		t.rest = n
		return true
	}
	t.next = &n
	return true
}

// GetError returns nil: no claim fails but at the end.
func (t *tracker) GetError() error { return nil }

// TrySplit hands on what is left after a step that is done, and refuses anything
// else: a step has no parts.
func (t *tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction > 0 || t.rest.Over || t.next == nil {
		return t.rest, nil, nil
	}
	t.rest.Over = true
	return t.rest, *t.next, nil
}

// GetProgress returns made-up sizes: nobody knows how many rows there are.
func (t *tracker) GetProgress() (done, remaining float64) {
	if t.rest.Over {
		return 1, 0
	}
	return 0, 1
}

// IsDone reports whether nothing is left.
func (t *tracker) IsDone() bool { return t.rest.Over }

// GetRestriction returns the restriction.
func (t *tracker) GetRestriction() any { return t.rest }

// IsBounded reports that there is an end.
func (t *tracker) IsBounded() bool { return true }

// String is for the runner's logs.
func (t *tracker) String() string { return fmt.Sprintf("truncate %+v", t.rest) }
