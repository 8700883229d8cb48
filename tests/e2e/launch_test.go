package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"

	"beamcdc/cmd/local/embeddedpubsub"
	"beamcdc/emulator"
)

const (
	launchTopic  = "projects/demo/topics/changes"
	launchDead   = "projects/demo/topics/dead"
	subscription = "projects/demo/subscriptions/changes"
)

// services are a Pub/Sub and a BigQuery that outlive cmd/launch.
type services struct {
	t        testing.TB
	pubsub   *embeddedpubsub.Server
	bigquery *emulator.Server
	config   string // the configuration's file
}

func startServices(t testing.TB, config string) *services {
	t.Helper()
	skipShort(t)
	binary(t, "launch") // before anything flows
	s, err := newServices()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	s.t, s.config = t, filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func newServices() (*services, error) {
	s := new(services)
	var err error
	if s.pubsub, err = embeddedpubsub.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	ctx := context.Background()
	err = errors.Join(
		s.pubsub.CreateTopic(ctx, launchTopic), s.pubsub.CreateTopic(ctx, launchDead), s.pubsub.CreateSubscription(ctx, subscription, launchTopic))
	if err == nil {
		s.bigquery, err = emulator.New(emulator.Options{Project: "demo"})
	}
	if err != nil {
		s.pubsub.Close()
		return nil, err
	}
	return s, nil
}

func (s *services) close() {
	s.pubsub.Close()
	_ = s.bigquery.Close() // its tables are of no more use
}

func (s *services) publish(messages ...message) {
	s.t.Helper()
	published := make([]*pubsubpb.PubsubMessage, len(messages))
	for i, m := range messages {
		published[i] = &pubsubpb.PubsubMessage{Data: []byte(m.data), OrderingKey: m.orderingKey, Attributes: m.attributes}
	}
	if err := s.pubsub.Publish(context.Background(), launchTopic, published...); err != nil {
		s.t.Error(err)
	}
}

// launched is a running cmd/launch.
type launched struct {
	t              testing.TB
	command        *exec.Cmd
	stdout, stderr printed
	ended          chan struct{}
}

// printed is what a process prints, which a test may read while it runs.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(some []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(some)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (s *services) launch(args ...string) *launched {
	s.t.Helper()
	l := &launched{t: s.t, ended: make(chan struct{})}
	l.command = exec.Command(binary(s.t, "launch"), append([]string{
		"--config", s.config, "--runner", "direct",
		"--bigquery_rest_endpoint", s.bigquery.RESTAddr(), "--bigquery_grpc_endpoint", s.bigquery.GRPCAddr(),
	}, args...)...)
	l.command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+s.pubsub.Addr, "TMPDIR="+s.t.TempDir())
	l.command.Stdout, l.command.Stderr = &l.stdout, &l.stderr
	if err := l.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(l.ended)
		_ = l.command.Wait() // the state tells
	}()
	s.t.Cleanup(func() { l.signal(syscall.SIGKILL); <-l.ended })
	return l
}

func (l *launched) signal(sig os.Signal) { _ = l.command.Process.Signal(sig) } // it may have ended

// stop asks it to stop, and returns the counts that it prints.
func (l *launched) stop() map[string]int64 {
	l.t.Helper()
	l.signal(syscall.SIGTERM)
	select {
	case <-l.ended:
	case <-time.After(time.Minute):
		l.t.Fatalf("cmd/launch has not stopped a minute after SIGTERM\n%s", l.stderr.String())
	}
	if code := l.command.ProcessState.ExitCode(); code != 0 {
		l.t.Fatalf("cmd/launch exited with %d after SIGTERM\n%s", code, l.stderr.String())
	}
	var counts map[string]int64
	if err := json.Unmarshal([]byte(l.stdout.String()), &counts); err != nil {
		l.t.Fatalf("cmd/launch printed no counts: %v\n%s", err, l.stdout.String())
	}
	return counts
}

// waitAcked waits until every message is acked, while the process runs.
func (s *services) waitAcked(l *launched) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		unacked := s.pubsub.Unacked(launchTopic)
		if unacked == 0 {
			return
		}
		select {
		case <-l.ended:
			s.t.Fatalf("cmd/launch ended with %d messages unacked\n%s", unacked, l.stderr.String())
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d messages are still unacked\n%s", unacked, l.stderr.String())
		}
	}
}

// orders returns the statuses of shop.orders by key.
func (s *services) orders() map[int]string {
	s.t.Helper()
	rows, err := s.bigquery.Rows(context.Background(), "shop", "orders")
	if err != nil {
		s.t.Fatal(err)
	}
	orders := make(map[int]string, len(rows))
	for _, text := range rows {
		r := decodeRow(s.t, string(text))
		key, err := strconv.Atoi(r["order_id"].(string))
		if err != nil {
			s.t.Fatal(err)
		}
		orders[key] = r["status"].(string)
	}
	return orders
}

// balanced reports whether the counts add up (invariant 4).
func balanced(c map[string]int64) bool {
	return c["messages"]+c["extra_changes"]+c["key_changes"]+c["rows_completed_again"] ==
		c["rows_upserted"]+c["rows_deleted"]+c["superseded"]+c["filtered"]+c["control"]+c["truncates"]+c["dead_letters"]-c["history_letters"]+c["waiting"]
}

// traffic publishes the changes of some hundred orders, a poison message now and
// then, and returns what the table must hold in the end.
func (s *services) traffic(changes int, pause time.Duration) (want map[int]string, poison int) {
	const orders = 200
	want = map[int]string{}
	for i := range changes {
		key := 1 + rand.IntN(orders)
		c := pgChange{table: "public.orders", key: fmt.Sprintf(`{"order_id":%d}`, key), lastCommit: uint64(1000 + 10*i), lsn: uint64(1005 + 10*i)}
		if _, there := want[key]; there && rand.IntN(5) == 0 {
			c.op, c.before = "d", fmt.Sprintf(`{"order_id":%d,"status":null}`, key)
			delete(want, key)
		} else {
			status := "s" + strconv.Itoa(i)
			c.op, c.after = "u", fmt.Sprintf(`{"order_id":%d,"status":%q}`, key, status)
			want[key] = status
		}
		s.publish(c.message())
		if i%500 == 250 {
			poison++
			s.publish(message{data: fmt.Sprintf(`{"poison":%d`, i)})
		}
		if i%20 == 0 {
			time.Sleep(pause)
		}
	}
	return want, poison
}

// deadLetters returns how often each message was dead-lettered, by its data.
func (s *services) deadLetters() map[string]int {
	letters := map[string]int{}
	for _, m := range s.pubsub.Messages(launchDead) {
		letters[string(m.Data)]++
	}
	return letters
}

// Killed at any instant, again and again, while messages flow, and started again
// against the same Pub/Sub and BigQuery, the pipeline loses nothing (invariant 1),
// and the table is right.
func TestKill(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "100ms"))
	var want map[int]string
	var poison int
	flowing := make(chan struct{})
	go func() {
		defer close(flowing)
		want, poison = s.traffic(6000, 20*time.Millisecond)
	}()
	kills := 0
	for done := false; !done; {
		l := s.launch()
		select {
		case <-flowing:
			done = true
		case <-l.ended:
			t.Fatalf("cmd/launch ended by itself\n%s", l.stderr.String())
		case <-time.After(time.Duration(200+rand.IntN(1500)) * time.Millisecond):
		}
		l.signal(syscall.SIGKILL)
		<-l.ended
		kills++
	}
	t.Logf("killed %d times", kills)
	l := s.launch()
	s.waitAcked(l)
	counts := l.stop()
	if !balanced(counts) {
		t.Errorf("the counts of the last run don't add up: %v", counts)
	}
	if diff := cmp.Diff(want, s.orders()); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	letters := s.deadLetters()
	if len(letters) != poison {
		t.Errorf("%d messages were dead-lettered, want %d", len(letters), poison)
	}
	for data := range letters {
		if !strings.HasPrefix(data, `{"poison":`) {
			t.Errorf("a good message was dead-lettered: %s", data)
		}
	}
}

// Asked to stop while messages flow, it finishes what it has taken, leaves the
// rest unacked, and exits with 0: no message is delivered to its successor that
// was written already, and the counts of all runs add up to what was published.
func TestStop(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, fmt.Sprintf(ordersConfig, "100ms"))
	const changes = 4000
	var want map[int]string
	var poison int
	flowing := make(chan struct{})
	go func() {
		defer close(flowing)
		want, poison = s.traffic(changes, 60*time.Millisecond)
	}()
	total := map[string]int64{}
	add := func(counts map[string]int64) {
		if !balanced(counts) {
			t.Errorf("the counts don't add up: %v", counts)
		}
		for name, n := range counts {
			total[name] += n
		}
	}
	stops := 0
	for done := false; !done; stops++ {
		l := s.launch("--metrics_address", "127.0.0.1:0", "--log_format", "json")
		l.address() // it has started: before that, a signal ends it as any process
		select {
		case <-flowing:
			done = true
		case <-time.After(time.Duration(1000+rand.IntN(1000)) * time.Millisecond):
		}
		add(l.stop())
	}
	t.Logf("stopped %d times", stops)
	l := s.launch()
	s.waitAcked(l)
	add(l.stop())
	if diff := cmp.Diff(want, s.orders()); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	if n := total["messages"]; n != int64(changes+poison) {
		t.Errorf("%d messages were decoded, %d were published: a clean stop delivers none twice", n, changes+poison)
	}
	if n := total["dead_letters"]; n != int64(poison) || len(s.pubsub.Messages(launchDead)) != poison {
		t.Errorf("%d dead letters, %d of them in the topic, want %d", n, len(s.pubsub.Messages(launchDead)), poison)
	}
}
