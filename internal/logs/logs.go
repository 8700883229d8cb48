// Package logs is how the pipeline logs: a message that stays the same, and attributes
// under keys that stay the same, listed in docs/logs.md.
//
// A line goes to the process's log/slog where the pipeline runs in a process of its own
// ([Here]). In a worker of a runner elsewhere it goes the runner's way, through Beam,
// which knows no attributes: they end the message's text, as key=value.
//
// A line tells a fault or an event, not a row: what may happen for each row asks a
// [Seldom] first. No attribute holds a row's value, a key or a credential.
package logs

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// here says that this process's log is where the pipeline's lines belong.
var here atomic.Bool

// Here makes lines go to this process's log, [slog.Default], from now on. Without it
// they go to the runner.
func Here() { here.Store(true) }

// Info tells an event that is as it should be.
func Info(ctx context.Context, message string, attributes ...slog.Attr) {
	log(ctx, slog.LevelInfo, message, attributes)
}

// Warn tells what somebody may have to look at: a fault that is mended by trying again,
// or a change that was made to a table.
func Warn(ctx context.Context, message string, attributes ...slog.Attr) {
	log(ctx, slog.LevelWarn, message, attributes)
}

func log(ctx context.Context, level slog.Level, message string, attributes []slog.Attr) {
	if !here.Load() {
		severity := beamlog.SevInfo
		if level >= slog.LevelWarn {
			severity = beamlog.SevWarn
		}
		const callers = 2 // this function and the exported one
		beamlog.Output(ctx, severity, callers, text(message, attributes))
		return
	}
	handler := slog.Default().Handler()
	if !handler.Enabled(ctx, level) {
		return
	}
	var caller [1]uintptr
	runtime.Callers(3, caller[:])
	r := slog.NewRecord(time.Now(), level, message, caller[0])
	r.AddAttrs(attributes...)
	_ = handler.Handle(ctx, r) // as slog itself does
}

// text returns the message with its attributes, written as slog's text handler does.
func text(message string, attributes []slog.Attr) string {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}})
	r := slog.NewRecord(time.Time{}, slog.LevelInfo, "", 0)
	r.AddAttrs(attributes...)
	_ = handler.Handle(context.Background(), r) // a buffer takes everything
	return strings.TrimSuffix(message+" "+out.String(), "\n")
}
