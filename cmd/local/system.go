package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/cmd/internal/direct"
	"beamcdc/cmd/internal/monitor"
	"beamcdc/cmd/local/embeddedpubsub"
	"beamcdc/emulator"
	"beamcdc/internal/logs"
	"beamcdc/pipeline"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/pubsubsource"
)

// system is the whole system in this process. run may be called once.
type system struct {
	options  pipeline.Options
	db       string // the emulator's file; "" for memory
	serve    bool   // go on until a signal comes
	signals  <-chan os.Signal
	progress *progress
	notes    io.Writer // where -serve's addresses go
	told     *direct.Notes
	metrics  string          // where they are served; "" for nowhere
	watcher  *monitor.Server // nil where they aren't

	project  string // of the subscription
	topic    string // that the messages are published to
	pubsub   *embeddedpubsub.Server
	bigquery *emulator.Server
	opener   *deadletter.Opener // of encrypted dead letters; nil for none
	started  time.Time
}

// errInterrupted ends a run that is not told to serve.
var errInterrupted = errors.New("interrupted before all messages were acked")

// run starts everything, publishes the messages, runs the pipeline until all of
// them are acked, or a signal ends -serve, and returns what there is then.
func (s *system) run(messages []*pubsubpb.PubsubMessage) (r result, err error) {
	ctx := context.Background()
	s.started = time.Now()
	defer s.progress.clear()
	s.progress.show("starting …")
	remove, err := s.defaultDeadLetters()
	if err != nil {
		return result{}, err
	}
	defer remove()
	if err := s.options.Validate(); err != nil {
		return result{}, err
	}
	if err := s.startServers(ctx); err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	direct.Init(s.told.W, "warn", s.told.Format)
	if s.metrics != "" {
		if s.watcher, err = monitor.Start(s.metrics, monitor.Patience(monitor.DefaultPatience, &s.options)); err != nil {
			return result{}, usageErrorf("-metrics: %w", err)
		}
		defer func() { _ = s.watcher.Close() }() // nobody waits for an answer any more
		s.told.Tell(slog.LevelInfo, "serving http://"+s.watcher.Addr()+"/metrics and /healthz", logs.Address.Of(s.watcher.Addr()))
	}
	if err := errors.Join(pipeline.Check(ctx, s.options)...); err != nil {
		return result{}, err
	}
	if err := s.pubsub.Publish(ctx, s.topic, messages...); err != nil {
		return result{}, err
	}
	if s.serve {
		s.tellAddresses()
	}
	r.Counts, err = s.runPipeline(len(messages))
	if err != nil {
		return result{}, err
	}
	if r.Tables, err = s.tables(ctx); err != nil {
		return result{}, err
	}
	if r.Letters, err = s.letters(ctx); err != nil {
		return result{}, err
	}
	return r, nil
}

// defaultDeadLetters gives the dead letters a directory, removed at the end, if
// the configuration names no place for them.
func (s *system) defaultDeadLetters() (remove func(), err error) {
	if to := s.options.DeadLetters; to.Topic != "" || to.Table != "" || to.Directory != "" {
		return func() {}, nil
	}
	directory, err := os.MkdirTemp("", "beamcdc-dead-letters-*")
	if err != nil {
		return nil, fmt.Errorf("making a directory for dead letters: %w", err)
	}
	s.options.DeadLetters.Directory = directory
	return func() { _ = os.RemoveAll(directory) }, nil // what can't be removed is the system's to clean up
}

// startServers starts Pub/Sub and the emulator, and points the pipeline at them.
func (s *system) startServers(ctx context.Context) error {
	project, subscription, err := pubsubsource.ParseSubscription(s.options.Source.Subscription)
	if err != nil {
		return err // Validate has seen it
	}
	s.project, s.topic = project, "projects/"+project+"/topics/"+subscription
	if s.topic == s.options.DeadLetters.Topic {
		s.topic += "-messages"
	}
	if s.pubsub, err = embeddedpubsub.Start("127.0.0.1:0"); err != nil {
		return err
	}
	err = s.pubsub.CreateTopic(ctx, s.topic)
	if err == nil {
		err = s.pubsub.CreateSubscription(ctx, s.options.Source.Subscription, s.topic)
	}
	if err == nil && s.options.DeadLetters.Topic != "" {
		err = s.pubsub.CreateTopic(ctx, s.options.DeadLetters.Topic)
		if err == nil && s.serve { // it has what is published after it was made
			err = s.pubsub.CreateSubscription(ctx, s.lettersSubscription(), s.options.DeadLetters.Topic)
		}
	}
	if err == nil {
		s.bigquery, err = emulator.New(emulator.Options{Project: s.tableProject(), DB: s.db})
	}
	if err != nil {
		s.pubsub.Close()
		return fmt.Errorf("starting the embedded services: %w", err)
	}
	runtime := &s.options.Runtime
	runtime.PubSubEndpoint, runtime.PubSubPlaintext = s.pubsub.Addr, true
	runtime.BigQueryRESTEndpoint, runtime.BigQueryGRPCEndpoint = s.bigquery.RESTAddr(), s.bigquery.GRPCAddr()
	runtime.BigQueryPlaintext = true
	return nil
}

// tableProject is the project of tables that name none.
func (s *system) tableProject() string {
	if s.options.Runtime.Project != "" {
		return s.options.Runtime.Project
	}
	return s.project
}

func (s *system) close() error {
	s.pubsub.Close()
	if err := s.bigquery.Close(); err != nil {
		return fmt.Errorf("closing the emulator: %w", err)
	}
	return nil
}

// lettersSubscription is the subscription that shows the dead letters of a topic.
func (s *system) lettersSubscription() string {
	name := strings.Replace(s.options.DeadLetters.Topic, "/topics/", "/subscriptions/", 1)
	if name == s.options.Source.Subscription {
		name += "-letters"
	}
	return name
}

func (s *system) tellAddresses() {
	tables := s.literals()
	width := len("  Storage Write")
	for _, m := range tables {
		width = max(width, len("  "+m.Name.Dataset+"."+m.Name.Table))
	}
	var text strings.Builder
	tell := func(name, value string) { fmt.Fprintf(&text, "%-*s  %s\n", width, name, value) }
	tell("Pub/Sub", "PUBSUB_EMULATOR_HOST="+s.pubsub.Addr)
	tell("  publish to", s.topic)
	tell("  read from", s.options.Source.Subscription)
	if topic := s.options.DeadLetters.Topic; topic != "" {
		tell("  dead letters", topic+"; each is listed for ten minutes by")
		tell("", fmt.Sprintf("PUBSUB_EMULATOR_HOST=%s go run ./cmd/cdc dead-letters list -dead_letter_subscription %s", s.pubsub.Addr, s.lettersSubscription()))
	}
	tell("BigQuery", "project "+s.tableProject())
	tell("  REST", s.bigquery.RESTAddr())
	tell("  Storage Write", s.bigquery.GRPCAddr()+" (gRPC, plain text)")
	for _, m := range tables {
		tell("  "+m.Name.Dataset+"."+m.Name.Table, rowsURL(s.bigquery.RESTAddr(), m.Name))
	}
	text.WriteString("Interrupt to stop.\n")
	_, _ = io.WriteString(s.notes, text.String()) // there is nobody else to tell
}

// maxRounds bounds how often the pipeline is run anew for messages that a run has
// left unacked: those that were on their way when it was drained.
const maxRounds = 5

// runPipeline runs the pipeline until the messages are acked or, with -serve, a
// signal comes.
func (s *system) runPipeline(published int) (direct.Counts, error) {
	var counts direct.Counts
	remaining := published
	for round := 1; ; round++ {
		job := direct.Start(s.options)
		s.watcher.Watch(job)
		if err := s.follow(job, published, remaining); err != nil {
			return direct.Counts{}, err
		}
		c, err := job.Result()
		if err != nil {
			return direct.Counts{}, err
		}
		counts.Add(c)
		remaining = s.pubsub.Unacked(s.topic)
		switch {
		case remaining == 0, s.serve:
			return counts, nil
		case round == maxRounds:
			return direct.Counts{}, fmt.Errorf("%d of %d messages are still unacked after %d runs of the pipeline", remaining, published, round)
		}
	}
}

// follow drains the job once it has taken everything, so that nobody waits for
// the end of a window, and returns when it has ended. Where messages come until a
// signal, it waits for that.
func (s *system) follow(job *direct.Job, published, remaining int) error {
	const interval = 10 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	drained := false
	var taken time.Time // when everything had been
	for {
		select {
		case <-job.Done():
			return nil
		case <-s.signals:
			if !s.serve || drained {
				return errInterrupted
			}
			drained = true
			job.Drain()
		case <-ticker.C:
			source := job.Source()
			s.progress.show("%s of %s messages taken, %s acked", thousands(int64(source.Taken)), thousands(published), thousands(int64(source.Acked)))
			if drained || s.serve || int(source.Taken) < remaining {
				continue
			}
			if taken.IsZero() {
				taken = time.Now()
			}
			// A change that waits for what completes its row ends waiting while the job
			// runs, not while it drains.
			if time.Since(taken) >= s.options.HoldsFor() || int(source.Acked) >= remaining {
				drained = true
				job.Drain()
			}
		}
	}
}
