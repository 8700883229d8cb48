package emulator

import (
	"sync"
	"time"
)

// Clock is a clock that can be moved: its Now is for Options.Now, so that a test
// can step through days. Its zero value tells the real time. It is safe for any
// number of goroutines.
type Clock struct {
	mu     sync.Mutex
	offset time.Duration
	frozen time.Time // zero while it runs
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time {
	if !c.frozen.IsZero() {
		return c.frozen
	}
	return time.Now().Add(c.offset)
}

// Advance moves the clock, running or frozen; forwards, unless d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	if !c.frozen.IsZero() {
		c.frozen = c.frozen.Add(d)
	}
}

// Freeze stops the clock at a time.
func (c *Clock) Freeze(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = at
}

// Run lets a frozen clock go on, from the time that it shows.
func (c *Clock) Run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.frozen.IsZero() {
		c.offset, c.frozen = time.Until(c.frozen), time.Time{}
	}
}
