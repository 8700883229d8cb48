package diff

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/table"
)

// The canonical text of a value is one text for each value that BigQuery's column
// can hold, which PostgreSQL, MySQL and GoogleSQL can all write:
//
//	BOOL                 true, false
//	INT64                digits
//	NUMERIC, BIGNUMERIC  digits without zeros at the fraction's end: 12.5, -0.04, 100
//	STRING               the text
//	BYTES                hexadecimal, in lower case
//	DATE                 2026-03-09
//	TIME                 09:28:27.903734, always six digits
//	DATETIME, TIMESTAMP  2026-03-09 09:28:27.903734, always six digits, of UTC
//
// A source's value that BigQuery can't hold (infinity, 44 BC, NaN) has another text
// than all that it can, so that it makes a difference, which the rows then explain.
//
// A row's text is its columns' in BigQuery's order, each with its length in
// characters in front, "-" for NULL: no two rows have the same. Its MD5 in four words
// of 32 bits is what a range's hash sums up, word by word; a sum of them grows with
// each row, so that unlike with exclusive or two equal rows don't cancel out.
//
// FLOAT64, JSON, INTERVAL, GEOGRAPHY, RANGE, STRUCTs and arrays have no such text: no
// two databases write the same double alike.

// form is a class of source values by how their canonical text is written.
type form int

const (
	formNone form = iota
	formBool
	formInt
	formDecimal
	formText
	formBytes
	formDate
	formTime
	formDateTime // civil or instant: the text is the same
)

// canonical says whether the values of a form have the canonical text of a column.
func (f form) canonical(c *table.Column) bool {
	if c.Mode == table.Repeated {
		return false
	}
	fits := map[table.Type][]form{
		table.Bool:       {formBool},
		table.Int64:      {formInt},
		table.Numeric:    {formInt, formDecimal},
		table.BigNumeric: {formInt, formDecimal},
		table.String:     {formText},
		table.Bytes:      {formBytes},
		table.Date:       {formDate},
		table.Time:       {formTime},
		table.DateTime:   {formDateTime},
		table.Timestamp:  {formDateTime},
	}
	return slices.Contains(fits[c.Type], f)
}

// dialect is what differs between the databases' SQL.
type dialect struct {
	quote       func(name string) string
	placeholder func(n int) string // of the n-th argument, from 1
	order       func(c *Column) string
	// bind reads a key's text, given as an argument, as order's type.
	bind func(c *Column, placeholder string) string
	// native is a condition that holds for all rows whose column has one of the given
	// texts, and perhaps for others; "" where order is as good for an index.
	native func(c *Column, placeholder string) string
	text   func(c *Column) string // the canonical text; "" for none
	part   string                 // of a text, %[1]s, in a row's
	concat func(parts []string) string
	md5    string // in hexadecimal, of %s
	word   string // the number of eight digits of %[1]s, from the %[2]d-th on
}

// statement is SQL under construction, with its arguments.
type statement struct {
	*dialect
	text strings.Builder
	args []any
}

func (s *statement) add(format string, args ...any) *statement {
	fmt.Fprintf(&s.text, format, args...)
	return s
}

// value adds a key's value as an argument and returns it in order's type.
func (s *statement) value(c *Column, text string) string {
	s.args = append(s.args, text)
	return s.bind(c, s.placeholder(len(s.args)))
}

// beyond returns that a row's key is after k, or before it by the operator "<", and
// with orEqual k itself too.
func (s *statement) beyond(t *Table, k Key, operator string, orEqual bool) string {
	var b strings.Builder
	for i, at := range t.Key {
		c := &t.Columns[at]
		text := keyText(k.Values[i])
		last := i == len(t.Key)-1
		if last && orEqual {
			operator += "="
		}
		fmt.Fprintf(&b, "(%s %s %s", s.order(c), operator, s.value(c, text))
		if !last {
			fmt.Fprintf(&b, " OR %s = %s AND ", s.order(c), s.value(c, text))
		}
	}
	b.WriteString(strings.Repeat(")", len(t.Key)))
	return b.String()
}

// within adds the condition that a key is after r.After and up to r.UpTo.
func (s *statement) within(t *Table, r Range) *statement {
	s.add(" WHERE TRUE")
	if !r.After.IsZero() {
		s.add(" AND %s", s.bounded(t, r.After, ">", false))
	}
	if !r.UpTo.IsZero() {
		s.add(" AND %s", s.bounded(t, r.UpTo, "<", true))
	}
	return s
}

// bounded adds to the exact condition one on the first column alone, by which
// databases find where to begin in an index.
func (s *statement) bounded(t *Table, k Key, operator string, orEqual bool) string {
	if len(t.Key) == 1 {
		return s.beyond(t, k, operator, orEqual)
	}
	first := &t.Columns[t.Key[0]]
	coarse := fmt.Sprintf("%s %s= %s", s.order(first), operator, s.value(first, keyText(k.Values[0])))
	return coarse + " AND " + s.beyond(t, k, operator, orEqual)
}

// among adds the condition that a key is one of some.
func (s *statement) among(t *Table, keys []Key) *statement {
	s.add(" WHERE ")
	for n, k := range keys {
		if n > 0 {
			s.add(" OR ")
		}
		for i, at := range t.Key {
			c := &t.Columns[at]
			if i > 0 {
				s.add(" AND ")
			}
			if s.native != nil {
				s.args = append(s.args, keyText(k.Values[i]))
				if condition := s.native(c, s.placeholder(len(s.args))); condition != "" {
					s.add("%s AND ", condition)
				} else {
					s.args = s.args[:len(s.args)-1]
				}
			}
			s.add("%s = %s", s.order(c), s.value(c, keyText(k.Values[i])))
		}
	}
	return s
}

// byKey adds the order.
func (s *statement) byKey(t *Table) *statement {
	for i, at := range t.Key {
		separator := ", "
		if i == 0 {
			separator = " ORDER BY "
		}
		s.add("%s%s", separator, s.order(&t.Columns[at]))
	}
	return s
}

// digest returns the MD5 of a row's text.
func (d *dialect) digest(t *Table) string {
	parts := make([]string, len(t.Columns))
	for i := range t.Columns {
		parts[i] = fmt.Sprintf(d.part, d.text(&t.Columns[i]))
	}
	return fmt.Sprintf(d.md5, d.concat(parts))
}

// sums are the expressions of what a range is compared by; md5 names a row's.
func (d *dialect) sums(md5 string) string {
	sums := []string{"COUNT(*)"}
	for word := range words {
		sums = append(sums, fmt.Sprintf("SUM("+d.word+")", md5, 1+8*word))
	}
	return strings.Join(sums, ", ")
}

const words = 4 // of an MD5

// Sum is what a range is compared by: the number of its rows and the sums of the
// words of their hashes, in decimal digits.
type Sum struct {
	Rows  int64
	Words [words]string
}
