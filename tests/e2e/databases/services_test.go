package databases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/cmd/local/embeddedpubsub"
	"beamcdc/emulator"
)

const (
	topic        = "projects/demo/topics/changes"
	deadTopic    = "projects/demo/topics/dead"
	subscription = "projects/demo/subscriptions/changes"
	dataset      = "mirror"
)

// launchBinary is cmd/launch, built once.
var launchBinary struct {
	once      sync.Once
	directory string
	err       error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if launchBinary.directory != "" {
		_ = os.RemoveAll(launchBinary.directory)
	}
	os.Exit(code)
}

func launchPath(t testing.TB) string {
	t.Helper()
	b := &launchBinary
	b.once.Do(func() {
		if b.directory, b.err = os.MkdirTemp("", "beamcdc-databases-*"); b.err != nil { //nolint:usetesting // it outlives the test
			return
		}
		out, err := exec.Command("go", "build", "-o", filepath.Join(b.directory, "launch"), "beamcdc/cmd/launch").CombinedOutput()
		if err != nil {
			b.err = errors.New(err.Error() + "\n" + string(out))
		}
	})
	if b.err != nil {
		t.Fatalf("building cmd/launch: %v", b.err)
	}
	return filepath.Join(b.directory, "launch")
}

// services are a Pub/Sub and a BigQuery, which outlive the pipeline between them.
type services struct {
	t         testing.TB
	pubsub    *embeddedpubsub.Server
	bigquery  *emulator.Server
	config    string // the configuration's file
	launched  *process
	counts    bytes.Buffer // what it printed
	published atomic.Int64
	looked    int64    // how many were published when the backlog was last looked at
	forgotten int64    // how many were when Pub/Sub last forgot its messages
	dead      []letter // of forgotten messages
}

func startServices(t testing.TB, config string) *services {
	t.Helper()
	launchPath(t) // before anything flows
	s := &services{t: t, config: filepath.Join(t.TempDir(), "pipeline.yaml")}
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.pubsub, err = embeddedpubsub.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pubsub.Close)
	ctx := context.Background()
	err = errors.Join(
		s.pubsub.CreateTopic(ctx, topic), s.pubsub.CreateTopic(ctx, deadTopic), s.pubsub.CreateSubscription(ctx, subscription, topic))
	if err != nil {
		t.Fatal(err)
	}
	if s.bigquery, err = emulator.New(emulator.Options{Project: "demo"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.bigquery.Close() }) // its tables are of no more use
	return s
}

// The embedded Pub/Sub slows down with what is unacked, so publishing waits
// beyond this; it looks after so many messages. And it keeps all messages for
// ever: after so many, once all are acked, it is made to forget them.
const (
	maxBacklog = 20_000
	lookEach   = 5_000
	forgetEach = 40_000
)

// publish publishes what a connector has captured. One connector at a time may call it.
func (s *services) publish(messages []*pubsubpb.PubsubMessage) {
	if err := s.pubsub.Publish(context.Background(), topic, messages...); err != nil {
		s.t.Error(err)
	}
	n := s.published.Add(int64(len(messages)))
	if n-s.looked < lookEach {
		return
	}
	s.looked = n
	room := maxBacklog
	if n-s.forgotten >= forgetEach {
		room = 0
	}
	for deadline := time.Now().Add(patience); s.pubsub.Unacked(topic) > room; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Logf("%d messages are unacked after %s", s.pubsub.Unacked(topic), patience)
			return
		}
	}
	if room == 0 {
		s.dead = append(s.dead, s.letters()...)
		s.pubsub.Forget()
		s.forgotten = n
	}
}

// launch runs the pipeline.
func (s *services) launch() {
	s.t.Helper()
	self := account{uid: os.Getuid(), gid: os.Getgid()}
	command := self.command(syscall.SIGKILL, launchPath(s.t), "--config", s.config, "--runner", "direct",
		"--bigquery_rest_endpoint", s.bigquery.RESTAddr(), "--bigquery_grpc_endpoint", s.bigquery.GRPCAddr())
	command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+s.pubsub.Addr, "TMPDIR="+s.t.TempDir())
	s.counts.Reset()
	command.Stdout = &s.counts
	s.launched = start(s.t, "launch", command)
}

// kill ends the pipeline at once.
func (s *services) kill() { s.launched.end(syscall.SIGKILL) }

// acked waits until all messages are acked.
func (s *services) acked() {
	s.t.Helper()
	for unacked, last := -1, -1; unacked != 0; last = unacked {
		// Each wait is for some progress: how long all take depends on the machine.
		waitFor(s.t, "messages to be acked", func() bool {
			unacked = s.pubsub.Unacked(topic)
			return unacked == 0 || unacked != last
		}, s.launched)
	}
}

// stop waits until all messages are acked and stops the pipeline, whose counts
// must add up: nothing vanishes.
func (s *services) stop() {
	s.t.Helper()
	s.acked()
	s.launched.end(syscall.SIGTERM)
	if code := s.launched.command.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("cmd/launch exited with %d after SIGTERM:\n%s", code, s.launched.said.String())
	}
	var c map[string]int64
	if err := json.Unmarshal(s.counts.Bytes(), &c); err != nil {
		s.t.Fatalf("cmd/launch printed no counts: %v\n%s", err, s.counts.String())
	}
	if c["messages"]+c["extra_changes"]+c["key_changes"]+c["rows_completed_again"] !=
		c["rows_upserted"]+c["rows_deleted"]+c["superseded"]+c["filtered"]+c["control"]+c["truncates"]+c["dead_letters"]+c["waiting"] {
		s.t.Errorf("the counts don't add up: %v", c)
	}
	s.t.Logf("counts since the pipeline's last start: %v", c)
}

// letter is a dead letter.
type letter struct {
	stage, reason, text, data, key string // key is the message's ordering key
}

// allLetters returns all dead letters, once nothing is published any more.
func (s *services) allLetters() []letter { return append(s.dead, s.letters()...) }

func (s *services) letters() []letter {
	var letters []letter
	for _, m := range s.pubsub.Messages(deadTopic) {
		letters = append(letters, letter{
			stage: m.Attributes["beamcdc_stage"], reason: m.Attributes["beamcdc_reason"], text: m.Attributes["beamcdc_error"],
			data: string(m.Data), key: m.Attributes["beamcdc_ordering_key"],
		})
	}
	return letters
}

// rows returns a table's rows in BigQuery, each as the members of its JSON object.
func (s *services) rows(table string) []map[string]any {
	s.t.Helper()
	texts, err := s.bigquery.Rows(context.Background(), dataset, table)
	if err != nil {
		s.t.Fatal(err)
	}
	rows := make([]map[string]any, len(texts))
	for i, text := range texts {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		if err := decoder.Decode(&rows[i]); err != nil {
			s.t.Fatalf("table %s, row %d: %v", table, i, err)
		}
	}
	return rows
}
