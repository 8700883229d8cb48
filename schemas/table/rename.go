package table

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"beamcdc/schemas/change"
)

// LegalName returns the name under which BigQuery takes a column that its source
// calls name: name itself where BigQuery takes that. What it doesn't take becomes
// an underscore, and a name that is changed in that way, or cut to 300 characters,
// ends in "_" and eight digits of its hash, so that no two of a source's names
// become one. A name that begins as BigQuery's own do gets a "c" before it:
// "_CHANGE_TYPE" is "c_CHANGE_TYPE".
//
// It depends on the name alone: every process finds the same one.
func LegalName(name string) string {
	legal := strings.Map(func(r rune) rune {
		if !takesRune(r) || unicode.IsControl(r) { // a line's end is a space to unicode
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	changed := legal != name || name == ""
	if reservedPrefix(legal) != "" {
		legal = "c" + legal
	}
	if changed || utf8.RuneCountInString(legal) > maxColumnName {
		return withHash(legal, name)
	}
	return legal
}

// withHash ends a name in a hash of what it stands for.
func withHash(name, of string) string {
	hash := sha256.Sum256([]byte(of))
	suffix := "_" + hex.EncodeToString(hash[:4])
	return cutRunes(name, maxColumnName-len(suffix)) + suffix
}

func cutRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// besideText is the description of a column beside another, by which it is known.
const besideText = "What column %s can't hold, by beamcdc."

// IsBeside reports whether the column takes what the other can't hold.
func (c *Column) IsBeside(other string) bool { return c.Description == fmt.Sprintf(besideText, other) }

// BesideName returns the name of the column that takes the values which column c
// can't hold and can't be changed to hold: c's, with their type after it,
// "total_string".
func BesideName(c string, values *Column) string {
	name := c + "_" + strings.ToLower(string(values.Type))
	if values.Mode == Repeated {
		name += "_array"
	}
	if utf8.RuneCountInString(name) > maxColumnName {
		return withHash(name, name)
	}
	return name
}

// Renamer gives the columns of rows the names that their table has them under, or
// is to have. It remembers the last row's, since the rows of a table mostly have
// the same. It is for one goroutine; its zero value is ready to use.
//
// A source's column is the table's column of exactly that name, else of its
// LegalName, else the one that differs by case alone, as BigQuery matches names. Of
// columns that a source tells apart by case, the one that the table has in exactly
// that spelling, else the first in the order of bytes, has the table's column. The
// others end in "_" and eight digits of their hash.
type Renamer struct {
	table *Table
	names []string // the row's
	to    []string // the table's
	same  bool     // to is names
	row   []change.Column
}

// Rename returns the row under the table's names: the row itself where they are its
// own, or else one that is good until the next call.
func (r *Renamer) Rename(t *Table, row []change.Column) []change.Column {
	if r.table != t || !r.fits(row) {
		r.learn(t, row)
	}
	if r.same {
		return row
	}
	r.row = append(r.row[:0], row...)
	for i := range r.row {
		r.row[i].Name = r.to[i]
	}
	return r.row
}

func (r *Renamer) fits(row []change.Column) bool {
	if len(row) != len(r.names) {
		return false
	}
	for i := range row {
		if row[i].Name != r.names[i] {
			return false
		}
	}
	return true
}

func (r *Renamer) learn(t *Table, row []change.Column) {
	has := make(map[string]bool, len(t.Columns))
	for i := range t.Columns {
		has[t.Columns[i].Name] = true
	}
	r.table, r.names, r.to, r.same = t, r.names[:0], r.to[:0], true
	legal := make([]string, len(row))
	first := make(map[string]string, len(row)) // folded: the name that has it
	for i := range row {
		name := strings.Clone(row[i].Name) // it may share a message's memory
		r.names = append(r.names, name)
		legal[i] = LegalName(name)
		folded := fold(legal[i])
		other, taken := first[folded]
		if !taken || has[legal[i]] && !has[other] || has[legal[i]] == has[other] && legal[i] < other {
			first[folded] = legal[i]
		}
	}
	for i, name := range legal {
		if first[fold(name)] != name || has[withHash(name, name)] && !has[name] {
			name = withHash(name, name)
		}
		r.to = append(r.to, name)
		r.same = r.same && name == r.names[i]
	}
}
