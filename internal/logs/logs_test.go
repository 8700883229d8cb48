package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// runnerLog is what a runner is told.
type runnerLog struct{ lines []string }

func (l *runnerLog) Log(_ context.Context, severity beamlog.Severity, _ int, text string) {
	l.lines = append(l.lines, fmt.Sprint(severity, " ", text))
}

// A line goes to the runner with its attributes in the text, or to the process's log
// with attributes of their own; what a message holds can't begin a line or move a cursor.
func TestWarn(t *testing.T) {
	warn := func() {
		Warn(t.Context(), "an append is sent again", Table.Of("p.d.t"), Error.Of(errors.New("no\nlevel=ERROR \x1b[31m")), Suppressed.Of(3))
	}
	runner := new(runnerLog)
	beamlog.SetLogger(runner)
	t.Cleanup(func() { beamlog.SetLogger(&beamlog.Structural{}) })
	warn()
	want := fmt.Sprint(beamlog.SevWarn, ` an append is sent again table=p.d.t error="no\nlevel=ERROR \x1b[31m" suppressed=3`)
	if len(runner.lines) != 1 || runner.lines[0] != want {
		t.Errorf("the runner got\n %q, want\n %q", runner.lines, want)
	}

	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true, Level: slog.LevelWarn})))
	Here()
	t.Cleanup(func() { slog.SetDefault(before); here.Store(false) })
	warn()
	Info(t.Context(), "all is well")
	var line struct {
		Level, Msg, Table, Error string
		Suppressed               int
		Source                   struct{ File string }
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	if line.Level != "WARN" || line.Msg != "an append is sent again" || line.Table != "p.d.t" || line.Suppressed != 3 || !strings.HasSuffix(line.Source.File, "logs_test.go") {
		t.Errorf("got %+v", line)
	}
	if len(runner.lines) != 1 {
		t.Errorf("the runner was told, too: %q", runner.lines)
	}
}

func TestKey_Of(t *testing.T) {
	if got := Table.Of(strings.Repeat("ä", 1000)).Value.String(); len(got) > maxValue+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("a long text is logged with %d bytes", len(got))
	}
	if got := Rows.Of(int64(7)); got.Value.Kind() != slog.KindInt64 || got.Key != "rows" {
		t.Errorf("a number is logged as %v", got)
	}
	for _, k := range Keys() {
		if k.Help() == "" || strings.ToLower(k.Name()) != k.Name() {
			t.Errorf("key %q, %q", k.Name(), k.Help())
		}
	}
}

func TestSeldom(t *testing.T) {
	var s Seldom
	at := time.Unix(1_700_000_000, 0)
	var told []string
	for i := range 100 { // a second apart
		for _, kind := range []string{"a", "b"} {
			if suppressed, ok := s.ask(kind, at.Add(time.Duration(i)*time.Second)); ok {
				told = append(told, fmt.Sprint(kind, i, "-", suppressed))
			}
		}
	}
	if got := strings.Join(told, " "); got != "a0-0 b0-0 a30-29 b30-29 a60-29 b60-29 a90-29 b90-29" {
		t.Errorf("lines at %s", got)
	}
	for i := range 3 * maxKinds {
		s.ask(fmt.Sprint(i), at)
	}
	if len(s.seen) > maxKinds {
		t.Errorf("%d kinds are remembered", len(s.seen))
	}
}
