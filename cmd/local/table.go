package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What people are shown of a table; -output json has everything.
const (
	maxShownRows  = 40
	maxShownWidth = 40  // characters of one value
	maxShownData  = 72  // characters of a dead letter's data
	maxShownError = 600 // characters of an error: what to do comes last
)

// writeTables writes the result for people: the tables, what became of the
// messages, and the dead letters.
func writeTables(w io.Writer, r result, style style) error {
	out := bufio.NewWriter(w)
	for _, t := range r.Tables {
		writeTable(out, t, style)
		_, _ = fmt.Fprintln(out) // Flush returns the first error of all
	}
	writeCounts(out, r.Counts, style)
	writeLetters(out, r.Letters, style)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// style marks parts of a text for a terminal; its zero value marks nothing.
type style struct{ terminal bool }

func (s style) bold(text string) string { return s.mark("1", text) }
func (s style) dim(text string) string  { return s.mark("2", text) }

func (s style) mark(code, text string) string {
	if !s.terminal || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func writeTable(out *bufio.Writer, t tableResult, style style) {
	_, _ = fmt.Fprintf(out, "%s  %s\n", style.bold(t.Name), style.dim(plural(len(t.Rows), "row")))
	if len(t.Rows) == 0 {
		return
	}
	rows := t.Rows[:min(len(t.Rows), maxShownRows)]
	cells := make([][]string, len(rows))
	widths := make([]int, len(t.Columns))
	for c, column := range t.Columns {
		widths[c] = utf8.RuneCountInString(column.Name)
	}
	for i, row := range rows {
		cells[i] = rowCells(row, t.Columns)
		for c, cell := range cells[i] {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	header := make([]string, len(t.Columns))
	rule := make([]string, len(t.Columns))
	for c, column := range t.Columns {
		header[c] = column.Name
		rule[c] = strings.Repeat("─", widths[c])
	}
	writeRow(out, header, widths, t.Columns, style.bold)
	writeRow(out, rule, widths, t.Columns, style.dim)
	for _, row := range cells {
		writeRow(out, row, widths, t.Columns, func(text string) string {
			if text == nullCell {
				return style.dim(text)
			}
			return text
		})
	}
	if more := len(t.Rows) - len(rows); more > 0 {
		_, _ = fmt.Fprintf(out, "  %s\n", style.dim(fmt.Sprintf("… and %s more; -output json has them", plural(more, "row"))))
	}
}

// writeRow writes one line of a table. It marks the cells after it has padded
// them, so that marks take no room.
func writeRow(out *bufio.Writer, cells []string, widths []int, columns []column, mark func(string) string) {
	for c, cell := range cells {
		padding := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
		_, _ = out.WriteString("  ")
		switch {
		case columns[c].Numeric:
			_, _ = out.WriteString(padding + mark(cell))
		case c == len(cells)-1:
			_, _ = out.WriteString(mark(cell))
		default:
			_, _ = out.WriteString(mark(cell) + padding)
		}
	}
	_, _ = out.WriteString("\n")
}

// nullCell is what NULL looks like; a text that reads NULL looks the same.
const nullCell = "NULL"

// rowCells returns the values of a row, a JSON object, in the order of the columns.
func rowCells(row jsontext.Value, columns []column) []string {
	values := objectMembers(row)
	cells := make([]string, len(columns))
	for c, column := range columns {
		value, ok := values[column.Name]
		if !ok {
			cells[c] = nullCell
			continue
		}
		cells[c] = clip(cellText(value), maxShownWidth)
	}
	return cells
}

// objectMembers returns the members of a JSON object; none for what is no object.
func objectMembers(object jsontext.Value) map[string]jsontext.Value {
	members := map[string]jsontext.Value{}
	d := jsontext.NewDecoder(strings.NewReader(string(object)))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return members
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		members[key] = value.Clone()
	}
	return members
}

// cellText returns a JSON value as people read it: a string without its quotes.
func cellText(value jsontext.Value) string {
	if value.Kind() == 'n' {
		return nullCell
	}
	if text, err := jsontext.AppendUnquote(nil, value); err == nil {
		return string(text)
	}
	return string(value)
}

// clip returns the text on one line, cut to a number of characters. What could
// move a terminal's cursor or change its colours is shown as U+FFFD.
func clip(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:limit-1]) + "…"
}

// plural returns "1 row", "2 rows", "10,000 rows".
func plural[T int | int64](n T, noun string) string {
	return thousands(n) + " " + counted(n, noun)
}

// counted returns the noun as it stands after a number.
func counted[T int | int64](n T, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// thousands returns a number with commas: "12,345".
func thousands[T int | int64](n T) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
