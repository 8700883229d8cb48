package main

import (
	"io"
	"testing"
)

// Ends by themselves that the pipeline said in runs: those of a start that found no
// BigQuery are expected, whatever it asked for first.
func TestCheckExits(t *testing.T) {
	const away = "table demo.%s: reading its schema: retry failed with context deadline exceeded; last error: googleapi: Error 503: The emulator was told to fail., backendError"
	for text, expected := range map[string]bool{
		"launch: checking the tables: asking BigQuery (REST, http://127.0.0.1:38595): " + away: true,
		"launch: checking the histories: " + away:                                              true,
		"launch: checking the dead letters: " + away:                                           true,
		"launch: interrupted before it had started":                                            true,
		"launch: running the pipeline: writing to demo.shop.orders: giving up":                 false,
		"panic: runtime error: index out of range [3] with length 3":                           false,
	} {
		s := &system{options: options{out: io.Discard}, pipeline: &pipeline{tally: pipelineTally{exits: []string{text}}}}
		s.checkExits()
		if got := len(s.problems) == 0; got != expected {
			t.Errorf("%q: expected %t, want %t", text, got, expected)
		}
	}
}
