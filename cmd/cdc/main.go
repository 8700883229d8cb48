// Command cdc is the operator's tool.
//
//	cdc doctor            what a pipeline depends on, looked at before it is launched
//	cdc ddl               the statements that make BigQuery's tables what a configuration implies
//	cdc cost              what BigQuery would bill, by window and max_staleness: an estimate
//	cdc status            how the tables stand: what lags, waits and fails
//	cdc simulate [FILE]   what a stream of changes would leave, by each way of ordering it
//	cdc diff              compare a source's table with BigQuery's, and repair it
//	cdc changes TABLE     follow a table's own change history
//	cdc dead-letters      list, show and replay what could not be processed
//	cdc rebuild [TABLE]   print the query that makes a table of its history
//	cdc version           which commit it was built from
//
// Exit status: 0 done, 1 it could not run, 2 bad usage or input; of diff 0 equal, 1
// different, 2 trouble.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"beamcdc/internal/version"
)

const usage = `Usage: cdc COMMAND [ARGUMENTS]

Commands:
  doctor            look at all that a pipeline depends on, before it is launched
  ddl               print the statements that make BigQuery's tables what the configuration
                    implies, from PostgreSQL, MySQL, Debezium's schemas or messages, and run them
  cost              estimate what BigQuery bills, from a sample of messages or a rate, by
                    window and max_staleness, as tables and a chart
  status            tell of each table how far it lags, what waits to be applied, how long
                    applies take, and the last error
  simulate [FILE]   apply a file of changes by arrival, by sequence number and by text,
                    and print what each leaves; "-" is standard input,
                    no FILE an example of seven changes, which -changes prints
  diff              compare a table of PostgreSQL or MySQL, or a file of rows, with its
                    table in BigQuery, and publish what repairs it
  changes TABLE     follow a BigQuery table's own change history, so that a second table
                    can follow the first
  dead-letters      list, show and replay what the pipeline could not process
  rebuild [TABLE]   print the query that makes a table of its history
  version           print which commit this program was built from

Run "cdc COMMAND -h" for a command's arguments.
`

// errUsage marks what the user has to write differently: exit status 2.
var errUsage = errors.New("bad usage")

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// withoutCredentials is what follows an error of Google's libraries that found none: who
// has emulators needs none.
const withoutCredentials = `cdc: for Google Cloud run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS;
cdc: for emulators set PUBSUB_EMULATOR_HOST=HOST:PORT, and give -bigquery_rest_endpoint URL (some commands: and -bigquery_grpc_endpoint HOST:PORT)
`

// offline says of the commands that can do without BigQuery how.
var offline = map[string]string{
	"ddl":  "cdc: -offline prints the statements without asking BigQuery, as if it had no table\n",
	"cost": "cdc: -offline asks nobody; -table_bytes says how large the tables are\n",
}

// advice is what to do about a command's error, "" where the error says it.
func advice(command string, err error) string {
	if strings.Contains(err.Error(), "could not find default credentials") { // the libraries have no type for it
		return withoutCredentials + offline[command]
	}
	return ""
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		_, _ = io.WriteString(stderr, usage)
		return 2
	}
	var err error
	switch command := args[0]; command {
	case "doctor":
		err = doctorCommand(interruptible(), args[1:], stdout, stderr)
	case "ddl":
		err = ddlCommand(interruptible(), args[1:], stdin, stdout)
	case "cost":
		err = costCommand(interruptible(), args[1:], stdin, stdout)
	case "status":
		err = statusCommand(interruptible(), args[1:], stdout)
	case "simulate":
		err = simulateCommand(args[1:], stdin, stdout)
	case "diff":
		err = diffCommand(interruptible(), args[1:], stdout, stderr)
	case "changes":
		err = changesCommand(interruptible(), args[1:], stdout, stderr)
	case "dead-letters":
		err = deadLettersCommand(interruptible(), args[1:], stdout, stderr)
	case "rebuild":
		err = rebuildCommand(interruptible(), args[1:], stdout)
	case "version", "-version", "--version":
		_, err = fmt.Fprintln(stdout, "cdc", version.String())
	case "-h", "-help", "--help", "help":
		_, err = io.WriteString(stdout, usage)
	default:
		err = fmt.Errorf("%w: there is no command %q; run \"cdc help\" for the list", errUsage, command)
	}
	status := new(statusError)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		if status.err != nil {
			_, _ = fmt.Fprintf(stderr, "cdc: %v\n", err)
		}
		return status.status
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(stderr, "cdc: %v\n", err)
		return 2
	default:
		_, _ = fmt.Fprintf(stderr, "cdc: %v\n", err)
		_, _ = io.WriteString(stderr, advice(args[0], err))
		return 1
	}
}

// interruptible returns a context that ends with an interrupt or SIGTERM.
func interruptible() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // it is the process's
	return ctx
}
