package metric

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Kind is a metric's kind.
type Kind string

// The kinds.
const (
	Counter      Kind = "counter"      // a sum that only grows
	Distribution Kind = "distribution" // number, sum, least and greatest of values
	Gauge        Kind = "gauge"        // the latest value

	// Those of the process, asked for when they are served: they are no metrics of Beam's.
	LiveCounter Kind = "live counter"
	LiveGauge   Kind = "live gauge"
)

// Unit is what a metric's values count.
type Unit string

// The units.
const (
	Messages     Unit = "messages" // deliveries of Pub/Sub's
	Changes      Unit = "changes"  // change events
	Rows         Unit = "rows"
	Values       Unit = "values" // of a column in a row
	Keys         Unit = "keys"   // of rows
	Columns      Unit = "columns"
	Letters      Unit = "dead letters"
	Receipts     Unit = "receipts"
	Requests     Unit = "requests" // to BigQuery
	Tables       Unit = "tables"
	Tries        Unit = "tries"
	Bytes        Unit = "bytes"
	Milliseconds Unit = "milliseconds"
	Seconds      Unit = "seconds"
)

// Description is what is known of a metric.
type Description struct {
	Namespace string // the hop's
	Name      string // within the namespace
	Kind      Kind
	Unit      Unit
	Help      string   // what is counted, a sentence
	Labels    []string // nil for a metric without
	Bounds    []int64  // of a distribution that is a histogram, else nil
	BucketsOf string   // the histogram whose values these counters count, else ""
}

// Namespace declares the metrics of a hop.
type Namespace struct{ name string }

// In returns the namespace of this name.
func In(name string) Namespace { return Namespace{name} }

// Counter declares a counter. As with all declarations, a second one of the same name
// must be the same in all else: else it panics, as it does for one without unit or help.
func (n Namespace) Counter(name string, unit Unit, help string) beam.Counter {
	process.declare(Description{Namespace: n.name, Name: name, Kind: Counter, Unit: unit, Help: help})
	return beam.NewCounter(n.name, name)
}

// Distribution declares a distribution.
func (n Namespace) Distribution(name string, unit Unit, help string) beam.Distribution {
	process.declare(Description{Namespace: n.name, Name: name, Kind: Distribution, Unit: unit, Help: help})
	return beam.NewDistribution(n.name, name)
}

// Gauge declares a gauge. Dataflow doesn't show gauges.
func (n Namespace) Gauge(name string, unit Unit, help string) beam.Gauge {
	process.declare(Description{Namespace: n.name, Name: name, Kind: Gauge, Unit: unit, Help: help})
	return beam.NewGauge(n.name, name)
}

// LiveGauge declares a value that the process knows at any time: read is called, from
// any goroutine, when somebody asks.
func (n Namespace) LiveGauge(name string, unit Unit, help string, read func() int64) {
	process.declareLive(Description{Namespace: n.name, Name: name, Kind: LiveGauge, Unit: unit, Help: help}, read)
}

// LiveCounter is LiveGauge for a value that only grows.
func (n Namespace) LiveCounter(name string, unit Unit, help string, read func() int64) {
	process.declareLive(Description{Namespace: n.name, Name: name, Kind: LiveCounter, Unit: unit, Help: help}, read)
}

// Counters declares counters with labels.
func (n Namespace) Counters(name string, unit Unit, help string, labels ...string) *Counters {
	if len(labels) == 0 || len(labels) > maxLabels {
		panic(fmt.Sprintf("metric.Counters: %s/%s has %d labels; it may have 1 to %d", n.name, name, len(labels), maxLabels))
	}
	return n.counters(Description{Namespace: n.name, Name: name, Kind: Counter, Unit: unit, Help: help, Labels: labels})
}

func (n Namespace) counters(d Description) *Counters {
	process.declare(d)
	process.mu.Lock()
	defer process.mu.Unlock()
	k := key{d.Namespace, d.Name}
	if process.families[k] == nil {
		process.families[k] = newCounters(d.Namespace, d.Name, d.Labels)
	}
	return process.families[k]
}

// All returns what is declared, by namespace and name.
func All() []Description {
	process.mu.Lock()
	defer process.mu.Unlock()
	all := make([]Description, 0, len(process.declared))
	for _, d := range process.declared {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Description) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// Find returns what is known of Beam's metric of this name, and the values of its
// labels, in their order.
func Find(namespace, name string) (d Description, values []string, ok bool) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if d, ok = process.declared[key{namespace, name}]; ok {
		return d, nil, len(d.Labels) == 0
	}
	family, _, _ := strings.Cut(name, "/")
	d, ok = process.declared[key{namespace, family}]
	if !ok || len(d.Labels) == 0 {
		return Description{}, nil, false
	}
	values, ok = process.families[key{namespace, family}].valuesOf(name)
	return d, values, ok
}

// Sample is the value of a live metric.
type Sample struct {
	Description

	Value int64
}

// Samples reads the live metrics, by namespace and name.
func Samples() []Sample {
	var samples []Sample
	for _, d := range All() {
		if d.Kind != LiveGauge && d.Kind != LiveCounter {
			continue
		}
		process.mu.Lock()
		read := process.live[key{d.Namespace, d.Name}]
		process.mu.Unlock()
		samples = append(samples, Sample{d, read()})
	}
	return samples
}

type key struct{ namespace, name string }

// registry is what the process has declared.
type registry struct {
	mu       sync.Mutex
	declared map[key]Description
	families map[key]*Counters
	live     map[key]func() int64
}

var process = &registry{
	declared: make(map[key]Description), families: make(map[key]*Counters), live: make(map[key]func() int64),
}

// legal are names that Beam's runners, Cloud Monitoring and Prometheus take alike.
var legal = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (r *registry) declare(d Description) {
	switch {
	case !legal.MatchString(d.Namespace), !legal.MatchString(d.Name):
		panic(fmt.Sprintf("metric: %q/%q is no name of a metric", d.Namespace, d.Name))
	case d.Unit == "", d.Help == "":
		panic(fmt.Sprintf("metric: %s/%s has no unit or no help", d.Namespace, d.Name))
	}
	for _, label := range d.Labels {
		if !legal.MatchString(label) {
			panic(fmt.Sprintf("metric: %q of %s/%s is no name of a label", label, d.Namespace, d.Name))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{d.Namespace, d.Name}
	if before, ok := r.declared[k]; ok && !same(before, d) {
		panic(fmt.Sprintf("metric: %s/%s is declared twice, and differently", d.Namespace, d.Name))
	}
	r.declared[k] = d
}

func (r *registry) declareLive(d Description, read func() int64) {
	r.declare(d)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[key{d.Namespace, d.Name}] = read
}

func same(a, b Description) bool {
	return a.Kind == b.Kind && a.Unit == b.Unit && a.Help == b.Help && slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Bounds, b.Bounds)
}
