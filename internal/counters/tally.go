package counters

import (
	"bytes"
	"maps"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
)

// Beam's names for a user's metrics.
const (
	counterURN      = "beam:metric:user:sum_int64:v1"
	distributionURN = "beam:metric:user:distribution_int64:v1"
	gaugeURN        = "beam:metric:user:latest_int64:v1"
)

// cell is what was counted of a metric, in the order in which Beam writes it. Which
// metric it is comes later, but the number of values tells how to add them up.
type cell struct {
	n int      // 1 of a counter, 2 of a gauge, 4 of a distribution
	v [4]int64 // sum; time and value; count, sum, min, max
}

// tally adds up the metrics of bundles.
type tally struct {
	mu    sync.Mutex
	cells map[string]cell // by the worker's short ID of the metric
	infos map[string]info // of users' metrics
}

type info struct {
	name Name
	urn  string
}

// process is this process's tally: Beam's hooks are the process's too.
var process = newTally()

func newTally() *tally { return &tally{cells: make(map[string]cell), infos: make(map[string]info)} }

// add takes what the worker answers to the runner. A failed bundle counts nothing.
func (t *tally) add(response *fnpb.InstructionResponse) {
	if response.GetError() != "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	bundle := response.GetProcessBundle()
	if whole := bundle.GetMonitoringInfos(); len(whole) > 0 { // the runner doesn't ask for IDs
		for _, m := range whole {
			labels := m.GetLabels()
			id := strings.Join([]string{m.GetUrn(), labels["PTRANSFORM"], labels["NAMESPACE"], labels["NAME"]}, "\x00")
			t.learn(id, m)
			if _, ok := t.infos[id]; ok {
				t.count(id, m.GetPayload())
			}
		}
		return
	}
	for id, payload := range bundle.GetMonitoringData() {
		t.count(id, payload)
	}
	for id, m := range response.GetMonitoringInfos().GetMonitoringInfo() {
		t.learn(id, m)
	}
}

func (t *tally) learn(id string, m *pipepb.MonitoringInfo) {
	switch urn := m.GetUrn(); urn {
	case counterURN, distributionURN, gaugeURN:
		t.infos[id] = info{Name{m.GetLabels()["NAMESPACE"], m.GetLabels()["NAME"]}, urn}
	}
}

// count adds what a bundle has counted.
func (t *tally) count(id string, payload []byte) {
	var got cell
	for r := bytes.NewReader(payload); r.Len() > 0; got.n++ {
		v, err := coder.DecodeVarInt(r)
		if err != nil || got.n == len(got.v) {
			return // it is no metric of a user's
		}
		got.v[got.n] = v
	}
	c, ok := t.cells[id]
	if ok && c.n == got.n {
		c.merge(got)
	} else {
		c = got
	}
	t.cells[id] = c
}

func (c *cell) merge(o cell) {
	switch c.n {
	case 1:
		c.v[0] += o.v[0]
	case 2:
		if o.v[0] >= c.v[0] {
			c.v = o.v
		}
	case 4:
		c.v = [4]int64{c.v[0] + o.v[0], c.v[1] + o.v[1], min(c.v[2], o.v[2]), max(c.v[3], o.v[3])}
	}
}

func (t *tally) now() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	sums := make(map[string]int64, len(t.cells))
	for id, c := range t.cells {
		if c.n == 1 {
			sums[id] = c.v[0]
		}
	}
	return Snapshot{sums}
}

func (t *tally) since(before Snapshot) map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	added := make(map[string]int64)
	for id, c := range t.cells {
		if m, ok := t.infos[id]; ok && m.urn == counterURN {
			added[m.name.Namespace+"/"+m.name.Name] += c.v[0] - before.sums[id]
		}
	}
	return added
}

// values adds up the cells of a metric, of which each transform has one.
func (t *tally) values() map[Name]Value {
	t.mu.Lock()
	cells, infos := maps.Clone(t.cells), maps.Clone(t.infos)
	t.mu.Unlock()
	merged := make(map[info]cell)
	for id, c := range cells {
		m, ok := infos[id]
		if !ok {
			continue
		}
		if sum, ok := merged[m]; ok {
			sum.merge(c)
			c = sum
		}
		merged[m] = c
	}
	values := make(map[Name]Value, len(merged))
	for m, c := range merged {
		switch m.urn {
		case counterURN:
			values[m.name] = Value{Sum: c.v[0]}
		case distributionURN:
			values[m.name] = Value{Count: c.v[0], Sum: c.v[1], Min: c.v[2], Max: c.v[3]}
		case gaugeURN:
			values[m.name] = Value{Latest: c.v[1]}
		}
	}
	return values
}
