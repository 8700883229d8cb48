// Command emulator runs a BigQuery for one machine that applies change data
// capture, until it is interrupted:
//
//	emulator --project demo --dataset shop --db shop.duckdb
//
// When it takes requests it prints one line on standard output:
//
//	ready grpc=127.0.0.1:9060 rest=http://127.0.0.1:9050
//
// Its log goes to standard error. It exits with 0 after SIGINT or SIGTERM, 1 if it
// can't run, and 2 for a bad flag. A second signal ends it at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"beamcdc/emulator"
	"beamcdc/internal/spelling"
)

// closeTimeout is how long the server may take to end once it was told to.
const closeTimeout = 5 * time.Second

// help comes before the list of flags.
const help = `emulator runs a BigQuery for one machine that applies change data capture, until it
is interrupted. When it takes requests it prints its addresses:

	emulator --project demo --dataset shop
	ready grpc=127.0.0.1:9060 rest=http://127.0.0.1:9050

Clients need no credentials and no TLS. On the REST address GET /healthz answers ok, and
these are for tests:

	PUT    /emulator/v1/faults  which calls fail, and how: [{table: shop.orders, times: 2, code: UNAVAILABLE}]
	POST   /emulator/v1/clock   {"advance": "36h"}, {"freeze": "2026-01-02T03:04:05Z"} or {"run": true}
	POST   /emulator/v1/apply   applies what is due by the clock; {"table": "shop.orders"} that table now
	GET    /emulator/v1/stats   counts of requests, rows and applies
	GET    /emulator/v1/projects/demo/datasets/shop/tables/orders/rows

examples/clients/README.md has them all, the keys of a fault, and how Google's clients
are pointed here.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal is the system's to handle
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// names is a flag that may be given more than once.
type names []string

func (n *names) String() string { return strings.Join(*n, ",") }

func (n *names) Set(name string) error {
	*n = append(*n, name)
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("emulator", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var o emulator.Options
	var datasets names
	flags.StringVar(&o.Project, "project", emulator.DefaultProject, "the project that --dataset's datasets are in; requests may name any")
	flags.Var(&datasets, "dataset", "a dataset to create unless it is there; may be repeated")
	flags.StringVar(&o.DB, "db", "", "the file that keeps the tables; without it they are in memory")
	flags.StringVar(&o.Buckets, "buckets", "", "the folder that stands for Cloud Storage in load and extract jobs: gs://bucket/path is bucket/path in it")
	flags.StringVar(&o.GRPCAddr, "grpc_addr", "127.0.0.1:9060", "host:port of the Storage Write API; port 0 takes a free one")
	flags.StringVar(&o.RESTAddr, "rest_addr", "127.0.0.1:9050", "host:port of the REST API; port 0 takes a free one")
	flags.IntVar(&o.MaxRequestBytes, "max_request_bytes", emulator.DefaultMaxRequestBytes, "the largest AppendRows request, in bytes")
	flags.DurationVar(&o.IdleTimeout, "idle_timeout", emulator.DefaultIdleTimeout, "how long an AppendRows connection may be idle; negative for any time")
	script := flags.String("faults", "", "a YAML file with what is to go wrong, as PUT /emulator/v1/faults takes it")
	verbose := flags.Bool("verbose", false, "log every refused request too")
	switch err := spelling.Flag(flags, flags.Parse(args)); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stdout)
		_, _ = fmt.Fprint(stdout, help)
		flags.PrintDefaults()
		return 0
	case err != nil:
		return usage(stderr, err.Error())
	case flags.NArg() > 0:
		return usage(stderr, fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
	case o.MaxRequestBytes <= 0:
		return usage(stderr, "--max_request_bytes must be positive")
	}
	if o.Buckets != "" {
		if folder, err := os.Stat(o.Buckets); err != nil {
			return usage(stderr, "--buckets: "+err.Error())
		} else if !folder.IsDir() {
			return usage(stderr, fmt.Sprintf("--buckets: %s is no folder", o.Buckets))
		}
	}
	var faults []emulator.Fault
	if *script != "" {
		text, err := os.ReadFile(*script)
		if err != nil {
			return usage(stderr, "--faults: "+err.Error())
		}
		if faults, err = emulator.ParseFaults(text); err != nil {
			return usage(stderr, fmt.Sprintf("--faults %s: %v", *script, err))
		}
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	o.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	if err := serve(ctx, o, datasets, faults, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "emulator: %v\n", err)
		return 1
	}
	return 0
}

// usage reports a bad command line in one line.
func usage(stderr io.Writer, problem string) int {
	_, _ = fmt.Fprintf(stderr, "emulator: %s (--help lists the flags)\n", problem)
	return 2
}

func serve(ctx context.Context, o emulator.Options, datasets []string, faults []emulator.Fault, stdout io.Writer) error {
	server, err := emulator.New(o)
	if err != nil {
		return err
	}
	if err := server.SetFaults(faults); err != nil {
		return errors.Join(fmt.Errorf("setting faults: %w", err), server.Close())
	}
	for _, name := range datasets {
		// A signal that comes meanwhile ends the server as one that comes later does.
		if err := server.CreateDataset(context.WithoutCancel(ctx), name); err != nil {
			return errors.Join(fmt.Errorf("creating dataset %s: %w", name, err), server.Close())
		}
	}
	if _, err := fmt.Fprintf(stdout, "ready grpc=%s rest=%s\n", server.GRPCAddr(), server.RESTAddr()); err != nil {
		return errors.Join(fmt.Errorf("printing the ready line: %w", err), server.Close())
	}
	<-ctx.Done()
	closed := make(chan error, 1)
	go func() { closed <- server.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(closeTimeout):
		// DuckDB looks for an interruption between vectors of rows and not while it plans.
		// What was acknowledged is in the file already.
		o.Logger.Warn("ending though a statement is still running")
		return nil
	}
}
