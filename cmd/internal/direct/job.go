// Package direct runs the pipeline in this process, on Beam's Prism runner: what
// cmd/launch and cmd/local have in common.
//
// A job runs until it is drained, or fails. Prism repeats no bundle, so that the
// first error that the graph returns ends the job; what was not acked comes again
// with the next one.
package direct

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized" // calls of common signatures without reflection

	"beamcdc/internal/counters"
	"beamcdc/internal/prism"
	"beamcdc/pipeline"
	"beamcdc/transforms/pubsubsource"
)

// closeFor bounds the wait for the last acks. Those that don't make it are no
// loss: their messages come again.
const closeFor = 10 * time.Second

// Job is a pipeline that runs.
type Job struct {
	source pubsubsource.Config
	before counters.Snapshot // when the job began
	rows   bool              // dead letters go to a table
	done   chan struct{}
	counts Counts
	err    error
}

// Start builds the graph and runs it. Beam must be initialized, the options valid
// and checked. A process runs one job at a time.
func Start(o pipeline.Options) *Job { return StartOn(prism.Runner, o) }

// StartOn is [Start] on a runner of this name in another process, whose workers are
// in this one: what Beam calls loopback.
func StartOn(runner string, o pipeline.Options) *Job {
	j := &Job{
		source: o.SourceConfig(),
		before: counters.Now(),
		rows:   o.DeadLetters.Table != "",
		done:   make(chan struct{}),
	}
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, o)
	go func() {
		defer close(j.done)
		j.run(runner, p)
	}()
	return j
}

// Drain ends the taking of messages: what was taken is finished, then the job ends.
func (j *Job) Drain() { pubsubsource.Drain(j.source) }

// Done is closed when the job has ended and its last acks are at Pub/Sub.
func (j *Job) Done() <-chan struct{} { return j.done }

// Result returns what became of the messages, and why the job failed, if it did.
// It waits for the job's end. A failed job has no counts.
func (j *Job) Result() (Counts, error) {
	<-j.done
	return j.counts, j.err
}

// Source returns what the job has taken and acked up to now.
func (j *Job) Source() pubsubsource.Counts { return pubsubsource.Stats(j.source) }

// SourceTrouble returns what keeps messages from coming, and since when; nil if nothing
// does.
func (j *Job) SourceTrouble() (since time.Time, trouble error) { return pubsubsource.Trouble(j.source) }

func (j *Job) run(runner string, p *beam.Pipeline) {
	// Beam's client leaves a file in the temporary directory for every job.
	directory, err := os.MkdirTemp("", "beamcdc-*")
	if err != nil {
		j.err = fmt.Errorf("starting the job: %w", err)
		return
	}
	restore := setTemporary(directory)
	err = prism.Run(context.Background(), runner, p)
	restore()
	_ = os.RemoveAll(directory) // what can't be removed is the system's to clean up

	ctx, cancel := context.WithTimeout(context.Background(), closeFor)
	defer cancel()
	closeErr := pubsubsource.Close(ctx, j.source)
	switch {
	case err != nil:
		j.err = fmt.Errorf("running the pipeline: %w", reasonOf(err))
		return
	case closeErr != nil:
		j.err = fmt.Errorf("ending the subscription's streams: %w", closeErr)
	}
	j.counts = countsOf(j.before.Since(), j.rows)
}

// setTemporary makes directory the process's temporary one, and returns what undoes it.
func setTemporary(directory string) (restore func()) {
	const name = "TMPDIR" // of Unix; elsewhere it is without effect
	old, set := os.LookupEnv(name)
	_ = os.Setenv(name, directory) // it fails for malformed names alone
	return func() {
		if set {
			_ = os.Setenv(name, old)
		} else {
			_ = os.Unsetenv(name)
		}
	}
}
