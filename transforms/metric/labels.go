package metric

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

const (
	maxLabels = 3

	// MaxValues is how many values the last label of a metric may have in one process:
	// of a metric by table, so many tables have counters of their own. What comes after
	// them counts for [Other].
	MaxValues = 1000

	// maxValue is how long a value may be, in bytes: a metric's name in Cloud Monitoring
	// has at most 1024, and a BigQuery table's may have more.
	maxValue = 300
)

// Other is the value of a label that has too many.
const Other = "other"

// Counters are the counters of a metric with labels, for all bundles of the process.
// The last label is the one that may have many values, a table or a reason; the number
// of those that get a counter of their own is bounded by [MaxValues].
type Counters struct {
	namespace, name string
	labels          []string

	mu       sync.RWMutex
	counters map[labelled]beam.Counter
	last     map[string]bool     // values of the last label
	values   map[string]labelled // by the counter's name
}

type labelled [maxLabels]string

func newCounters(namespace, name string, labels []string) *Counters {
	return &Counters{
		namespace: namespace, name: name, labels: labels,
		counters: make(map[labelled]beam.Counter), last: make(map[string]bool), values: make(map[string]labelled),
	}
}

// With returns the counter for these values, one for each label, in their order. It may
// be called by any goroutine.
func (c *Counters) With(values ...string) beam.Counter {
	if len(values) != len(c.labels) {
		panic(fmt.Sprintf("metric: %s/%s has the labels %v, not %d", c.namespace, c.name, c.labels, len(values)))
	}
	var k labelled
	copy(k[:], values)
	c.mu.RLock()
	counter, ok := c.counters[k]
	c.mu.RUnlock()
	if ok {
		return counter
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(k)
}

// add makes a counter, unless the last label has too many values already: those share
// one, and nothing is remembered of them.
func (c *Counters) add(k labelled) beam.Counter {
	at := len(c.labels) - 1
	if value := k[at]; !c.last[value] && value != Other {
		if len(c.last) >= MaxValues {
			k[at] = Other
		} else {
			c.last[strings.Clone(value)] = true
		}
	}
	if counter, ok := c.counters[k]; ok {
		return counter
	}
	parts := []string{c.name}
	for i := range c.labels {
		k[i] = strings.Clone(k[i]) // it may be part of a message
		parts = append(parts, legible(k[i]))
	}
	name := strings.Join(parts, "/")
	counter := beam.NewCounter(c.namespace, name)
	c.counters[k], c.values[name] = counter, k
	return counter
}

// legible bounds a value that is part of a name, and leaves nothing in it that a
// terminal or a log would obey.
func legible(value string) string {
	value = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || 0x80 <= r && r < 0xa0 {
			return '_'
		}
		return r
	}, value)
	if len(value) > maxValue {
		value = strings.ToValidUTF8(value[:maxValue], "") + "…"
	}
	return value
}

// valuesOf returns the values that the counter of this name is for.
func (c *Counters) valuesOf(name string) ([]string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.values[name]
	if !ok {
		return nil, false
	}
	values := make([]string, len(c.labels))
	for i := range values {
		values[i] = legible(k[i])
	}
	return values, true
}
