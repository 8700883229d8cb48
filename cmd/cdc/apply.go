package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
)

// maxChangeLine bounds a line of the file; no table has rows that large.
const maxChangeLine = 16 << 20

// simulatedChange is one line of the file.
type simulatedChange struct {
	id      string // the JSON literal of the key
	upsert  bool
	columns []string // JSON literals, in the order written
	seqText string
	seq     change.Sequence
}

// readChanges reads one change a line; name is for errors.
func readChanges(name string, r io.Reader) ([]simulatedChange, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxChangeLine)
	var changes []simulatedChange
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		c, err := readChange(line)
		if err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w", errUsage, name, number, err)
		}
		changes = append(changes, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return changes, nil
}

func readChange(line string) (simulatedChange, error) {
	var c simulatedChange
	decoder := jsontext.NewDecoder(strings.NewReader(line))
	if token, err := decoder.ReadToken(); err != nil {
		return c, fmt.Errorf("reading a JSON object: %w", err)
	} else if token.Kind() != '{' {
		return c, fmt.Errorf("want a JSON object with id, type and seq")
	}
	var typeText string
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return c, fmt.Errorf("reading a member's name: %w", err)
		}
		member := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return c, fmt.Errorf("reading member %q: %w", member, err)
		}
		switch member {
		case "id":
			c.id = string(value)
		case "type":
			typeText, err = unquote(value)
		case "seq":
			c.seqText, err = unquote(value)
		default:
			c.columns = append(c.columns, string(value))
		}
		if err != nil {
			return c, fmt.Errorf("member %q: %w", member, err)
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return c, fmt.Errorf("reading the end of the object: %w", err)
	}
	if _, err := decoder.ReadToken(); err != io.EOF { //nolint:errorlint // jsontext documents io.EOF as it is
		return c, fmt.Errorf("there is more than one JSON value on the line")
	}
	if c.id == "" || c.id == "null" {
		return c, fmt.Errorf(`member "id", the primary key, is missing`)
	}
	switch typeText {
	case "UPSERT":
		c.upsert = true
	case "DELETE":
	default:
		return c, fmt.Errorf(`member "type" must be "UPSERT" or "DELETE"`)
	}
	var err error
	if c.seq, err = change.ParseSequence(c.seqText); err != nil {
		return c, fmt.Errorf(`member "seq": %w`, err)
	}
	return c, nil
}

func unquote(value jsontext.Value) (string, error) {
	if value.Kind() != '"' {
		return "", fmt.Errorf("want a JSON string")
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

// order says whether change b, which arrived after a, replaces it: b is later or equal.
type order func(a, b *simulatedChange) bool

func byArrival(_, _ *simulatedChange) bool  { return true }
func bySequence(a, b *simulatedChange) bool { return b.seq.Compare(a.seq) >= 0 }
func byText(a, b *simulatedChange) bool     { return b.seqText >= a.seqText }

// applyChanges leaves one change for each key, the last by order. A DELETE stays
// in the result, so that an older UPSERT which arrives later can't undo it.
func applyChanges(changes []simulatedChange, replaces order) map[string]*simulatedChange {
	table := map[string]*simulatedChange{}
	for i := range changes {
		c := &changes[i]
		if current, ok := table[c.id]; !ok || replaces(current, c) {
			table[c.id] = c
		}
	}
	return table
}

// disagreements returns, for each key that text order leaves at another change
// than numeric order, both: the numerically later first.
func disagreements(changes []simulatedChange) [][2]*simulatedChange {
	numeric, text := applyChanges(changes, bySequence), applyChanges(changes, byText)
	var pairs [][2]*simulatedChange
	for _, id := range sortedKeys(numeric) {
		if numeric[id].seq.Compare(text[id].seq) != 0 {
			pairs = append(pairs, [2]*simulatedChange{numeric[id], text[id]})
		}
	}
	return pairs
}

// formatTable prints the rows as the guide does: {key: (columns…, sequence), …}.
func formatTable(table map[string]*simulatedChange) string {
	var rows []string
	for _, id := range sortedKeys(table) {
		if c := table[id]; c.upsert {
			cells := make([]string, 0, len(c.columns)+1)
			for _, column := range c.columns {
				cells = append(cells, formatLiteral(column))
			}
			cells = append(cells, "'"+c.seqText+"'")
			rows = append(rows, formatLiteral(id)+": ("+strings.Join(cells, ", ")+")")
		}
	}
	return "{" + strings.Join(rows, ", ") + "}"
}

// formatLiteral prints a JSON string in single quotes, as the guide does, and
// everything else as it was written. Control characters stay escaped.
func formatLiteral(literal string) string {
	if inner, ok := strings.CutPrefix(literal, `"`); ok {
		return "'" + strings.ReplaceAll(strings.TrimSuffix(inner, `"`), "'", `\'`) + "'"
	}
	return literal
}

// sortedKeys orders whole numbers by value and before everything else.
func sortedKeys(table map[string]*simulatedChange) []string {
	keys := make([]string, 0, len(table))
	for id := range table {
		keys = append(keys, id)
	}
	slices.SortFunc(keys, func(a, b string) int {
		aNumber, bNumber := isDigits(a), isDigits(b)
		if aNumber && bNumber {
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // JSON has no leading zeros
		}
		if aNumber != bNumber {
			if aNumber {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	return keys
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
