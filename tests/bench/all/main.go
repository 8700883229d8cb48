// Command all runs every benchmark that docs/benchmarks.md shows, one after the other, and
// prints what they report as tables of Markdown, with the machine, the commit and each
// command. What happens meanwhile goes to standard error.
//
//	go run ./tests/bench/all > results.md                  # some hours, an hour's soak among it
//	go run ./tests/bench/all -short > results.md           # some 20 minutes on a quiet machine
//	go run ./tests/bench/all -short -only codec,worker -charts docs
//
// A command that fails doesn't end it; what it printed is in the results, and the status is 1.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	short := flag.Bool("short", false, "smaller runs, and none of what lasts")
	only := flag.String("only", "", "sections, with commas between them, of "+strings.Join(names(), ", ")+"; all by default")
	charts := flag.String("charts", "", "directory that the charts are drawn into; none by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *short, *only, *charts)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "all: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, short bool, only, charts string) error {
	chosen := sections
	if only != "" {
		chosen = nil
		for name := range strings.SplitSeq(only, ",") {
			i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
			if i < 0 {
				return fmt.Errorf("there is no section %q, only %s", name, strings.Join(names(), ", "))
			}
			chosen = append(chosen, sections[i])
		}
	}
	fmt.Printf("# Results\n\n%s\n", machine(ctx))
	began, failed := time.Now(), 0
	for i, s := range chosen {
		fmt.Printf("\n## %s\n", s.title)
		for _, c := range s.commands {
			text := c.full
			if short {
				text = c.short
			}
			if text == "" {
				continue
			}
			fmt.Fprintf(os.Stderr, "\n[%d/%d, %v] %s: %s\n", i+1, len(chosen), time.Since(began).Round(time.Second), s.name, text)
			if err := runCommand(ctx, text, c.chart, charts); err != nil {
				failed++
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	fmt.Fprintf(os.Stderr, "\nall took %v\n", time.Since(began).Round(time.Second))
	if failed > 0 {
		return fmt.Errorf("%d commands failed", failed)
	}
	return nil
}

// runCommand runs a command and prints its results, and draws its chart if there is a
// directory for it.
func runCommand(ctx context.Context, text string, drawn *chart, charts string) error {
	var environment []string
	words := strings.Fields(text)
	for strings.Contains(words[0], "=") {
		environment, words = append(environment, words[0]), words[1:]
	}
	var output bytes.Buffer
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env = append(os.Environ(), environment...)
	c.Stdout = io.MultiWriter(&output, os.Stderr)
	c.Stderr = os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it ends what it started
	c.WaitDelay = 10 * time.Second
	before, start := load(), time.Now()
	err := c.Run()
	if err == nil && drawn != nil && charts != "" {
		err = drawn.draw(charts, output.String())
	}
	fmt.Printf("\n```console\n%s\n```\n\n%s", quoted(text), results(output.String()))
	if err != nil {
		fmt.Printf("\n**It failed**: %v\n", err)
	}
	fmt.Printf("\nTook %v; load %s before, %s after.\n", time.Since(start).Round(time.Second), before, load())
	return err
}

// quoted is a command as a shell takes it.
func quoted(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok && strings.ContainsAny(value, "$|^") {
			words[i] = name + "='" + value + "'"
		}
	}
	return strings.Join(words, " ")
}
