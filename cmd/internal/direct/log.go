package direct

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"beamcdc/internal/counters"
	"beamcdc/internal/garbage"
	"beamcdc/internal/logs"
)

// Init initializes Beam in a command that has parsed its flags, and sends the log
// to w: of the given level or above ("debug", "info", "warn", "error"), in the given
// format. In a worker it does not return. Only the first call has an effect.
func Init(w io.Writer, level, format string) {
	initialize.Do(func() { initBeam(w, level, format) })
}

// The formats of the log.
const (
	Text = "text" // key=value
	JSON = "json" // an object a line
)

var initialize sync.Once

func initBeam(w io.Writer, level, format string) {
	if !flag.CommandLine.Parsed() {
		_ = flag.CommandLine.Parse(nil) // Beam reads its flags, set or not
	}
	if err := counters.Enable(); err != nil {
		panic("direct.Init: " + err.Error()) // counters registers its hook itself
	}
	garbage.Allow(garbage.Spare)
	beamlog.LogLevel, beamlog.LogKind = level, format
	beam.Init() // it makes a log of its own
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // the level is one of the four
	handler := handlerOf(w, least, format)
	if least > slog.LevelInfo {
		handler = quietHandler{handler}
	}
	slog.SetDefault(slog.New(handler))
	logs.Here()
}

func handlerOf(w io.Writer, least slog.Level, format string) slog.Handler {
	o := &slog.HandlerOptions{Level: least, AddSource: least <= slog.LevelDebug}
	if format == JSON {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// Notes are what a command itself tells of its run: lines that begin with its name or,
// where its log is JSON, lines of that.
type Notes struct {
	W       io.Writer
	Command string
	Format  string
}

// Tell writes lines of text. In a log they have the level.
func (n *Notes) Tell(level slog.Level, text string, attributes ...slog.Attr) {
	log := slog.New(handlerOf(n.W, slog.LevelInfo, JSON))
	for line := range strings.Lines(text) { // a configuration's findings are a line each
		line = strings.TrimSuffix(line, "\n")
		if n.Format == JSON {
			log.LogAttrs(context.Background(), level, line, attributes...)
			continue
		}
		_, _ = fmt.Fprintf(n.W, "%s: %s\n", n.Command, line) // there is nobody else to tell
	}
}

// quietHandler leaves out what Prism says of a failed job, six times over and
// with the plan of its graph: the command says it, once, when the job has ended.
type quietHandler struct{ slog.Handler }

// The beginnings of what is left out.
var failureTexts = []string{
	"[SDK] ", // what the worker says of a failed bundle
	"Prism received bundle error", "stage.Execute aborting", "Bundle Failed.", "job failed",
	"bundle failed", "SDK Error", "SplitProcessBundle",
}

func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	if slices.ContainsFunc(failureTexts, func(text string) bool { return strings.HasPrefix(r.Message, text) }) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}
