package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"beamcdc/emulator/internal/engine"
)

// rowPage is which rows of all a request wants, and how it wants them written.
type rowPage struct {
	first   uint64
	limit   int64
	limited bool // whether there is a limit; 0 is one
	form    wireForm
}

func pageOf(r *http.Request) (rowPage, error) {
	q := r.URL.Query()
	var p rowPage
	var err error
	// Python's client writes True.
	if p.form, err = newWireForm(strings.EqualFold(q.Get("formatOptions.useInt64Timestamp"), "true"), q.Get("formatOptions.timestampOutputFormat")); err != nil {
		return p, err
	}
	for _, name := range []string{"startIndex", "pageToken"} {
		if text := q.Get(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 62)
			if err != nil {
				return p, engine.Invalid("Invalid value for %s: %s", name, engine.Clip(text))
			}
			p.first = n
		}
	}
	if text := q.Get("maxResults"); text != "" {
		n, err := strconv.ParseUint(text, 10, 62)
		if err != nil {
			return p, engine.Invalid("Invalid value for maxResults: %s", engine.Clip(text))
		}
		p.limit, p.limited = int64(n), true
	}
	return p, nil
}

// pageWriter takes all rows, one by one, and keeps those of its page.
type pageWriter struct {
	rowPage
	total uint64
	rows  []json.RawMessage
	bytes int
	full  bool
}

func (w *pageWriter) add(columns []*engine.Column, values []any) error {
	w.total++
	if w.total <= w.first || w.full {
		return nil
	}
	if w.limited && int64(len(w.rows)) >= w.limit {
		w.full = true
		return nil
	}
	row := wireRow{make([]wireCell, len(columns))}
	for i, c := range columns {
		row.F[i] = wireCell{w.form.value(c, values[i])}
	}
	text, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("marshaling a row: %w", err)
	}
	if w.bytes += len(text); w.bytes > maxPageBytes && len(w.rows) > 0 {
		w.full = true
		return nil
	}
	w.rows = append(w.rows, text)
	return nil
}

// token continues after the page; "" if it is the last one.
func (w *pageWriter) token() string {
	if next := w.first + uint64(len(w.rows)); next < w.total {
		return strconv.FormatUint(next, 10)
	}
	return ""
}
