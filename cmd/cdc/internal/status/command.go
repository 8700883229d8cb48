package status

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"

	"beamcdc/cmd/cdc/internal/arguments"
	"beamcdc/cmd/cdc/internal/configured"
)

const usage = `Usage: cdc status -config FILE [FLAGS] [TABLE …]

Asks BigQuery how each of the pipeline's tables stands: how far its applied changes
lag, how many rows wait, how long background applies take, the max_staleness that
follows from that, and the last error. It changes nothing. The queries are those of
templates/operations.

TABLE is [PROJECT.]DATASET.TABLE: these alone are looked at, and one that the
configuration names by placeholders can be looked at in this way.

  -config FILE          the pipeline's configuration; each of its scalars is a
                        flag too, as launch has them: launch --help lists them
  -days N               of background applies that are looked at (7)
  -hours N              of requests whose errors are looked at (24)
  -recent_minutes N     whose bytes are held against the baseline (15)
  -baseline_hours N     of the baseline (24)
  -fraction F           of the baseline below which is told of (0.1)
  -output text|json     for people, or one JSON object (text)
  -bigquery_rest_endpoint URL
                        of an emulator

Rows that wait are counted from what the Storage Write API acknowledged since the
last apply, by the minute: BigQuery tells no other number. Where that minute was
one with rows, their number is between two. Rows that were written twice count
twice. Of tables to which little is written, the last minutes say little: give
more -recent_minutes.

Exit status: 0 done, 1 it could not run or BigQuery answered of no table, or
one of the TABLEs is not there or takes no changes, 2 bad usage.
`

// Run runs the command. A [flag.ErrHelp] has been answered; other errors of the
// command line are UsageErrors.
func Run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("status", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options := configured.Add(flags)
	q := Request{}
	var output string
	flags.IntVar(&q.Days, "days", 7, "")
	flags.IntVar(&q.Hours, "hours", 24, "")
	flags.IntVar(&q.RecentMinutes, "recent_minutes", 15, "")
	flags.IntVar(&q.BaselineHours, "baseline_hours", 24, "")
	flags.Float64Var(&q.Fraction, "fraction", 0.1, "")
	flags.StringVar(&output, "output", "text", "")
	names, err := arguments.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return err
	case err != nil:
		return UsageError{err}
	case output != "text" && output != "json":
		return UsageError{fmt.Errorf("-output %q is neither text nor json", output)}
	case min(q.Days, q.Hours, q.RecentMinutes, q.BaselineHours) < 1:
		return UsageError{errors.New("-days, -hours, -recent_minutes and -baseline_hours must be 1 or more")}
	case max(q.Days, q.Hours/24, q.BaselineHours/24) > keptDays:
		return UsageError{fmt.Errorf("BigQuery keeps %d days of that", keptDays)}
	case math.IsNaN(q.Fraction) || q.Fraction < 0 || q.Fraction > 1:
		return UsageError{errors.New("-fraction must be between 0 and 1")}
	}
	q.Tables = names
	o, err := options.Options()
	if err == nil {
		if o.Runtime.BigQueryRESTEndpoint != "" {
			o.Runtime.BigQueryGRPCEndpoint = cmp.Or(o.Runtime.BigQueryGRPCEndpoint, "127.0.0.1:1") // which is not asked
		}
		err = o.Validate()
	}
	if err != nil {
		return UsageError{err}
	}
	report, err := Examine(ctx, o, q)
	if err != nil {
		return err
	}
	write := report.WriteText
	if output == "json" {
		write = report.WriteJSON
	}
	if err := write(stdout); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if !slices.ContainsFunc(report.Tables, func(t *Table) bool { return t.answered }) {
		return ErrNothing
	}
	// Who names a table asks whether it is there; a configuration may name some that
	// create_tables makes later.
	if i := slices.IndexFunc(report.Tables, func(t *Table) bool { return t.missing }); len(q.Tables) > 0 && i >= 0 {
		return fmt.Errorf("%w to %s", ErrMissing, report.Tables[i].Name)
	}
	return nil
}

// ErrMissing says that a table that was asked for is none that changes are applied to.
var ErrMissing = errors.New("no change can be applied")

// ErrNothing says that nothing of any table is known: the report tells why.
var ErrNothing = errors.New("BigQuery could be asked of no table")

// keptDays is for how long BigQuery keeps jobs and the timeline.
const keptDays = 180

// UsageError is what the user has to write differently.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }
