package monitor

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"beamcdc/cmd/internal/direct"
	"beamcdc/internal/counters"
	_ "beamcdc/pipeline" // the metrics of all hops
	"beamcdc/transforms/metric"
	"beamcdc/transforms/pubsubsource"
)

var (
	testRows = metric.In("monitortest").Counters("rows_by_table", metric.Rows, "Rows.", "outcome", "table")
	testLag  = metric.In("monitortest").Histogram("lag_ms", metric.Milliseconds, "Lag.", []int64{10, 1000})
	_        = metric.In("monitortest").Distribution("request_bytes", metric.Bytes, "Bytes.")
	_        = metric.In("monitortest").Gauge("age_seconds", metric.Seconds, "Age.")
)

// Every metric of every hop follows Prometheus's conventions, and is told as it was counted.
func TestCollector(t *testing.T) {
	testRows.With("acknowledged", `p.d."t"`+"\n")
	_ = testLag
	values := map[counters.Name]counters.Value{
		{Namespace: "monitortest", Name: `rows_by_table/acknowledged/p.d."t"_`}: {Sum: 7},
		{Namespace: "monitortest", Name: "rows_by_table/unknown/x"}:             {Sum: 99},
		{Namespace: "monitortest", Name: "lag_ms"}:                              {Count: 6, Sum: 5500, Min: 5, Max: 4000},
		{Namespace: "monitortest", Name: "lag_ms_upto/10"}:                      {Sum: 1},
		{Namespace: "monitortest", Name: "lag_ms_upto/1000"}:                    {Sum: 3},
		{Namespace: "monitortest", Name: "lag_ms_upto/more"}:                    {Sum: 2},
		{Namespace: "monitortest", Name: "request_bytes"}:                       {Count: 2, Sum: 30, Min: 10, Max: 20},
		{Namespace: "monitortest", Name: "age_seconds"}:                         {Latest: 3},
		{Namespace: "decode", Name: "messages"}:                                 {Sum: 5},
		{Namespace: "elsewhere", Name: "messages"}:                              {Sum: 99},
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector{func() map[counters.Name]counters.Value { return values }})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	got := make(map[string]string)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "beamcdc_monitortest_") || f.GetName() == "beamcdc_decode_messages_total" || f.GetName() == "beamcdc_keyed_events_total" {
			for _, m := range f.GetMetric() {
				got[f.GetName()] += m.String()
			}
		}
	}
	want := map[string]string{
		"beamcdc_decode_messages_total":           `counter:{value:5}`,
		"beamcdc_keyed_events_total":              `counter:{value:0}`,
		"beamcdc_monitortest_age_seconds":         `gauge:{value:3}`,
		"beamcdc_monitortest_lag_seconds":         `histogram:{sample_count:6 sample_sum:5.5 bucket:{cumulative_count:1 upper_bound:0.01} bucket:{cumulative_count:4 upper_bound:1}}`,
		"beamcdc_monitortest_lag_seconds_min":     `gauge:{value:0.005}`,
		"beamcdc_monitortest_lag_seconds_max":     `gauge:{value:4}`,
		"beamcdc_monitortest_request_bytes":       `summary:{sample_count:2 sample_sum:30}`,
		"beamcdc_monitortest_request_bytes_min":   `gauge:{value:10}`,
		"beamcdc_monitortest_request_bytes_max":   `gauge:{value:20}`,
		"beamcdc_monitortest_rows_by_table_total": `label:{name:"outcome" value:"acknowledged"} label:{name:"table" value:"p.d.\"t\"_"} counter:{value:7}`,
	}
	for name, text := range got {
		got[name] = strings.Join(strings.Fields(text), " ") // protobuf's text has one space or two, at random
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// job is a Job that says what a test has it say.
type job struct {
	source  pubsubsource.Counts
	since   time.Time
	trouble error
	done    chan struct{}
	err     error
}

func (j *job) Source() pubsubsource.Counts       { return j.source }
func (j *job) SourceTrouble() (time.Time, error) { return j.since, j.trouble }
func (j *job) Done() <-chan struct{}             { return j.done }
func (j *job) Result() (direct.Counts, error)    { return direct.Counts{}, j.err }
func ended() chan struct{}                       { c := make(chan struct{}); close(c); return c }

func TestHealth(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, test := range map[string]struct {
		job  *job
		want string // of the reason; "" is healthy
	}{
		"not started":                  {nil, "starting"},
		"idle":                         {&job{}, ""},
		"idle for long":                {&job{source: pubsubsource.Counts{Taken: 9, Acked: 9, LastAcked: ago(time.Hour)}}, ""},
		"working":                      {&job{source: pubsubsource.Counts{Outstanding: 5, OldestTaken: ago(time.Second)}}, ""},
		"one waits while others rest":  {&job{source: pubsubsource.Counts{Outstanding: 5, OldestTaken: ago(time.Hour), LastAcked: ago(time.Second)}}, ""},
		"taken after a long rest":      {&job{source: pubsubsource.Counts{Outstanding: 5, OldestTaken: ago(time.Second), LastAcked: ago(time.Hour)}}, ""},
		"nothing acked":                {&job{source: pubsubsource.Counts{Outstanding: 5, OldestTaken: ago(2 * time.Minute), LastAcked: ago(3 * time.Minute)}}, "nothing was acked for 2m0s while 5 messages are outstanding"},
		"nothing ever acked":           {&job{source: pubsubsource.Counts{Outstanding: 5, OldestTaken: ago(2 * time.Minute)}}, "nothing was acked for 2m0s"},
		"acks have stopped":            {&job{source: pubsubsource.Counts{Outstanding: 5, OldestTaken: ago(9 * time.Minute), LastAcked: ago(2 * time.Minute)}}, "nothing was acked for 2m0s"},
		"Pub/Sub is away for a moment": {&job{since: ago(time.Second), trouble: errors.New("refused")}, ""},
		"Pub/Sub is away":              {&job{since: ago(2 * time.Minute), trouble: errors.New("refused")}, "no message has come for 2m0s: refused"},
		"failed":                       {&job{done: ended(), err: errors.New("no primary key")}, "the job failed: no primary key"},
		"ended":                        {&job{done: ended()}, "the job has ended"},
	} {
		h := &health{patience: time.Minute}
		if test.job != nil {
			h.watch(test.job)
		}
		got := h.now(now)
		if healthy := got.Status == OK; healthy != (test.want == "") || !strings.HasPrefix(got.Reason, test.want) || healthy && got.Reason != "" {
			t.Errorf("%s: got %+v, want %q", name, got, test.want)
		}
	}
}

func TestServer(t *testing.T) {
	s, err := Start("127.0.0.1:0", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + s.Addr() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	if status, text := get("/healthz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "starting") {
		t.Errorf("before the job: %d %s", status, text)
	}
	if _, text := get("/metrics"); !strings.Contains(text, "\nbeamcdc_healthy 0\n") || !strings.Contains(text, "\ngo_goroutines ") {
		t.Errorf("metrics before the job:\n%s", text)
	}
	s.Watch(&job{source: pubsubsource.Counts{Taken: 3, Acked: 2, Outstanding: 1, OldestTaken: time.Now()}})
	status, text := get("/healthz")
	var state Health
	if err := json.Unmarshal([]byte(text), &state); err != nil || status != http.StatusOK || state != (Health{Status: OK, Taken: 3, Acked: 2, Outstanding: 1}) {
		t.Errorf("while it runs: %d %s, error %v", status, text, err)
	}
	if status, _ := get("/"); status != http.StatusNotFound {
		t.Errorf("/ answers %d", status)
	}
	if response, err := http.Post("http://"+s.Addr()+"/healthz", "text/plain", nil); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST answers %v, error %v", response, err)
	} else {
		_ = response.Body.Close()
	}
}

func TestCheckAddress(t *testing.T) {
	for address, want := range map[string]string{
		":9090": "127.0.0.1:9090", "0.0.0.0:9090": "0.0.0.0:9090", "[::1]:0": "[::1]:0", "9090": "", "a:b:c": "",
	} {
		got, err := CheckAddress(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, error %v, want %q", address, got, err, want)
		}
	}
}
