package doctor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"beamcdc/cmd/cdc/internal/configured"
	"beamcdc/internal/spelling"
)

const usage = `Usage: cdc doctor -config FILE [FLAGS]

Looks at everything that the pipeline depends on, before it is launched: the
configuration, credentials and permissions, the subscription and who else reads
it, the destination tables and who else writes and reads them, a sample of
messages, and with -runner dataflow the job's options. It changes nothing, and
acks nothing.

  -config FILE              the pipeline's configuration; each of its scalars is a
                            flag too, as launch has them: launch --help lists them
  -messages N               take up to N messages as a sample, and give them back (100)
  -wait DURATION            for how long to wait for them (10s)
  -output text|json         for people, or one JSON object (text)
  -runner direct|dataflow   where the pipeline is to run (direct)
  -project, -region, -staging_location, -temp_location
                            of the Dataflow job, as launch has them

Exit status: 0 nothing is fatal, 1 something is, or it could not run, 2 bad usage.
`

// ErrFatal says that something was found with which the pipeline can't do its work.
var ErrFatal = errors.New("the pipeline can't do its work as things are")

// Run runs the command. A [flag.ErrHelp] has been answered; other errors of the
// command line are UsageErrors.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options := configured.Add(flags)
	q := Request{}
	var runner, output string
	flags.IntVar(&q.Messages, "messages", 100, "")
	flags.DurationVar(&q.Wait, "wait", 10*time.Second, "")
	flags.StringVar(&output, "output", "text", "")
	flags.StringVar(&runner, "runner", "direct", "")
	flags.StringVar(&q.Dataflow.Project, "project", "", "")
	flags.StringVar(&q.Dataflow.Region, "region", "", "")
	flags.StringVar(&q.Dataflow.Staging, "staging_location", "", "")
	flags.StringVar(&q.Dataflow.Temp, "temp_location", "", "")
	switch err := spelling.Flag(flags, flags.Parse(args)); {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return err
	case err != nil:
		return UsageError{err}
	case flags.NArg() > 0:
		return UsageError{fmt.Errorf("there is no argument %q", flags.Arg(0))}
	case output != "text" && output != "json":
		return UsageError{fmt.Errorf("-output %q is neither text nor json", output)}
	case runner != "direct" && runner != "dataflow":
		return UsageError{fmt.Errorf("-runner %q is neither direct nor dataflow", runner)}
	case q.Messages < 0 || q.Wait <= 0:
		return UsageError{errors.New("-messages must not be negative, and -wait be more than nothing")}
	}
	o, err := options.Options()
	if err != nil {
		return UsageError{err}
	}
	q.Dataflow.Wanted = runner == "dataflow"
	if output == "text" {
		q.Progress = func(what string) { _, _ = fmt.Fprintf(stderr, "looking at %s …\n", what) }
	}
	report := Examine(ctx, o, q)
	write := report.WriteText
	if output == "json" {
		write = report.WriteJSON
	}
	if err := write(stdout); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if report.Fatal() {
		return ErrFatal
	}
	return nil
}

// UsageError is what the user has to write differently.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }
