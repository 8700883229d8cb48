package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o := options{out: stdout}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.seed, "seed", 0, "what decides the workload and the faults; 0 draws one")
	flags.IntVar(&o.changes, "changes", 1_000_000, "changes of rows, at least")
	flags.IntVar(&o.kills, "kills", 500, "kill -9 of pipeline and emulator together, at least")
	flags.DurationVar(&o.duration, "duration", time.Hour, "at least; a round that has begun is finished")
	flags.IntVar(&o.round, "round", 50_000, "changes in a round, after which all is compared")
	flags.IntVar(&o.faults, "round_kills", 26, "kills planned in a round")
	flags.IntVar(&o.rate, "rate", 1000, "changes a second, unless they pile up")
	flags.IntVar(&o.backlog, "backlog", 20_000, "messages that may pile up")
	flags.IntVar(&o.tables, "tables", 0, "plain tables beside those with parts of their own; beyond some tens tables share connections")
	flags.DurationVar(&o.hold, "hold", 20*time.Second, "fill.hold_for: for how long an update waits for the value that it left out")
	flags.Float64Var(&o.scale, "scale", 0.3, "of what lasts: at 1 BigQuery is out of quota for up to three minutes")
	flags.DurationVar(&o.settleFor, "settle", 10*time.Minute, "after this long without a fault what is left is stuck")
	flags.StringVar(&o.directory, "directory", "", "for the emulator's file and the logs; a temporary one, which is removed if all is well")
	flags.BoolVar(&o.goOn, "go_on", false, "with the next round after a problem")
	programs := flags.String("programs", "", "a directory with launch, emulator and cdc; without it they are built")
	trace := flags.Bool("trace", false, "write what becomes of each message to trace.log in the directory")
	verbose := flags.Bool("pipeline_log", false, "show what the pipeline logs")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *verbose {
		o.pipeline = stderr
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>1 | 1
	}
	temporary := o.directory == ""
	if temporary {
		directory, err := os.MkdirTemp("", "beamcdc-chaos-*")
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "chaos:", err)
			return 1
		}
		o.directory = directory
	}
	if *programs != "" {
		o.launch, o.emulator, o.cdc = filepath.Join(*programs, "launch"), filepath.Join(*programs, "emulator"), filepath.Join(*programs, "cdc")
	} else if err := o.build(); err != nil {
		_, _ = fmt.Fprintln(stderr, "chaos:", err)
		return 1
	}
	if *trace {
		file, err := os.Create(filepath.Join(o.directory, "trace.log"))
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "chaos:", err)
			return 1
		}
		buffered := bufio.NewWriter(file)
		defer func() { _ = errors.Join(buffered.Flush(), file.Close()) }()
		o.trace = buffered
	}
	_, _ = fmt.Fprintf(stdout, "seed %d, in %s\n", o.seed, o.directory)
	result, err := run(ctx, o)
	if result != nil {
		result.print(stdout)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "chaos: with -seed %d, see %s: %v\n", o.seed, o.directory, err)
		return 1
	}
	if temporary {
		_ = os.RemoveAll(o.directory)
	}
	return 0
}

// build builds the commands.
func (o *options) build() error {
	for name, path := range map[string]*string{"launch": &o.launch, "emulator": &o.emulator, "cdc": &o.cdc} {
		*path = filepath.Join(o.directory, name)
		if out, err := exec.Command("go", "build", "-o", *path, "beamcdc/cmd/"+name).CombinedOutput(); err != nil {
			return fmt.Errorf("building cmd/%s: %w\n%s", name, err, out)
		}
	}
	return nil
}

func (r *summary) print(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	p("seed %d: %d rounds in %s", r.seed, r.rounds, r.took.Round(time.Second))
	p("  %d changes published; %+v", r.published, r.deliveries)
	p("  %d kills: %d of the pipeline, %d of BigQuery; %d stops, %d that took too long, %d starts; %d ends by itself", r.kills+r.bigqueryKills, r.kills, r.bigqueryKills, r.stops, r.slow, r.starts, len(r.exits))
	for _, name := range slices.Sorted(maps.Keys(r.events)) {
		p("  %4d %-16s happened to %d calls", r.events[name], name, r.happened[name])
	}
	p("  %d dead letters of messages that can't be used, each once; %d others replayed, %d left of updates whose rows were deleted later", r.letters, r.replayed, r.overdue)
	p("  the processes that stopped had decoded %d messages, %d of which they gave back; the rest is in their counts", r.counted, r.unfinished)
	p("  %d lines logged: %s", r.logLines, r.log)
	reasons := map[string]int{}
	for _, text := range r.exits {
		reasons[fmt.Sprintf("%.300s", text)]++
	}
	for _, text := range slices.Sorted(maps.Keys(reasons)) {
		p("  ended by itself %d times: %s", reasons[text], text)
	}
}
