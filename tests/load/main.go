package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof" // with -pprof
	"os"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized" // as cmd/launch
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"beamcdc/internal/counters"
	"beamcdc/internal/garbage"
)

func main() {
	var s settings
	var out, pprof string
	flag.StringVar(&s.names, "scenario", "all", strings.Join(names(), ", ")+", several with commas between them, or all")
	flag.DurationVar(&s.duration, "duration", time.Minute, "for how long messages are published")
	flag.IntVar(&s.rate, "rate", 0, "messages a second; 0 means the scenario's own")
	flag.DurationVar(&s.window, "window", 5*time.Second, "the pipeline's window")
	flag.DurationVar(&s.interval, "interval", 0, "between two samples; 0 means a sixtieth of the duration, a window at least")
	flag.DurationVar(&s.slow, "slow", 0, "for how long BigQuery is slow in scenario slow; 0 means two thirds of the duration")
	flag.BoolVar(&s.interleave, "interleave", true, "an idle run before each other one, for the ratios")
	flag.DurationVar(&s.idle, "idle", 30*time.Second, "for how long messages are published in those")
	flag.StringVar(&out, "out", "", "directory for a table of samples and a chart of each run; none by default")
	flag.StringVar(&pprof, "pprof", "", "host:port to serve Go's profiles at; nowhere by default")
	flag.Parse()
	if pprof != "" {
		go func() { log.Println(http.ListenAndServe(pprof, nil)) }()
	}
	initBeam()
	if err := run(&s, os.Stdout, out); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// initBeam initializes Beam as cmd/launch does, but quietly: a line for every state of every job is too much.
func initBeam() {
	beamlog.LogLevel = "warn"
	if err := counters.Enable(); err != nil {
		panic(err)
	}
	garbage.Allow(garbage.Spare)
	beam.Init()
}

// settings are the command's.
type settings struct {
	names                string // of the scenarios
	duration, idle, slow time.Duration
	rate                 int
	window, interval     time.Duration
	interleave           bool
	patience             time.Duration // how long a run may take to finish what was published
}

// run runs the scenarios one after the other.
func run(s *settings, w io.Writer, out string) error {
	chosen, err := choose(s.names)
	if err != nil {
		return err
	}
	say(w, "%s\n", machine())
	var failed error
	var results []*result
	var idle *result
	for _, sc := range chosen {
		if s.interleave && sc.name != "idle" {
			r, err := runScenario(s.quiet(), scenarios[0], w)
			if err != nil {
				return fmt.Errorf("scenario idle: %w", err)
			}
			idle = r
			results = append(results, r)
			r.print(w)
		}
		r, err := runScenario(s, sc, w)
		if err != nil {
			return fmt.Errorf("scenario %s: %w", sc.name, err)
		}
		if sc.name == "idle" {
			idle = r
		} else {
			r.idle = idle
		}
		results = append(results, r)
		r.print(w)
		if out != "" {
			if err := r.save(out); err != nil {
				return err
			}
		}
		for _, problem := range r.problems {
			failed = errors.Join(failed, fmt.Errorf("scenario %s: %s", sc.name, problem))
		}
	}
	say(w, "\n%s", summary(results))
	return failed
}

// quiet returns the settings of an idle run between others.
func (s *settings) quiet() *settings {
	quiet := *s
	quiet.duration, quiet.rate, quiet.interval = s.idle, 0, 0
	return &quiet
}
