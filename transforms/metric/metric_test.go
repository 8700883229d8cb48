package metric

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeclare_refuses(t *testing.T) {
	n := In("refused")
	n.Counter("taken", Rows, "Rows.")
	n.Counter("taken", Rows, "Rows.") // as it is
	n.Counters("family", Rows, "Rows.", "table")
	for name, declare := range map[string]func(){
		"no unit":           func() { n.Counter("a", "", "Help.") },
		"no help":           func() { n.Gauge("a", Rows, "") },
		"another unit":      func() { n.Counter("taken", Bytes, "Rows.") },
		"another help":      func() { n.Counter("taken", Rows, "Lines.") },
		"another kind":      func() { n.Distribution("taken", Rows, "Rows.") },
		"other labels":      func() { n.Counters("family", Rows, "Rows.", "reason") },
		"no labels":         func() { n.Counters("b", Rows, "Rows.") },
		"too many labels":   func() { n.Counters("b", Rows, "Rows.", "a", "b", "c", "d") },
		"a name":            func() { n.Counter("a/b", Rows, "Rows.") },
		"a label":           func() { n.Counters("b", Rows, "Rows.", "Table") },
		"no bounds":         func() { n.Histogram("c", Rows, "Rows.", nil) },
		"unsorted bounds":   func() { n.Histogram("c", Rows, "Rows.", []int64{2, 1}) },
		"values for labels": func() { n.Counters("family", Rows, "Rows.", "table").With("a", "b") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it was declared", name)
				}
			}()
			declare()
		}()
	}
}

func TestFind(t *testing.T) {
	n := In("found")
	n.Distribution("plain", Milliseconds, "Time.")
	rows := n.Counters("rows", Rows, "Rows.", "outcome", "table")
	rows.With("acknowledged", "p.d.a/b\x1b[31m")
	rows.With("acknowledged", "p.d.a/b\x1b[31m")
	for name, want := range map[string][]string{
		"plain":                          nil,
		"rows/acknowledged/p.d.a/b_[31m": {"acknowledged", "p.d.a/b_[31m"},
	} {
		d, values, ok := Find("found", name)
		if !ok || d.Namespace != "found" || !cmp.Equal(values, want) {
			t.Errorf("%q: found %v, %v with %q, want %q", name, ok, d, values, want)
		}
	}
	for _, name := range []string{"rows", "rows/rejected/p.d.t", "other", "plain/x"} {
		if d, values, ok := Find("found", name); ok {
			t.Errorf("%q: found %v with %q", name, d, values)
		}
	}
	if _, _, ok := Find("elsewhere", "plain"); ok {
		t.Error("found in another namespace")
	}
}

// Tables come from messages: however many there are, few get a counter.
func TestCounters_bounded(t *testing.T) {
	rows := In("bounded").Counters("rows", Rows, "Rows.", "outcome", "table")
	for i := range 3 * MaxValues {
		for _, outcome := range []string{"acknowledged", "rejected"} {
			rows.With(outcome, fmt.Sprint("table", i))
		}
	}
	if n := len(rows.counters); n != 2*MaxValues+2 {
		t.Errorf("there are %d counters, want %d", n, 2*MaxValues+2)
	}
	if got := rows.With("rejected", "one more"); got != rows.With("rejected", Other) {
		t.Error("a table too many has a counter of its own")
	}
	if got := rows.With("waiting", "table1"); got == rows.With("waiting", Other) {
		t.Error("a table among the first has no counter of its own for another outcome")
	}
	long := In("bounded").Counters("long", Rows, "Rows.", "table")
	long.With(strings.Repeat("ä", 1000))
	for name := range long.values {
		if len(name) > 400 {
			t.Errorf("a name has %d bytes", len(name))
		}
	}
}

func TestSamples(t *testing.T) {
	value := int64(1)
	In("sampled").LiveGauge("b", Requests, "Requests.", func() int64 { return value })
	In("sampled").LiveCounter("a", Requests, "Requests.", func() int64 { return -value })
	value = 7
	var got []string
	for _, s := range Samples() {
		if s.Namespace == "sampled" {
			got = append(got, fmt.Sprint(s.Name, s.Value))
		}
	}
	if !slices.Equal(got, []string{"a-7", "b7"}) {
		t.Errorf("got %v", got)
	}
}

func TestHistogram(t *testing.T) {
	h := In("histogram").Histogram("lag_ms", Milliseconds, "Lag.", []int64{10, 100})
	if !slices.Equal(BucketNames(h.bounds), []string{"10", "100", "more"}) || len(h.buckets) != 3 {
		t.Errorf("buckets %v", BucketNames(h.bounds))
	}
	for v, want := range map[int64]int{-1: 0, 10: 0, 11: 1, 100: 1, 101: 2} {
		if got := h.bucket(v); got != want {
			t.Errorf("%d is in bucket %d, want %d", v, got, want)
		}
	}
	d, values, ok := Find("histogram", "lag_ms_upto/more")
	if !ok || d.BucketsOf != "lag_ms" || !slices.Equal(values, []string{"more"}) {
		t.Errorf("found %v, %v, %v", d, values, ok)
	}
}

func TestPrometheusName(t *testing.T) {
	for want, d := range map[string]Description{
		"beamcdc_decode_messages_total":        {Namespace: "decode", Name: "messages", Kind: Counter, Unit: Messages},
		"beamcdc_bqcdc_append_latency_seconds": {Namespace: "bqcdc", Name: "append_latency_ms", Kind: Distribution, Unit: Milliseconds},
		"beamcdc_bqcdc_superseded_bytes_total": {Namespace: "bqcdc", Name: "bytes_superseded", Kind: Counter, Unit: Bytes},
		"beamcdc_fill_memory_bytes":            {Namespace: "fill", Name: "memory_bytes", Kind: Distribution, Unit: Bytes},
		"beamcdc_pubsubsource_restarts_total":  {Namespace: "pubsubsource", Name: "restarts", Kind: LiveCounter, Unit: Tries},
		"beamcdc_enrich_lookup_age_seconds":    {Namespace: "enrich", Name: "lookup_age_seconds", Kind: Gauge, Unit: Seconds},
	} {
		if got := d.PrometheusName(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
