// Package slab hands out the memory of decoded events in chunks, so that a
// message of twenty columns costs no allocation of its own.
package slab

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
)

// What a chunk holds, and the largest piece that is taken from one. A piece
// that is kept for long keeps its chunk, so chunks are small.
const (
	textChunk    = 4 << 10
	textPiece    = 1 << 10
	columnsChunk = 204 // 8 KiB
)

// Usual is the greatest number of columns that it pays to ask room for. Room for as
// many as the message before had is lost, up to 40 KiB of it, when a message has few.
const Usual = 1 << 10

// Arena hands out memory that is never handed out again: what was made from it
// stays valid as long as anyone holds it. Its zero value is ready to use.
type Arena struct {
	text    []byte
	columns []change.Column
	table   string // that Table has returned last
}

// Columns returns an empty slice with room for n columns and more. What the
// caller appends to it is to be given to KeepColumns before the next Columns, or
// is forgotten.
func (a *Arena) Columns(n int) []change.Column {
	if n > columnsChunk/2 { // what is left of the chunk isn't lost for it
		return make([]change.Column, 0, n)
	}
	if cap(a.columns)-len(a.columns) < n {
		a.columns = make([]change.Column, 0, columnsChunk)
	}
	return a.columns[len(a.columns):]
}

// KeepColumns makes what was appended to a slice from Columns the caller's.
func (a *Arena) KeepColumns(columns []change.Column) {
	// A slice that outgrew its room is somewhere else, and needs no keeping.
	if n := len(a.columns); len(columns) > 0 && cap(a.columns) > n && &a.columns[:n+1][n] == &columns[0] {
		a.columns = a.columns[:n+len(columns)]
	}
}

// Reserve returns an empty slice with room for n bytes. What the caller appends
// to it within that room is to be given to Keep before the next Reserve.
func (a *Arena) Reserve(n int) []byte {
	if n > textPiece {
		return make([]byte, 0, n)
	}
	if cap(a.text)-len(a.text) < n {
		a.text = make([]byte, 0, textChunk)
	}
	return a.text[len(a.text):len(a.text):cap(a.text)]
}

// Keep returns what was appended to a slice from Reserve as a string, without
// copying it. The caller must not touch the slice any more.
func (a *Arena) Keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) <= textPiece && cap(a.text)-len(a.text) >= len(b) {
		if room := a.text[len(a.text) : len(a.text)+len(b)]; unsafe.SliceData(room) == unsafe.SliceData(b) {
			a.text = a.text[:len(a.text)+len(b)]
		}
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Unquote returns the content of a JSON string, given with its quotes: a
// substring where nothing is escaped.
func (a *Arena) Unquote(raw string) (string, error) {
	if len(raw) < 2 {
		return "", fmt.Errorf("reading a string: it lacks its quotes")
	}
	if strings.IndexByte(raw, '\\') >= 0 {
		return a.unescape(raw)
	}
	return raw[1 : len(raw)-1], nil
}

// unescape makes a string that is never longer than its escaped form.
func (a *Arena) unescape(raw string) (string, error) {
	b, err := jsontext.AppendUnquote(a.Reserve(len(raw)), raw)
	if err != nil {
		return "", fmt.Errorf("unescaping a string: %w", err)
	}
	return a.Keep(b), nil
}

// Join returns a, b and c as one string.
func (a *Arena) Join(x, y, z string) string {
	b := a.Reserve(len(x) + len(y) + len(z))
	b = append(b, x...)
	b = append(b, y...)
	return a.Keep(append(b, z...))
}

// Table returns the name of a table in a schema or a database, "space.name". That of
// the message before takes no more memory.
func (a *Arena) Table(space, name string) string {
	rest, ok := strings.CutPrefix(a.table, space)
	if !ok || len(rest) != 1+len(name) || rest[0] != '.' || rest[1:] != name {
		a.table = a.Join(space, ".", name)
	}
	return a.table
}

// Untyped returns the value that a JSON value is where nothing types it: digits
// and the text of arrays and objects stay as they are written.
func (a *Arena) Untyped(raw string) (change.Value, error) {
	switch raw[0] {
	case '"':
		text, err := a.Unquote(raw)
		return change.Text(text), err
	case '{', '[':
		return change.Raw(raw), nil
	case 't':
		return change.Bool(true), nil
	case 'f':
		return change.Bool(false), nil
	case 'n':
		return change.Null(), nil
	}
	return change.Number(raw), nil
}
