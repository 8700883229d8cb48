// Package rows collects what is read of a message's rows, for the formats whose
// rows are JSON objects or lists of names and values: their columns, in the
// arena's room, and the first thing that is wrong with the message.
//
// A row's members are data whatever they are called: only the members that a
// format puts around its rows mean something.
package rows

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
	"beamcdc/schemas/envelope/internal/slab"
)

// MaxChanges is how many changes a message may hold. Pub/Sub's 10 MB hold no more,
// but for rows of a letter and a digit; a message that was compressed could hold so
// many that they don't fit into a worker's memory.
const MaxChanges = 1 << 20

// Rows are the rows of one message after the other.
type Rows struct {
	scan    *scan.Scanner
	columns []change.Column // of all rows, in the arena's room
	usual   int             // how many columns the message before had, to ask room for
	fault   error
	seen    map[string]struct{}
}

// New returns Rows that read with s.
func New(s *scan.Scanner) Rows { return Rows{scan: s} }

// Image is one row among the Rows.
type Image struct {
	Present    bool // there, and not null
	start, end int
}

// Len returns the number of the row's columns.
func (i Image) Len() int { return i.end - i.start }

// Reset forgets the message before.
func (r *Rows) Reset() {
	r.columns, r.fault = r.scan.Arena.Columns(r.usual), nil
}

// Keep makes the columns those of whoever has asked for them by Of.
func (r *Rows) Keep() {
	r.scan.Arena.KeepColumns(r.columns)
	r.usual = min(len(r.columns), slab.Usual)
}

// Fail keeps the first of what is wrong with the message. The reading goes on,
// for the outline's sake.
func (r *Rows) Fail(reason, format string, args ...any) {
	if r.fault == nil {
		r.fault = outcome.Errorf(reason, format, args...)
	}
}

// FailTooMany says that the message has more than MaxChanges.
func (r *Rows) FailTooMany() {
	r.Fail(outcome.BadEnvelope, "the message has more than %d changes", MaxChanges)
}

// In names the table in the fault, if that names none yet.
func (r *Rows) In(table string) {
	if r.fault != nil {
		r.fault = outcome.InTable(r.fault, table)
	}
}

// Fault returns the first thing that is wrong with the message.
func (r *Rows) Fault() error { return r.fault }

// Object reads the object, or null, in front of which the Scanner stands, as a
// row of untyped values. Anything else is a fault of what.
func (r *Rows) Object(what string) Image {
	s := r.scan
	if !r.enter(what) {
		return Image{}
	}
	img := r.Begin()
	for {
		name, more := s.Member()
		if !more {
			return r.End(img)
		}
		r.Add(name, r.Untyped(s.Value()))
	}
}

// enter enters an object. Null is no fault.
func (r *Rows) enter(what string) bool {
	kind := r.scan.Peek()
	if !r.scan.Object() {
		if kind != 'n' {
			r.Fail(outcome.BadEnvelope, "%s is neither an object nor null", what)
		}
		return false
	}
	return true
}

// Begin begins a row, to which Add adds columns until End.
func (r *Rows) Begin() Image { return Image{Present: true, start: len(r.columns), end: len(r.columns)} }

// End ends it.
func (r *Rows) End(img Image) Image {
	img.end = len(r.columns)
	return img
}

// Add adds a column.
func (r *Rows) Add(name string, v change.Value) {
	r.columns = append(r.columns, change.Column{Name: name, Value: v})
}

// AddTyped adds a column of the value that the Scanner's Value has just returned,
// by a schema; nil types nothing.
func (r *Rows) AddTyped(name, raw string, schema *connect.Schema) {
	if schema == nil {
		r.Add(name, r.Untyped(raw))
		return
	}
	v, err := schema.Value(raw, &r.scan.Arena)
	if err != nil {
		r.Fail(outcome.BadValue, "column %s (%s): the value %w", Clip(name), schema, err)
	}
	r.Add(name, v)
}

// Begun returns how many columns a row has that was begun and not ended.
func (r *Rows) Begun(img Image) int { return len(r.columns) - img.start }

// Untyped returns the value that the Scanner's Value has just returned.
func (r *Rows) Untyped(raw string) change.Value {
	if raw[0] == '"' {
		return change.Text(r.scan.Unquote(raw))
	}
	v, _ := r.scan.Arena.Untyped(raw) // no string, and so no error
	return v
}

// Of returns a row's columns, nil for none. Appending to them copies them. They
// stay as they are only when no column is added to any row after it: a decoder asks
// for them at the end, after Keep.
func (r *Rows) Of(img Image) []change.Column {
	if img.start == img.end {
		return nil
	}
	return r.columns[img.start:img.end:img.end]
}

// Pick adds a row of those columns of another that are named, none unless it has
// them all. Names of more columns than any source's key has are none.
func (r *Rows) Pick(from Image, names []string) Image {
	const most = 64
	if len(names) > most {
		return Image{}
	}
	img := r.Begin()
	columns := r.Of(from)
	for _, name := range names {
		v, ok := change.Find(columns, name)
		if !ok {
			r.columns = r.columns[:img.start]
			return Image{}
		}
		r.Add(name, v)
	}
	return r.End(img)
}

// Fill returns the row with the columns that it lacks and another has, where the
// source leaves out what is unchanged and the other is the row before.
func (r *Rows) Fill(img, from Image) Image {
	const most = 2_000 // BigQuery's columns: who writes more has no table
	columns, others := r.Of(img), r.Of(from)
	if len(columns) > most || len(others) > most {
		return img
	}
	filled, next := img, 0
	for _, c := range others {
		if next < len(columns) && columns[next].Name == c.Name { // in the same order, as a rule
			next++
			continue
		}
		if _, ok := change.Find(columns, c.Name); ok {
			continue
		}
		if filled == img {
			filled = r.Begin()
			r.columns = append(r.columns, columns...)
		}
		r.Add(c.Name, c.Value)
	}
	if filled == img {
		return img
	}
	return r.End(filled)
}

// Repeated returns a name that two of the row's columns have, "" for none: of
// columns whose names are not members' names, and so no repetition for JSON.
func (r *Rows) Repeated(img Image) string {
	const few = 48 // up to which comparing all of them is quicker than a map
	columns := r.Of(img)
	if len(columns) > few {
		return r.repeatedOfMany(columns)
	}
	for i := range columns {
		for j := range i {
			if columns[i].Name == columns[j].Name {
				return columns[i].Name
			}
		}
	}
	return ""
}

func (r *Rows) repeatedOfMany(columns []change.Column) string {
	if r.seen == nil {
		r.seen = make(map[string]struct{}, len(columns))
	}
	defer clear(r.seen)
	for i := range columns {
		r.seen[columns[i].Name] = struct{}{}
		if len(r.seen) == i {
			return columns[i].Name
		}
	}
	return ""
}

// Names appends to dst the strings of an array, as Value has returned it. What is
// no array of strings is none.
func (r *Rows) Names(dst []string, raw string) []string {
	var c scan.Cursor
	c.Walk(raw)
	if !c.Array() {
		return dst
	}
	from := len(dst)
	for c.Element() {
		element := c.Value()
		if element[0] != '"' {
			return dst[:from]
		}
		dst = append(dst, r.Text(element))
	}
	return dst
}

// Text returns the content of a JSON string, given with its quotes.
func (r *Rows) Text(raw string) string {
	text, err := r.scan.Arena.Unquote(raw)
	if err != nil {
		panic("rows: a string that the scanner took can't be unescaped: " + err.Error())
	}
	return text
}

// Clip bounds what a hostile message can put into an error.
func Clip(text string) string {
	const limit = 100
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
