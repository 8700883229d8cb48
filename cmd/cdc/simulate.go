package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"beamcdc/cmd/cdc/internal/arguments"
)

// guideChanges are the seven changes of the guide "Streaming Data into
// BigQuery": three orders, delivered at least once and not in order.
//
//go:embed guide.jsonl
var guideChanges string

const simulateUsage = `Usage: cdc simulate [-changes] [FILE]

FILE holds one change a line, in the order of arrival:
  {"id": 1, "type": "UPSERT", "status": "placed", "seq": "F/FFFF0000"}
id is the primary key, type UPSERT or DELETE, seq a _CHANGE_SEQUENCE_NUMBER, all
other members are columns. "-" is standard input. No FILE stands for seven changes of
three orders, delivered at least once and not in order: the example of the guide
"Streaming Data into BigQuery".

  -changes   print these seven changes instead, in FILE's form
`

func simulateCommand(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {} // a bad flag gets one line
	show := flags.Bool("changes", false, "")
	files, err := arguments.Parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, simulateUsage)
		return err
	case err != nil:
		return fmt.Errorf("%w: %w; run \"cdc simulate -h\"", errUsage, err)
	case *show && len(files) > 0:
		return fmt.Errorf("%w: -changes prints the example's changes and takes no file", errUsage)
	case *show:
		_, err = io.WriteString(stdout, guideChanges)
		return err
	}
	var changes []simulatedChange
	switch len(files) {
	case 0:
		changes, err = readChanges("the guide's changes", strings.NewReader(guideChanges))
	case 1:
		changes, err = readChangeFile(files[0], stdin)
	default:
		err = fmt.Errorf("%w: simulate takes one file, not %d", errUsage, len(files))
	}
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return fmt.Errorf("%w: there is no change in it; run \"cdc simulate -h\" for the form of the file", errUsage)
	}
	return printSimulation(stdout, changes)
}

func readChangeFile(name string, stdin io.Reader) ([]simulatedChange, error) {
	if name == "-" {
		return readChanges("standard input", stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening the changes: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	return readChanges(name, file)
}

// printSimulation prints what the guide prints: three tables, then the pairs of
// sequence numbers on which numeric and text order disagree.
func printSimulation(w io.Writer, changes []simulatedChange) error {
	var out strings.Builder
	fmt.Fprintln(&out, "S1 last arrival wins (no sequence number supplied)")
	fmt.Fprintln(&out, "  ", formatTable(applyChanges(changes, byArrival)))
	fmt.Fprintln(&out, "S2 _CHANGE_SEQUENCE_NUMBER compared numerically, as BigQuery documents")
	fmt.Fprintln(&out, "  ", formatTable(applyChanges(changes, bySequence)))
	fmt.Fprintln(&out, "S3 the same sequence numbers compared as plain text (a common mistake in hand-written dedup)")
	fmt.Fprintln(&out, "  ", formatTable(applyChanges(changes, byText)))
	fmt.Fprintln(&out)
	fmt.Fprintln(&out, "S4 why text comparison fails without zero padding")
	pairs := disagreements(changes)
	for _, pair := range pairs {
		fmt.Fprintf(&out, "   %12s vs %-12s numeric says first is later, text says second\n", pair[0].seqText, pair[1].seqText)
	}
	if len(pairs) == 0 {
		fmt.Fprintln(&out, "   numeric and text order leave the same rows here")
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("printing the simulation: %w", err)
	}
	return nil
}
