package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/internal/messagefile"
)

// These run the pipeline as on Flink: the job goes to a job server in a process of its
// own, by Beam's portable protocol, and the workers are in cmd/launch (LOOPBACK). The
// engine behind the job server is Beam's Prism; Flink's is not run here.

// engine is a standalone Prism.
type engine struct {
	process *launched // of its command and what it prints
	address string
}

var servesJobs = regexp.MustCompile(`Serving JobManagement.*localhost:(\d+)`)

func startEngine(t testing.TB) *engine {
	t.Helper()
	skipShort(t)
	e := &engine{process: &launched{t: t, ended: make(chan struct{})}}
	e.process.command = exec.Command(binary(t, "prism"), "-job_port", "0", "-serve_http=false", "-log_kind", "text")
	e.process.command.Stdout, e.process.command.Stderr = &e.process.stdout, &e.process.stderr
	if err := e.process.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(e.process.ended)
		_ = e.process.command.Wait() // it is killed
	}()
	t.Cleanup(func() { e.process.signal(syscall.SIGKILL); <-e.process.ended })
	e.process.waitFor("the job server's address", func() bool {
		if found := servesJobs.FindStringSubmatch(e.process.stderr.String()); found != nil {
			e.address = "127.0.0.1:" + found[1]
		}
		return e.address != ""
	})
	return e
}

func (s *services) launchOn(e *engine, args ...string) *launched {
	return s.launch(append([]string{"--runner", "flink", "--endpoint", e.address, "--environment_type", "LOOPBACK"}, args...)...)
}

// The demo leaves the same tables and the same counts as on one machine.
func TestPortable_demo(t *testing.T) {
	t.Parallel() // it waits more than it works
	e := startEngine(t)
	const demo = "../../examples/shop/messages.jsonl"
	config, err := os.ReadFile("../../examples/shop/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := runLocal(t, string(config), nil, "-messages", demo)
	s := startServices(t, string(config))
	messages, err := messagefile.Open(demo, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.pubsub.Publish(context.Background(), launchTopic, messages...); err != nil {
		t.Fatal(err)
	}
	l := s.launchOn(e, "--subscription", subscription, "--dead_letter_topic", launchDead)
	s.waitAcked(l)
	counts := l.stop()
	for name, rows := range want.Tables {
		dataset, table, _ := strings.Cut(name, ".")
		stored, err := s.bigquery.Rows(context.Background(), dataset, table)
		if err != nil {
			t.Fatal(err)
		}
		got := []row{}
		for _, text := range stored {
			got = append(got, decodeRow(t, string(text)))
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Errorf("%s, -on one machine +on the engine:\n%s", name, diff)
		}
	}
	if log := e.process.stderr.String(); !strings.Contains(log, "job-001") {
		t.Errorf("the engine ran no job:\n%s", log)
	}
	if letters := s.pubsub.Messages(launchDead); len(letters) != len(want.DeadLetters) {
		t.Errorf("%d dead letters, want %d", len(letters), len(want.DeadLetters))
	}
	if !balanced(counts) || counts["messages"] != want.Counts["messages"] || counts["dead_letters"] != want.Counts["dead_letters"] {
		t.Errorf("counts %v, on one machine %v", counts, want.Counts)
	}
}

// Random changes of some hundred orders, while the process with the workers is killed
// again and again, and once the engine too: nothing is lost, and the table is the source's.
func TestPortable_kill(t *testing.T) {
	t.Parallel() // it waits more than it works
	e := startEngine(t)
	s := startServices(t, fmt.Sprintf(ordersConfig, "100ms"))
	var want map[int]string
	var poison int
	flowing := make(chan struct{})
	go func() {
		defer close(flowing)
		want, poison = s.traffic(2000, 40*time.Millisecond)
	}()
	for kills, done := 0, false; !done; kills++ {
		l := s.launchOn(e)
		select {
		case <-flowing:
			done = true
		case <-l.ended:
			t.Fatalf("cmd/launch ended by itself\n%s", l.stderr.String())
		case <-time.After(time.Duration(500+rand.IntN(1500)) * time.Millisecond):
		}
		if kills == 2 {
			e.process.signal(syscall.SIGKILL)
			<-e.process.ended
			// Whoever watches the process has to start it again: it must not go on as if all were well.
			if status := l.waitEnd(); status == 0 {
				t.Errorf("cmd/launch exited with 0 when its engine was gone\n%s", l.stderr.String())
			}
			e = startEngine(t)
		}
		l.signal(syscall.SIGKILL)
		<-l.ended
	}
	l := s.launchOn(e)
	s.waitAcked(l)
	if counts := l.stop(); !balanced(counts) {
		t.Errorf("the counts of the last run don't add up: %v", counts)
	}
	if diff := cmp.Diff(want, s.orders()); diff != "" {
		t.Errorf("orders, -want +got:\n%s", diff)
	}
	if letters := slices.Collect(maps.Keys(s.deadLetters())); len(letters) != poison {
		t.Errorf("%d messages were dead-lettered, want %d: %q", len(letters), poison, letters)
	}
}
