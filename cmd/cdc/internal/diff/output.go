package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"beamcdc/schemas/change"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// floatJSON returns a double as JSON has it, or the text for what it has no number for.
func floatJSON(x float64) any {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return x
}

// Kind is how a row differs.
type Kind string

// The kinds of differences.
const (
	Missing   Kind = "missing"   // BigQuery doesn't have the source's row
	Extra     Kind = "extra"     // the source doesn't have BigQuery's row
	Different Kind = "different" // both have it, with other values
	Refused   Kind = "refused"   // the pipeline makes a dead letter of the source's row
)

// Difference is a row that differs.
type Difference struct {
	Kind    Kind
	Key     Key
	Columns []string // that differ, of Different; that is refused, of Refused
	Reason  string   // of Refused
	// Moving says that the source's row changed at each look, so that this may be
	// nothing but BigQuery's delay.
	Moving           bool
	source, bigquery *Row
}

// Printer prints differences.
type Printer struct {
	Out    io.Writer
	JSON   bool // a JSON object a line, else a line for people
	Values bool // with the values that differ
	Limit  int  // print no more than these; 0 is no limit

	printed, left int
}

// Left is how many were not printed.
func (p *Printer) Left() int { return p.left }

// Print prints one, if it is within the limit.
func (p *Printer) Print(t *Table, d *Difference) error {
	if p.Limit > 0 && p.printed >= p.Limit {
		p.left++
		return nil
	}
	p.printed++
	var line string
	if p.JSON {
		text, err := marshal(p.object(t, d))
		if err != nil {
			return err
		}
		line = string(text)
	} else {
		line = p.line(t, d)
	}
	if _, err := fmt.Fprintln(p.Out, line); err != nil {
		return fmt.Errorf("printing a difference: %w", err)
	}
	return nil
}

func (p *Printer) object(t *Table, d *Difference) object {
	o := object{{"kind", d.Kind}, {"key", t.KeyObject(d.Key)}}
	if len(d.Columns) > 0 {
		o = append(o, member{"columns", d.Columns})
	}
	if d.Reason != "" {
		o = append(o, member{"reason", d.Reason})
	}
	if d.Moving {
		o = append(o, member{"moving", true})
	}
	if p.Values {
		if d.source != nil {
			o = append(o, member{"source", rowObject(t, d.source, d.Columns)})
		}
		if d.bigquery != nil {
			o = append(o, member{"bigquery", rowObject(t, d.bigquery, d.Columns)})
		}
	}
	return o
}

// rowObject returns a row's columns, those named or all, but for the key's.
func rowObject(t *Table, row *Row, names []string) object {
	o := object{}
	for i := range t.Columns {
		c := &t.Columns[i]
		wanted := len(names) == 0 && !c.Key
		for _, name := range names {
			wanted = wanted || name == c.Name || strings.HasPrefix(name, c.Name+".") || strings.HasPrefix(name, c.Name+"[")
		}
		if at := slices.IndexFunc(row.Columns, func(v change.Column) bool { return v.Name == c.Name }); wanted && at >= 0 { // a file has an order of its own
			o = append(o, member{c.Name, valueJSON(row.Columns[at].Value)})
		}
	}
	return o
}

func (p *Printer) line(t *Table, d *Difference) string {
	key, _ := marshal(t.KeyObject(d.Key))
	var line strings.Builder
	fmt.Fprintf(&line, "%-9s  %s", d.Kind, key)
	if len(d.Columns) > 0 {
		line.WriteString("  " + strings.Join(d.Columns, ", "))
	}
	if d.Reason != "" {
		line.WriteString("  (" + d.Reason + ")")
	}
	if d.Moving {
		line.WriteString("  (the source's row goes on changing)")
	}
	if p.Values {
		for _, side := range []struct {
			name string
			row  *Row
		}{{"source", d.source}, {"BigQuery", d.bigquery}} {
			if side.row != nil {
				values, _ := marshal(rowObject(t, side.row, d.Columns))
				fmt.Fprintf(&line, "\n           %-8s  %s", side.name, values)
			}
		}
	}
	return line.String()
}
