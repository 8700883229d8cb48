package main

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beamcdc/schemas/envelope"
)

func TestMain(m *testing.M) {
	flag.Parse()
	initBeam()
	os.Exit(m.Run())
}

// Every scenario for a moment: that what is published is acked, once, and counted.
func TestScenarios(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			s := settings{
				names: sc.name, duration: time.Second, interval: 100 * time.Millisecond, window: 200 * time.Millisecond,
				patience: 5 * time.Minute,
			}
			if sc.big {
				s.rate = len(bigSizes) + 1 // one of the largest at least
			}
			var printed bytes.Buffer
			out := t.TempDir()
			if err := run(&s, &printed, out); err != nil {
				t.Errorf("%v\n%s", err, &printed)
			}
			for _, name := range []string{sc.name + ".csv", sc.name + ".svg"} {
				text, err := os.ReadFile(filepath.Join(out, name))
				if err != nil || len(text) < 300 || strings.Contains(string(text), "NaN") {
					t.Errorf("%s: %v, %q", name, err, text)
				}
			}
		})
	}
}

func TestLatencies(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var all []time.Duration
	var l, second latencies
	for i := range 20_000 {
		d := time.Duration(random.Int64N(1 << (10 + random.Int64N(30))))
		all = append(all, d)
		if i%2 == 0 {
			l.add(d)
		} else {
			second.add(d)
		}
	}
	l.merge(&second)
	slices.Sort(all)
	for _, part := range []float64{0.01, 0.5, 0.99, 1} {
		want := all[int(part*float64(len(all)))-1]
		got := l.quantile(part)
		if off := (got - want).Abs(); off > want/60+2*time.Microsecond {
			t.Errorf("quantile %v: %v, want %v", part, got, want)
		}
	}
	if empty := new(latencies).quantile(0.5); empty != 0 {
		t.Errorf("the median of none: %v", empty)
	}
}

func TestBigMessage(t *testing.T) {
	for i, size := range bigSizes {
		m := bigMessage(i)
		if n := len(m.GetData()); n > 10_000_000 {
			t.Errorf("the message of a row of %d bytes has %d: Pub/Sub takes 10 MB", size, n)
		}
		if n := envelope.UnpackedSize(m.GetData(), m.GetAttributes()); n < size {
			t.Errorf("the message of a row of %d bytes says that it unpacks to %d", size, n)
		}
	}
}
