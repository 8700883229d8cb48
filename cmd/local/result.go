package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/cmd/internal/direct"
)

// result is what a run leaves: all that either output shows.
type result struct {
	Tables  []tableResult // in the order of the configuration
	Letters []letter      // in the order in which their messages were published
	Counts  direct.Counts
}

// tableResult is one table's rows, in the order of its primary key.
type tableResult struct {
	Name    string           // as the configuration names it: "shop.orders"
	Columns []column         // in the table's order
	Rows    []jsontext.Value // JSON objects
}

type column struct {
	Name    string
	Numeric bool // shown to people on the right
}

// letter is a dead letter as the output shows it.
type letter struct {
	Stage, Reason, Error string
	Table                string // "" when the message names none
	Data                 []byte // of the message, as it was published
	MessageID            string
	Form                 string // deadletter.FormRedacted or FormEncrypted, as it is stored; "" as it was published
}

// writeJSON writes the result as one JSON object:
//
//	{"tables": {"shop.orders": [{…}, …]}, "dead_letters": [{"stage": …, "reason": …, "error": …, "data": …}], "counts": {…}}
//
// table is the source's or, once it is known, the destination's, "" where the message names none.
// data is the message's data as a text. Where it is no UTF-8, data_base64 holds
// its exact bytes, and in data a U+FFFD stands for what is no text. Where what is stored
// is not the data as it came, data_form says what it is, "redacted" or "encrypted", and
// data is "" where nothing is stored or no key opens it.
func writeJSON(w io.Writer, r result) error {
	out := bufio.NewWriter(w)
	_, _ = out.WriteString(`{"tables": {`) // Flush returns the first error of all
	for i, t := range r.Tables {
		separate(out, i, "\n  ")
		writeText(out, t.Name)
		_, _ = out.WriteString(": [")
		for j, row := range t.Rows {
			separate(out, j, "\n    ")
			_, _ = out.Write(row)
		}
		_, _ = out.WriteString("]")
	}
	_, _ = out.WriteString("},\n \"dead_letters\": [")
	for i, l := range r.Letters {
		separate(out, i, "\n  ")
		members := []struct{ name, text string }{
			{"stage", l.Stage}, {"reason", l.Reason}, {"error", l.Error}, {"data", string(l.Data)},
		}
		if !utf8.Valid(l.Data) {
			members = append(members, struct{ name, text string }{"data_base64", base64.StdEncoding.EncodeToString(l.Data)})
		}
		if l.Form != "" {
			members = append(members, struct{ name, text string }{"data_form", l.Form})
		}
		for j, m := range members {
			separate(out, j, " ")
			if j == 0 {
				_, _ = out.WriteString("{")
			}
			writeText(out, m.name)
			_, _ = out.WriteString(": ")
			writeText(out, m.text)
		}
		_, _ = out.WriteString("}")
	}
	_, _ = out.WriteString("],\n \"counts\": ")
	text, err := json.Marshal(r.Counts)
	if err != nil {
		return fmt.Errorf("writing the counts: %w", err)
	}
	_, _ = out.Write(text)
	_, _ = out.WriteString("}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// separate writes what stands before item i of a list: a comma, but for the
// first, and a blank or a new line.
func separate(out *bufio.Writer, i int, space string) {
	switch {
	case i > 0:
		_, _ = out.WriteString("," + space)
	case space != " ":
		_, _ = out.WriteString(space)
	}
}

// writeText writes a JSON string; a U+FFFD stands for what is no UTF-8.
func writeText(out *bufio.Writer, text string) {
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\uFFFD")) // valid UTF-8 can be quoted
	_, _ = out.Write(quoted)
}
