// Command launch runs the pipeline: in this process, as a Dataflow job, or on Flink.
// It is the worker's binary too, so it is built without cgo and links no emulator.
// "launch --help" tells its flags and exit statuses.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs" // where Dataflow stages
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // the runner
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"    // the runner

	"beamcdc/cmd/internal/direct"
	"beamcdc/internal/version"
	"beamcdc/pipeline"
	"beamcdc/transforms/pubsubsource"
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], signals, os.Stdout, os.Stderr))
}

func run(args []string, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	notes := &direct.Notes{W: stderr, Command: "launch", Format: direct.Text}
	err := launch(args, signals, stdout, notes)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		usage(stdout, flag.CommandLine)
		return 0
	}
	notes.Tell(slog.LevelError, err.Error())
	if errors.As(err, new(usageError)) || errors.As(err, new(pipeline.Findings)) {
		return 2
	}
	return 1
}

func launch(args []string, signals <-chan os.Signal, stdout io.Writer, notes *direct.Notes) error {
	if version.Asked(args) {
		_, err := fmt.Fprintln(stdout, "launch", version.String())
		return err
	}
	in, err := parse(flag.CommandLine, args)
	if err != nil {
		return err
	}
	runner, err := runner()
	if err != nil {
		return err
	}
	if err := errors.Join(in.setLog(runner), in.setMetrics()); err != nil {
		return err
	}
	notes.Format = in.logFormat
	direct.Init(notes.W, in.logLevel, in.logFormat) // in a worker it does not return
	for _, warning := range in.warnings {
		notes.Tell(slog.LevelWarn, warning)
	}
	o, err := in.options()
	if err != nil {
		return err
	}
	o.RunnerOwnsSource = runner == "dataflow"
	loopback, err := in.complete(runner, &o)
	if err := errors.Join(o.Validate(), err); err != nil {
		return err
	}
	if in.dryRun {
		return describe(runner, o, stdout)
	}
	here := runner == "prism" || loopback
	watcher, err := in.startMetrics(here, o, notes)
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }() // nobody waits for an answer any more
	if in.check {
		if err := check(o, signals); err != nil {
			return err
		}
	}
	if !here {
		return submit(runner, o)
	}
	job := direct.StartOn(runner, o)
	watcher.Watch(job)
	return serve(job, signals, stdout, notes)
}

// complete fills in the flags of Beam's that the runner needs. It reports whether the
// workers of a runner outside this process are in it.
func (in *invocation) complete(runner string, o *pipeline.Options) (loopback bool, err error) {
	switch {
	case runner == "dataflow":
		ctx := context.Background()
		job := dataflowJob{
			flags: flag.CommandLine, options: o, describe: in.dryRun,
			project:    func() string { return gcpopts.GetProjectFromFlagOrEnvironment(ctx) },
			region:     func() string { return gcpopts.GetRegion(ctx) },
			executable: os.Executable,
		}
		return false, job.complete()
	case in.template:
		return false, usageErrorf("--template_location is for --runner=dataflow")
	case runner == "flink" && !in.dryRun:
		return completeFlink(flag.CommandLine)
	}
	return false, nil
}

// submit hands the job to a runner outside this process, and waits for it as long
// as Beam's flags have it.
func submit(runner string, o pipeline.Options) error {
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, o)
	if _, err := beam.Run(context.Background(), runner, p); err != nil {
		return fmt.Errorf("submitting the job: %w", err)
	}
	return nil
}

// Bounds of the questions at start-up: whether Pub/Sub answers at all, and all of
// them, the creation of many tables included.
const (
	reachFor = 10 * time.Second
	checkFor = 5 * time.Minute
)

var errInterrupted = errors.New("interrupted before it had started")

// check asks the services whether the pipeline can do its work. It asks for the
// subscription first and alone: where Pub/Sub is out of reach, whatever else is
// asked would wait for it too, and say the same again.
func check(o pipeline.Options, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), checkFor)
	defer cancel()
	checked := make(chan error, 1)
	go func() {
		reach, cancel := context.WithTimeout(ctx, reachFor)
		defer cancel()
		err := pubsubsource.Check(reach, o.SourceConfig())
		if err == nil {
			err = errors.Join(pipeline.Check(ctx, o)...)
		}
		checked <- err
	}()
	select {
	case err := <-checked:
		return err
	case <-signals:
		return errInterrupted
	}
}

// serve runs the pipeline in this process until it is told to stop, and then
// prints what became of the messages as one JSON object.
func serve(job *direct.Job, signals <-chan os.Signal, stdout io.Writer, notes *direct.Notes) error {
	select {
	case <-job.Done():
	case <-signals:
		notes.Tell(slog.LevelInfo, "stopping: finishing what was taken; interrupt again to end at once")
		job.Drain()
		select {
		case <-job.Done():
		case <-signals:
			return errors.New("ended at once: what was not acked will come again")
		}
	}
	counts, err := job.Result()
	if err != nil {
		return err
	}
	text, err := json.Marshal(counts)
	if err != nil {
		return fmt.Errorf("writing the counts: %w", err)
	}
	if _, err := fmt.Fprintf(stdout, "%s\n", text); err != nil {
		return fmt.Errorf("writing the counts: %w", err)
	}
	return nil
}
