package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress is a line on standard error, where that is a terminal, that tells
// during long work how far it is. It says nothing in the first second.
type progress struct {
	w      io.Writer // nil: nothing is shown
	since  time.Time
	length int // of the line as it stands
}

const quietFor = time.Second

func newProgress(w io.Writer) *progress {
	p := &progress{since: time.Now()}
	if isTerminal(w) {
		p.w = w
	}
	return p
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	if p.w == nil || time.Since(p.since) < quietFor {
		return
	}
	line := fmt.Sprintf(format, args...)
	padding := max(0, p.length-len(line))
	_, _ = fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", padding)) // it is a courtesy
	p.length = len(line)
}

// clear removes the line, so that something else can be written.
func (p *progress) clear() {
	if p.w != nil && p.length > 0 {
		_, _ = fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.length))
		p.length = 0
	}
}

// isTerminal reports whether w is a character device, which a terminal is.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
