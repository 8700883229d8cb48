package status

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// judge notes what to do something about.
func (t *Table) judge() {
	note := func(format string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(format, args...)) }
	waits := t.Pending != nil && t.Pending.AtLeast > 0
	switch {
	case t.exists && t.MaxStaleness == nil:
		note("it has no max_staleness: every query applies what is pending; set %s", t.recommended())
	case t.LagSeconds != nil && waits && *t.LagSeconds > *t.MaxStaleness:
		note("its applied changes are older than its max_staleness: queries apply what is pending, read the whole table and cost more")
	}
	if t.MaxStaleness != nil && t.RecommendedMinutes != nil && *t.MaxStaleness < float64(*t.RecommendedMinutes*60) {
		note("its max_staleness is less than its applies take: set %s", t.recommended())
	}
	if t.UnfinishedSince != nil {
		note("an apply that was asked for at %s has not ended: if that is long ago, the reservation for BACKGROUND jobs has too few slots", stamp(*t.UnfinishedSince))
	}
	if t.BelowBaseline {
		note("it gets %s of what it used to get: look whether the pipeline runs, and its source publishes", percent(float64(*t.RecentBytes), *t.BaselineBytes))
	}
}

func (t *Table) recommended() string {
	if t.RecommendedMinutes == nil {
		return "the staleness that its readers bear"
	}
	return fmt.Sprintf("INTERVAL %d MINUTE or more", *t.RecommendedMinutes)
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// WriteText writes the report for people: a line for each table, then what there is
// to do.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(columns, strings.Join(cells, "\t")) } // into memory
	line("TABLE", "WATERMARK LAG", "PENDING ROWS", "APPLY P95", "RECOMMENDED", "MAX STALENESS", "LAST ERROR")
	for _, t := range r.Tables {
		line(plain(t.Name), t.lag(), t.Pending.text(), seconds(t.ApplySeconds), minutes(t.RecommendedMinutes), seconds(t.MaxStaleness), t.lastError())
	}
	_ = columns.Flush() // into memory
	for _, t := range r.Tables {
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "\n%s: %s\n", plain(t.about()), plain(n))
		}
		for _, u := range t.Unknown {
			fmt.Fprintf(&b, "\n%s: not known: %s\n", plain(t.about()), plain(u))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", plain(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) about() string {
	if t.Behind != "" {
		return t.Behind + ", behind " + t.Name
	}
	return t.Name
}

const notKnown = "-"

func (t *Table) lag() string {
	if t.LagSeconds == nil && t.exists {
		return "never applied"
	}
	return seconds(t.LagSeconds)
}

// text is how many rows wait: "12", or "at most 12" where it may be fewer.
func (p *Pending) text() string {
	switch {
	case p == nil:
		return notKnown
	case p.AtLeast == p.AtMost:
		return strconv.FormatInt(p.AtMost, 10)
	}
	return fmt.Sprintf("%d to %d", p.AtLeast, p.AtMost)
}

func (t *Table) lastError() string {
	e := t.LastError
	if e == nil {
		return notKnown
	}
	text := fmt.Sprintf("%s %s: %d of %s", stamp(e.At), e.Code, e.Count, e.Of)
	if e.Count != 1 {
		text += "s"
	}
	return plain(text)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func seconds(s *float64) string {
	if s == nil {
		return notKnown
	}
	d := time.Duration(*s * float64(time.Second))
	if d >= 10*time.Second {
		return short(d.Round(time.Second))
	}
	return d.Round(10 * time.Millisecond).String()
}

func minutes(m *int64) string {
	if m == nil {
		return notKnown
	}
	return short(time.Duration(*m) * time.Minute)
}

// short is a duration without units that are nothing: "15m", not "15m0s".
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func percent(part, whole float64) string { return fmt.Sprintf("%.0f %%", 100*part/whole) }

// plain keeps what BigQuery answers on its line, and from moving a terminal's cursor.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
