// Package doctor looks at everything that a pipeline depends on, before it is
// launched: its configuration, the permissions of the account that it runs as, the
// subscription, the destination tables, a sample of real messages, and the options
// of a Dataflow job. It changes nothing: it creates no table, acks no message and
// publishes none.
//
// Each finding says what is wrong, what follows from it, and what to do. What could
// not be looked at is said too: a check that did not run is not a check that passed.
package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Level says how bad a finding is.
type Level string

// The levels, the worst first.
const (
	Fatal   Level = "fatal"   // the pipeline can't do its work
	Warning Level = "warning" // it can, but it will hurt somewhere
	Unknown Level = "unknown" // it could not be looked at
)

var levels = []Level{Fatal, Warning, Unknown}

// Finding is one thing that is wrong, or that could not be checked.
type Finding struct {
	Level   Level  `json:"level"`
	About   string `json:"about"`          // "subscription projects/…", "table p.d.t", "messages of public.orders", …
	Problem string `json:"problem"`        // what is wrong, and what follows from it
	Mend    string `json:"mend,omitempty"` // what to do
}

// Report is what an examination found.
type Report struct {
	Checked  []string  `json:"checked"` // what was looked at, in order
	Findings []Finding `json:"findings"`
}

// Fatal says whether the pipeline can't do its work as things are.
func (r *Report) Fatal() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Fatal })
}

func (r *Report) checked(format string, args ...any) {
	r.Checked = append(r.Checked, fmt.Sprintf(format, args...))
}

func (r *Report) add(found ...Finding) { r.Findings = append(r.Findings, found...) }

// sort puts the worst findings first, and leaves those of one level in the order of the checks.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level))
	})
}

// count returns how many findings a level has.
func (r *Report) count(l Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// WriteText writes the report for people: what was looked at, then the findings,
// the worst first, each with its mend.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Checked {
		fmt.Fprintf(&b, "looked at %s\n", oneLine(c))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n%s: %s\n  %s\n", f.Level, oneLine(f.About), indent(f.Problem))
		if f.Mend != "" {
			fmt.Fprintf(&b, "  → %s\n", indent(f.Mend))
		}
	}
	if len(r.Findings) == 0 {
		b.WriteString("\nNothing is wrong.\n")
	} else {
		fmt.Fprintf(&b, "\n%d fatal, %s, %d could not be checked.\n", r.count(Fatal), counted(r.count(Warning), "warning"), r.count(Unknown))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// indent puts the lines of a text below each other, and keeps what a message or a
// server put into it from moving the terminal's cursor.
func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return strings.Join(lines, "\n    ")
}

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '\ufffd'
		}
		return r
	}, text)
}
