// Command cdc is the operator's tool.
//
//	cdc simulate [FILE]   what a stream of changes would leave, by each way of ordering it
//
// Exit status: 0 done, 1 it could not run, 2 bad usage or input.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const usage = `Usage: cdc COMMAND [ARGUMENTS]

Commands:
  simulate [FILE]   apply a file of changes by arrival, by sequence number and by text,
                    and print what each leaves; "-" is standard input,
                    no FILE an example of seven changes, which -changes prints

Run "cdc COMMAND -h" for a command's arguments.
`

// errUsage marks what the user has to write differently: exit status 2.
var errUsage = errors.New("bad usage")

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		_, _ = io.WriteString(stderr, usage)
		return 2
	}
	var err error
	switch command := args[0]; command {
	case "simulate":
		err = simulateCommand(args[1:], stdin, stdout)
	case "-h", "-help", "--help", "help":
		_, err = io.WriteString(stdout, usage)
	default:
		err = fmt.Errorf("%w: there is no command %q; run \"cdc help\" for the list", errUsage, command)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(stderr, "cdc: %v\n", err)
		return 2
	default:
		_, _ = fmt.Fprintf(stderr, "cdc: %v\n", err)
		return 1
	}
}
