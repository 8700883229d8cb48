package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/cmd/cdc/internal/arguments"
	"beamcdc/cmd/cdc/internal/diff"
	"beamcdc/cmd/cdc/internal/follow"
	"beamcdc/internal/endpoint"
	"beamcdc/schemas/envelope/columns"
	"beamcdc/schemas/table"
)

const changesUsage = `Usage: cdc changes -position FILE [FLAGS] PROJECT.DATASET.TABLE

Follows a table's own change history by BigQuery's functions CHANGES and APPENDS, and
writes each change as a message of the columns format, a row with _CHANGE_TYPE and
_CHANGE_SEQUENCE_NUMBER: to a topic, for the pipeline of a second table, or as JSON
Lines. It goes on from where it was; a kill repeats changes and leaves none out, and
their sequence numbers make that harmless. Before it reads a range it says how many
bytes BigQuery will bill for it: all that was written to the table in that time.

  -position FILE  where it keeps how far it is. Without the file it begins at -since
  -since TIME     2026-03-09T09:00:00Z. Defaults to the table's creation, which BigQuery
                  tells of for seven days. Else begin with a copy of the table as of TIME
  -function NAME  changes, which needs the table option enable_change_history, or
                  appends: rows that were added, of any table. BigQuery doesn't say that
                  changes by primary key are among those. Defaults to changes
  -range TIME     how long a range is at most. Defaults to 1h; 24h is BigQuery's limit
  -lag TIME       how long before now the last range ends. Defaults to 10m for changes,
                  BigQuery's limit, and 0 for appends
  -follow TIME    goes on, and looks for what is new after each pause of this length.
                  Without it, it ends where nothing is left to be read
  -max_bytes N    ends with status 1 before a range that would bill more
  -dry_run        says what the next range would bill, and reads nothing
  -topic TOPIC    projects/PROJECT/topics/NAME instead of standard output.
                  PUBSUB_EMULATOR_HOST counts
  -source NAME    names the table in the messages' attribute ` + columns.TableAttribute + `, for a pipeline
                  of several tables: NAME is what its rule's source matches
  -epoch N        leads each sequence number. Defaults to 0
  -bigquery_rest_endpoint URL   of an emulator
  -allow_plaintext  lets that, or PUBSUB_EMULATOR_HOST, be another machine without TLS
`

// changesFlags are what the user asks for.
type changesFlags struct {
	position, since, function, topic, source, endpoint string
	length, lag, every                                 time.Duration
	maxBytes                                           int64
	dryRun, allowPlaintext                             bool
	epoch                                              uint64
}

func changesCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var f changesFlags
	flags := flag.NewFlagSet("changes", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {} // a bad flag gets one line
	flags.StringVar(&f.position, "position", "", "")
	flags.StringVar(&f.since, "since", "", "")
	flags.StringVar(&f.function, "function", "changes", "")
	flags.DurationVar(&f.length, "range", time.Hour, "")
	flags.DurationVar(&f.lag, "lag", -1, "")
	flags.DurationVar(&f.every, "follow", 0, "")
	flags.Int64Var(&f.maxBytes, "max_bytes", 0, "")
	flags.BoolVar(&f.dryRun, "dry_run", false, "")
	flags.StringVar(&f.topic, "topic", "", "")
	flags.StringVar(&f.source, "source", "", "")
	flags.Uint64Var(&f.epoch, "epoch", 0, "")
	flags.StringVar(&f.endpoint, "bigquery_rest_endpoint", "", "")
	flags.BoolVar(&f.allowPlaintext, endpoint.Flag, false, "")
	names, err := arguments.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, changesUsage)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w; run \"cdc changes -h\"", errUsage, err)
	case len(names) == 0:
		return fmt.Errorf("%w: changes takes one table, PROJECT.DATASET.TABLE; run \"cdc changes -h\"", errUsage)
	case len(names) > 1:
		return fmt.Errorf("%w: changes takes one table, not %d: %s", errUsage, len(names), strings.Join(names, ", "))
	}
	name, err := table.ParseName(names[0], "")
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	since, err := f.check()
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return f.run(ctx, name, since, stdout, stderr)
}

// check returns -since.
func (f *changesFlags) check() (since time.Time, err error) {
	switch {
	case f.position == "":
		return since, errors.New("-position is missing: the file that keeps how far it is")
	case f.function != "changes" && f.function != "appends":
		return since, fmt.Errorf("-function %q is neither changes nor appends", f.function)
	case f.length <= 0 || f.length > follow.MaxRange:
		return since, fmt.Errorf("-range %s is not between 0 and 24h", f.length)
	case f.source != "" && f.topic == "":
		return since, errors.New("-source is for -topic")
	case f.maxBytes < 0 || f.every < 0:
		return since, errors.New("-max_bytes and -follow are not below 0")
	}
	if f.topic != "" {
		if _, err := topicProject(f.topic); err != nil {
			return since, err
		}
	}
	if f.since != "" {
		if since, err = time.Parse(time.RFC3339Nano, f.since); err != nil {
			return since, fmt.Errorf("-since %q is no time such as 2026-03-09T09:00:00Z", f.since)
		}
	}
	return since.Truncate(time.Microsecond), nil
}

func (f *changesFlags) run(ctx context.Context, name table.Name, since time.Time, stdout, stderr io.Writer) error {
	options, err := endpoint.REST(f.endpoint, f.allowPlaintext)
	if err != nil {
		return fmt.Errorf("creating BigQuery's client: %w", err)
	}
	client, err := bigquery.NewClient(ctx, name.Project, options...)
	if err != nil {
		return fmt.Errorf("creating BigQuery's client: %w", err)
	}
	defer func() { _ = client.Close() }() // it only reads
	write := func(_ context.Context, rows [][]byte) error {
		_, err := stdout.Write(append(bytes.Join(rows, []byte("\n")), '\n'))
		return err
	}
	if f.topic != "" {
		options, err := endpoint.PubSub("", false, f.allowPlaintext)
		if err != nil {
			return err
		}
		topic, err := openTopic(ctx, f.topic, options...)
		if err != nil {
			return err
		}
		defer topic.close()
		write = func(ctx context.Context, rows [][]byte) error {
			messages := make([]diff.Message, len(rows))
			for i, row := range rows {
				messages[i].Data = row
				if f.source != "" {
					messages[i].Attributes = map[string]string{columns.TableAttribute: f.source}
				}
			}
			return topic.publish(ctx, messages)
		}
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(stderr, "cdc changes: "+format+"\n", args...) }
	function := follow.Function(strings.ToUpper(f.function))
	position, err := follow.LoadPosition(f.position, name, function, since)
	if err != nil {
		return err
	}
	planned := false
	follower := follow.Follower{
		Client: client, Table: name, Function: function, Epoch: f.epoch, Range: f.length, Lag: f.lag, MaxBytes: f.maxBytes,
		Position: position, Write: write, DryRun: f.dryRun,
		Planned: func(from, to time.Time, bytes int64) {
			planned = true
			say("%v from %s to %s: BigQuery will bill %d bytes", name, from.UTC().Format(time.RFC3339Nano), to.UTC().Format(time.RFC3339Nano), bytes)
		},
	}
	if f.lag < 0 {
		follower.Lag = function.Lag()
	}
	err = f.loop(ctx, &follower, say)
	if err == nil && !planned {
		say("nothing was asked: no time since the position is %v old yet, which BigQuery needs", follower.Lag)
	}
	return err
}

// loop reads range after range.
func (f *changesFlags) loop(ctx context.Context, follower *follow.Follower, say func(string, ...any)) error {
	var total int64
	for {
		rows, more, err := follower.Step(ctx)
		total += rows
		switch {
		case ctx.Err() != nil && f.every > 0: // it was told to end
			say("%d changes", total)
			return nil
		case err != nil:
			return err
		case more:
			continue
		case f.every == 0 || f.dryRun:
			if !f.dryRun {
				say("%d changes", total)
			}
			return nil
		}
		select {
		case <-time.After(f.every):
		case <-ctx.Done():
			say("%d changes", total)
			return nil
		}
	}
}
