package letters

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// group is letters that fail alike.
type group struct {
	Stage  string    `json:"stage"`
	Reason string    `json:"reason"`
	Table  string    `json:"table"`
	Count  int       `json:"letters"`
	First  time.Time `json:"first_published,omitzero"`
	Last   time.Time `json:"last_published,omitzero"`
	Broken int       `json:"broken,omitempty"`
	Names  []string  `json:"broken_letters,omitempty"` // maxNames of them
}

// maxNames bounds how many broken letters of a group are named.
const maxNames = 10

// grouped returns the letters' groups in the order of their first letters.
func grouped(letters []*Head) []*group {
	type kind struct{ stage, reason, table string }
	var groups []*group
	byKind := make(map[kind]*group)
	for _, h := range letters {
		k := kind{h.Stage, h.Reason, h.Table}
		g := byKind[k]
		if g == nil {
			g = &group{Stage: h.Stage, Reason: h.Reason, Table: h.Table}
			byKind[k], groups = g, append(groups, g)
		}
		g.Count++
		if h.Broken != "" {
			if g.Broken++; len(g.Names) < maxNames {
				g.Names = append(g.Names, h.name())
			}
		}
		if t := h.PublishTime; !t.IsZero() {
			if g.First.IsZero() || t.Before(g.First) {
				g.First = t
			}
			if t.After(g.Last) {
				g.Last = t
			}
		}
	}
	return groups
}

// listed is a letter as list shows it: no value of a row.
type listed struct {
	ID          string    `json:"id"`
	MessageID   string    `json:"message_id"`
	Stage       string    `json:"stage"`
	Reason      string    `json:"reason"`
	Table       string    `json:"table"`
	PublishTime time.Time `json:"publish_time,omitzero"`
	Bytes       int64     `json:"bytes"`
	Replays     uint32    `json:"replays,omitempty"`
	Error       string    `json:"error"`
	Broken      string    `json:"broken,omitempty"`
}

// maxShownError bounds an error's text in a table.
const maxShownError = 100

func listEach(w io.Writer, letters []*Head, asJSON bool) error {
	out := bufio.NewWriter(w)
	if asJSON {
		for _, h := range letters {
			if err := writeJSON(out, listed{h.ID, h.MessageID, h.Stage, h.Reason, h.Table, h.PublishTime, h.Size, h.Replays, h.Error, h.Broken}); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row(columns, "LETTER", "REASON", "TABLE", "PUBLISHED", "BYTES", "ERROR")
	for _, h := range letters {
		text := h.Error
		if h.Broken != "" {
			text = "BROKEN: " + h.Broken
		}
		row(columns, h.name(), h.Reason, h.Table, shownTime(h.PublishTime), strconv.FormatInt(h.Size, 10), clip(text, maxShownError))
	}
	return flush(columns, out)
}

func listGroups(w io.Writer, letters []*Head, asJSON bool) error {
	out := bufio.NewWriter(w)
	groups := grouped(letters)
	if asJSON {
		for _, g := range groups {
			if err := writeJSON(out, g); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row(columns, "LETTERS", "STAGE", "REASON", "TABLE", "FIRST PUBLISHED", "LAST PUBLISHED")
	for _, g := range groups {
		count := strconv.Itoa(g.Count)
		if g.Broken > 0 {
			count += fmt.Sprintf(" (%d broken)", g.Broken)
		}
		row(columns, count, g.Stage, g.Reason, g.Table, shownTime(g.First), shownTime(g.Last))
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	for _, g := range groups {
		for _, name := range g.Names {
			_, _ = fmt.Fprintf(out, "broken: %s\n", safe(name)) // Flush tells
		}
		if more := g.Broken - len(g.Names); more > 0 {
			_, _ = fmt.Fprintf(out, "broken: %d more, which -each lists\n", more)
		}
	}
	return out.Flush()
}

// row writes a row of a table. What tabwriter would read as the end of a cell is
// written as safe writes it.
func row(w io.Writer, cells ...string) {
	for i, cell := range cells {
		if cell == "" {
			cell = "-"
		}
		end := "\t"
		if i == len(cells)-1 {
			end = "\n"
		}
		_, _ = io.WriteString(w, safe(cell)+end) // Flush tells
	}
}

func flush(columns *tabwriter.Writer, out *bufio.Writer) error {
	if err := columns.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
