package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"beamcdc/emulator"
)

// scraped is what /metrics answered.
type scraped map[string]*dto.MetricFamily

// scrape asks for /metrics as Prometheus does.
func scrape(t testing.TB, address string) scraped {
	t.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("/metrics answers %s, error %v", response.Status, err)
	}
	return families
}

// sum adds up a counter, of those series that have these labels.
func (s scraped) sum(name string, labels ...string) int64 {
	var sum float64
	for _, m := range s["beamcdc_"+name].GetMetric() {
		matches := 0
		for i := 0; i < len(labels); i += 2 {
			for _, l := range m.GetLabel() {
				if l.GetName() == labels[i] && l.GetValue() == labels[i+1] {
					matches++
				}
			}
		}
		if 2*matches == len(labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return int64(sum)
}

// values returns the values of a label.
func (s scraped) values(name, label string) []string {
	var values []string
	for _, m := range s["beamcdc_"+name].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label && !slices.Contains(values, l.GetValue()) {
				values = append(values, l.GetValue())
			}
		}
	}
	return values
}

func (s scraped) histogram(name string) (count, within int64) {
	for _, m := range s["beamcdc_"+name].GetMetric() {
		h := m.GetHistogram()
		return int64(h.GetSampleCount()), int64(h.GetBucket()[len(h.GetBucket())-2].GetCumulativeCount()) // the last is all
	}
	return 0, 0
}

// healthOf asks for /healthz.
func healthOf(t testing.TB, address string) (status int, reason string) {
	t.Helper()
	response, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var health struct{ Status, Reason string }
	if err := json.Unmarshal(text, &health); err != nil || (health.Status == "ok") != (response.StatusCode == http.StatusOK) {
		t.Fatalf("/healthz answers %s with %s, error %v", response.Status, text, err)
	}
	return response.StatusCode, health.Reason
}

// address returns where the process says in its log that it serves metrics.
func (l *launched) address() string {
	l.t.Helper()
	found := regexp.MustCompile(`"address":"([^"]+)"`)
	var match []string
	l.waitFor("the address of /metrics", func() bool {
		match = found.FindStringSubmatch(l.stderr.String())
		return match != nil
	})
	return match[1]
}

// What /metrics tells while the pipeline runs adds up to what was published, by table,
// type, outcome and reason, and to what the pipeline itself tells in the end.
func TestMetrics(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms"))
	l := s.launch("--metrics_address", "127.0.0.1:0", "--log_format", "json")
	address := l.address()
	const changes = 900
	want, poison := s.traffic(changes, time.Millisecond)
	s.publish(message{data: `{"before":null,"after":null}`}) // no envelope: a second reason
	published := int64(changes + poison + 1)
	s.waitAcked(l)
	var m scraped
	l.waitFor("the counts of the last bundles", func() bool {
		m = scrape(t, address)
		return m.sum("pubsubsource_messages_acked_total") == published
	})
	for name, is := range map[string][2]int64{
		"messages taken":          {m.sum("pubsubsource_messages_taken_total"), published},
		"messages decoded":        {m.sum("decode_messages_total"), published},
		"what they were":          {m.sum("decode_decoded_total") + m.sum("decode_control_total") + m.sum("decode_letters_total"), published},
		"events":                  {m.sum("keyed_events_total"), changes},
		"rows and superseded":     {m.sum("bqcdc_rows_upserted_total") + m.sum("bqcdc_rows_deleted_total") + m.sum("bqcdc_rows_superseded_total"), changes},
		"upserts by table":        {m.sum("bqcdc_rows_by_table_total", "change_type", "upsert", "outcome", "acknowledged", "table", "demo.shop.orders"), m.sum("bqcdc_rows_upserted_total")},
		"deletes by table":        {m.sum("bqcdc_rows_by_table_total", "change_type", "delete", "outcome", "acknowledged", "table", "demo.shop.orders"), m.sum("bqcdc_rows_deleted_total")},
		"superseded by table":     {m.sum("bqcdc_rows_by_table_total", "outcome", "superseded"), m.sum("bqcdc_rows_superseded_total")},
		"superseded, coalesced":   {m.sum("keyed_rows_superseded_total"), m.sum("bqcdc_rows_superseded_total")},
		"bytes saved":             {m.sum("keyed_superseded_bytes_total"), m.sum("bqcdc_superseded_bytes_total")},
		"dead letters":            {m.sum("deadletter_letters_total"), int64(poison + 1)},
		"dead letters by reason":  {m.sum("deadletter_letters_by_reason_total", "stage", "decode"), int64(poison + 1)},
		"dead letters by table":   {m.sum("deadletter_letters_by_table_total", "stage", "decode", "table", "unknown"), int64(poison + 1)},
		"bad JSON":                {m.sum("deadletter_letters_by_reason_total", "reason", "bad_json"), int64(poison)},
		"outstanding messages":    {m.sum("pubsubsource_outstanding_messages"), 0},
		"outstanding requests":    {m.sum("bqcdc_outstanding_requests"), 0},
		"health":                  {m.sum("healthy"), 1},
		"rows of other writers":   {m.sum("history_rows_appended_total"), 0},
		"requests were in flight": {min(1, m.sum("bqcdc_inflight_requests_max")), 1},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %d, want %d", name, is[0], is[1])
		}
	}
	rows := m.sum("bqcdc_rows_upserted_total") + m.sum("bqcdc_rows_deleted_total")
	for name, count := range map[string]int64{
		"bqcdc_publish_lag_seconds": rows, "bqcdc_append_latency_seconds": m.sum("bqcdc_requests_total"), "pubsubsource_ack_lag_seconds": published,
	} {
		if n, within := m.histogram(name); n != count || within != n {
			t.Errorf("%s: %d values, %d of them within an hour, want %d", name, n, within, count)
		}
	}
	if n, within := m.histogram("bqcdc_commit_lag_seconds"); n != rows || within != 0 { // the messages say to be of 2025
		t.Errorf("the commits' lag: %d values, %d of them within an hour, want %d of no such", n, within, rows)
	}
	if tables := m.values("bqcdc_rows_by_table_total", "table"); !slices.Equal(tables, []string{"demo.shop.orders"}) {
		t.Errorf("rows by table of %q", tables)
	}
	if got := s.orders(); len(got) != len(want) {
		t.Errorf("the table has %d rows, want %d", len(got), len(want))
	}
	counts := l.stop()
	for name, n := range map[string]int64{"rows_upserted": m.sum("bqcdc_rows_upserted_total"), "dead_letters": m.sum("deadletter_letters_total"), "bytes_appended": m.sum("bqcdc_appended_bytes_total")} {
		if counts[name] != n {
			t.Errorf("%s: /metrics said %d, the counts say %d", name, n, counts[name])
		}
	}
}

// /healthz turns to 503 while BigQuery is away and messages wait, and back. The log,
// each line of which is JSON, tells why in one line.
func TestHealth(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "50ms"))
	l := s.launch("--metrics_address", ":0", "--unhealthy_after", "1s", "--log_format", "json")
	address := l.address()
	if !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("without a host it listens at %s", address)
	}
	s.publish(placed(1))
	s.waitAcked(l)
	time.Sleep(2 * time.Second) // idle for longer than messages may wait
	if status, reason := healthOf(t, address); status != http.StatusOK {
		t.Errorf("while it has nothing to do: %d, %s", status, reason)
	}

	if err := s.bigquery.SetFaults([]emulator.Fault{{Effect: emulator.Effect{Code: "UNAVAILABLE"}}}); err != nil {
		t.Fatal(err)
	}
	s.publish(placed(2), placed(3))
	var reason string
	l.waitFor("503", func() (turned bool) {
		var status int
		status, reason = healthOf(t, address)
		return status == http.StatusServiceUnavailable
	})
	if !strings.Contains(reason, "2 messages are outstanding") {
		t.Errorf("the reason is %q", reason)
	}
	m := scrape(t, address)
	if m.sum("healthy") != 0 || m.sum("pubsubsource_outstanding_messages") != 2 || m.sum("bqcdc_outstanding_requests") == 0 || m.sum("pubsubsource_oldest_outstanding_seconds") == 0 {
		t.Errorf("healthy %d, %d messages and %d requests are outstanding, the oldest for %d s", m.sum("healthy"), m.sum("pubsubsource_outstanding_messages"),
			m.sum("bqcdc_outstanding_requests"), m.sum("pubsubsource_oldest_outstanding_seconds"))
	}
	if err := s.bigquery.SetFaults(nil); err != nil {
		t.Fatal(err)
	}
	s.waitAcked(l)
	l.waitFor("200", func() bool { status, _ := healthOf(t, address); return status == http.StatusOK })
	l.waitFor("the count of repeated requests", func() bool {
		return scrape(t, address).sum("bqcdc_repeats_total", "outcome", "transient") > 0
	})

	l.stop()
	told := 0
	for line := range strings.Lines(l.stderr.String()) {
		var of struct{ Time, Level, Msg, Table, Outcome, Error string }
		if err := json.Unmarshal([]byte(line), &of); err != nil || of.Time == "" || of.Level == "" || of.Msg == "" {
			t.Errorf("a line of the log is %s, error %v", line, err)
		}
		if of.Msg == "an append is sent again" && of.Level == "WARN" && of.Table == "demo.shop.orders" && of.Outcome == "transient" && of.Error != "" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the log tells of the fault in %d lines, want 1:\n%s", told, l.stderr.String())
	}
}

// cmd/local serves the same.
func TestLocal_metrics(t *testing.T) {
	t.Parallel() // it waits more than it works
	skipShort(t)
	command := exec.Command(binary(t, "local"), "-serve", "-output", "json", "-metrics", ":0")
	command.Stdout = io.Discard
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	address := readMatch(t, bufio.NewReader(stderr), `serving http://(\S+)/metrics`)
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	var m scraped
	for deadline := time.Now().Add(time.Minute); m.sum("pubsubsource_messages_acked_total") < 48; time.Sleep(50 * time.Millisecond) {
		if m = scrape(t, address); time.Now().After(deadline) {
			t.Fatalf("%d of 48 messages are acked", m.sum("pubsubsource_messages_acked_total"))
		}
	}
	// As README.md shows the demo.
	for name, n := range map[string]int64{
		"bqcdc_rows_deleted_total": 5, "decode_control_total": 4, "deadletter_letters_total": 2,
	} {
		if got := m.sum(name); got != n {
			t.Errorf("%s is %d, want %d", name, got, n)
		}
	}
	if n := m.sum("bqcdc_rows_upserted_total") + m.sum("bqcdc_rows_superseded_total"); n != 16+21 {
		t.Errorf("%d rows are upserted or superseded, want 37", n)
	}
	if tables := m.values("bqcdc_rows_by_table_total", "table"); len(tables) != 3 {
		t.Errorf("rows by table of %q", tables)
	}
	if status, reason := healthOf(t, address); status != http.StatusOK {
		t.Errorf("/healthz: %d, %s", status, reason)
	}
}
