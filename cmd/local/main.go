// Command local runs the whole system on one machine: an embedded Pub/Sub, the
// BigQuery emulator and the pipeline between them. Without flags it runs the demo
// of examples/shop. "local -h" tells its flags, outputs and exit statuses.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"beamcdc/cmd/internal/direct"
	"beamcdc/cmd/internal/monitor"
	"beamcdc/examples/shop"
	"beamcdc/internal/messagefile"
	"beamcdc/internal/spelling"
	"beamcdc/internal/version"
	"beamcdc/pipeline"
)

const usage = `local runs the whole system on one machine: an embedded Pub/Sub, the BigQuery
emulator and the pipeline between them. It publishes the messages, runs the
pipeline until all of them are acked, and prints the tables, what became of the
changes, and the dead letters. Without flags it runs the demo.

Usage: local [-config FILE] [-messages FILE]... [-serve] [-output table|json] [-db FILE] [-metrics HOST:PORT] [-log_format text|json]

  -config FILE     the pipeline's configuration, YAML; the demo's by default. Where it
                   names no dead_letters, they go to a directory that is removed at the end
  -messages FILE   the messages, one JSON object a line, published in their order:
                     {"data": <any JSON value, sent byte for byte>}
                     {"data_base64": "…"}
                   each with "attributes": {"name": "value"} and "ordering_key": "…" if
                   wanted. May be repeated; "-" is standard input. By default the demo's
                   messages, if -config isn't given, else none
  -serve           go on until interrupted; prints the addresses to publish to and query at
  -output FORMAT   table (default) is for people; json is one JSON object:
                     {"tables": {"shop.orders": [{…}, …]},
                      "dead_letters": [{"stage": …, "reason": …, "error": …, "data": …}],
                      "counts": {…}}
                   INT64, NUMERIC and BIGNUMERIC are JSON strings, which keeps them exact.
                   A dead letter whose data is no UTF-8 has data_base64, too; one that is not
                   stored as it came has data_form, "redacted" or "encrypted", and no data
                   where that is redacted or no key opens it
                   Of the counts, messages + extra_changes + key_changes, and rows_completed_again where
                   unavailable_values: fill made any, is always
                   rows_upserted + rows_deleted + superseded + filtered + control + truncates + dead_letters
                   - history_letters, and + waiting where changes waited for what completes their rows
  -db FILE         keep the emulator's tables in a file; in memory by default. The embedded
                   Pub/Sub numbers each run's messages anew, so that in a table of dead
                   letters a run's letter replaces that of an earlier run's message of the
                   same number and stage: with a dead_letters directory all stay
  -metrics HOST:PORT
                   serve /metrics, for Prometheus, and /healthz there; without a host at 127.0.0.1
  -log_format F    what is logged on standard error: text (default) or json, an object a line
  -version         print which commit this program was built from

Exit status: 0 done, dead letters included; 1 it could not run; 2 bad usage or configuration.
`

// usageError is what the user has to write differently: exit status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], signals, os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, signals <-chan os.Signal, stdin io.Reader, stdout, stderr io.Writer) int {
	notes := &direct.Notes{W: stderr, Command: "local", Format: direct.Text}
	err := local(args, signals, stdin, stdout, notes)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(stdout, usage) // there is nobody to tell
		return 0
	}
	notes.Tell(slog.LevelError, err.Error())
	if errors.As(err, new(usageError)) || errors.As(err, new(pipeline.Findings)) {
		return 2
	}
	return 1
}

func local(args []string, signals <-chan os.Signal, stdin io.Reader, stdout io.Writer, notes *direct.Notes) error {
	if version.Asked(args) {
		_, err := fmt.Fprintln(stdout, "local", version.String())
		return err
	}
	stderr := notes.W
	in, err := parse(args)
	if err != nil {
		return err
	}
	notes.Format = in.logFormat
	o, err := in.options()
	if err != nil {
		return err
	}
	if r := o.Runtime; r.BigQueryRESTEndpoint != "" || r.BigQueryGRPCEndpoint != "" || r.PubSubEndpoint != "" {
		notes.Tell(slog.LevelWarn, "the configuration's endpoints are left aside: local has a Pub/Sub and a BigQuery of its own; launch uses them")
	}
	messages, err := in.readMessages(stdin)
	if err != nil {
		return usageError{err}
	}
	s := &system{
		options: o, db: in.db, serve: in.serve,
		signals: signals, progress: newProgress(stderr), notes: stdout, told: notes, metrics: in.metrics,
	}
	if in.json {
		s.notes = stderr // standard output is the JSON object's alone
	}
	r, err := s.run(messages)
	if err != nil {
		return err
	}
	if in.json {
		return writeJSON(stdout, r)
	}
	if in.config != "" && in.messages == nil && !in.serve {
		notes.Tell(slog.LevelInfo, "no -messages given: the tables stay as they are")
	}
	return writeTables(stdout, r, style{terminal: isTerminal(stdout) && os.Getenv("NO_COLOR") == ""})
}

// invocation is what the command line asks for.
type invocation struct {
	config   string
	messages []string
	serve    bool
	json     bool
	db       string

	metrics   string // where /metrics and /healthz are served; "" for nowhere
	logFormat string
}

func parse(args []string) (*invocation, error) {
	in := new(invocation)
	output := "table"
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a bad flag gets one line, not a page
	flags.Usage = func() {}
	flags.StringVar(&in.config, "config", "", "")
	flags.Func("messages", "", func(name string) error { in.messages = append(in.messages, name); return nil })
	flags.BoolVar(&in.serve, "serve", false, "")
	flags.StringVar(&output, "output", output, "")
	flags.StringVar(&in.db, "db", "", "")
	flags.StringVar(&in.metrics, "metrics", "", "")
	flags.StringVar(&in.logFormat, "log_format", direct.Text, "")
	switch err := spelling.Flag(flags, flags.Parse(args)); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usageErrorf("%w; \"local -h\" lists the flags", err)
	case flags.NArg() > 0:
		return nil, usageErrorf("there is no argument %q; \"local -h\" lists the flags", flags.Arg(0))
	case output != "table" && output != "json":
		return nil, usageErrorf("-output %q is none of table, json", output)
	}
	if in.logFormat != direct.Text && in.logFormat != direct.JSON {
		return nil, usageErrorf("-log_format %q is none of text, json", in.logFormat)
	}
	if in.metrics != "" {
		address, err := monitor.CheckAddress(in.metrics)
		if err != nil {
			return nil, usageErrorf("-metrics: %w", err)
		}
		in.metrics = address
	}
	in.json = output == "json"
	stdins := 0
	for _, name := range in.messages {
		if name == "-" {
			stdins++
		}
	}
	if stdins > 1 {
		return nil, usageErrorf("-messages - is given %d times; standard input can be read once", stdins)
	}
	return in, nil
}

// options reads the configuration. Its tables' and subscription's faults are
// found later, once the addresses are known.
func (in *invocation) options() (pipeline.Options, error) {
	if in.config == "" {
		return pipeline.Parse("examples/shop/pipeline.yaml", shop.Config), nil
	}
	o, err := pipeline.Load(in.config)
	if err != nil {
		return pipeline.Options{}, usageError{err}
	}
	return o, nil
}

// readMessages reads all messages, so that a bad one is told before anything runs.
func (in *invocation) readMessages(stdin io.Reader) ([]*pubsubpb.PubsubMessage, error) {
	if in.config == "" && in.messages == nil {
		return messagefile.Read("examples/shop/messages.jsonl", strings.NewReader(string(shop.Messages)))
	}
	var messages []*pubsubpb.PubsubMessage
	for _, name := range in.messages {
		read, err := messagefile.Open(name, stdin)
		if err != nil {
			return nil, err
		}
		messages = slices.Concat(messages, read)
	}
	return messages, nil
}
