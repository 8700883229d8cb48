package direct

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"beamcdc/internal/counters"
)

// Init initializes Beam in a command that has parsed its flags, and sends the log
// to w: lines of text, of the given level or above ("debug", "info", "warn",
// "error"). In a worker it does not return. Only the first call has an effect.
func Init(w io.Writer, level string) {
	initialize.Do(func() { initBeam(w, level) })
}

var initialize sync.Once

func initBeam(w io.Writer, level string) {
	if !flag.CommandLine.Parsed() {
		_ = flag.CommandLine.Parse(nil) // Beam reads its flags, set or not
	}
	if err := counters.Enable(); err != nil {
		panic("direct.Init: " + err.Error()) // counters registers its hook itself
	}
	beamlog.LogLevel, beamlog.LogKind = level, "text"
	beam.Init() // it makes a log of its own
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // the level is one of the four
	var handler slog.Handler = slog.NewTextHandler(w, &slog.HandlerOptions{Level: least})
	if least > slog.LevelInfo {
		handler = quietHandler{handler}
	}
	slog.SetDefault(slog.New(handler))
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
