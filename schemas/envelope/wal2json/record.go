package wal2json

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/rows"
)

// record makes the change of a message of the second format, or says which
// control message it is.
func (d *Decoder) record() outcome.Control {
	m := &d.msg
	c := row{table: d.tableName(m.schema, m.table)}
	switch m.action {
	case "I":
		c.op = change.OpCreate
	case "U":
		c.op = change.OpUpdate
	case "D":
		c.op = change.OpDelete
	case "T":
		c.op = change.OpTruncate
	case "B", "C":
		return outcome.Transaction
	case "M":
		return outcome.LogicalMessage
	case "":
		d.rows.Fail(outcome.BadEnvelope, "the message has neither a change array nor an action")
	default:
		d.rows.Fail(outcome.UnknownOp, "the action is none of I, U, D, T, B, C and M")
	}
	if err := d.rows.Fault(); err != nil {
		d.rows.In(c.table)
		return ""
	}
	c.after, c.before = m.columns, m.identity
	d.check(&c, none, "columns", "identity")
	d.changes = append(d.changes, c)
	d.rows.In(c.table)
	return ""
}

// none is the index of a change that is a message of its own.
const none = -1

// check makes a change's images those that its op has, and finds its key.
func (d *Decoder) check(c *row, index int, columns, identity string) {
	switch c.op {
	case change.OpTruncate:
		c.after, c.before = rows.Image{}, rows.Image{}
		return
	case change.OpDelete:
		c.after = rows.Image{}
		if !c.before.Present {
			d.missing(index, "delete", identity)
		}
	default:
		if c.op == change.OpCreate {
			c.before = rows.Image{}
		}
		if !c.after.Present {
			d.missing(index, "change", columns)
		}
	}
	of := c.after
	if c.op == change.OpDelete {
		of = c.before
	}
	if len(d.keys) == 0 && c.op == change.OpUpdate && c.before.Len() < c.after.Len() { // else it may be the whole row
		for _, column := range d.rows.Of(c.before) {
			d.keys = append(d.keys, column.Name)
		}
	}
	c.key = d.rows.Pick(of, d.keys)
	if c.op == change.OpUpdate {
		c.after = d.rows.Fill(c.after, c.before)
	}
}

func (d *Decoder) missing(index int, what, image string) {
	if index == none {
		d.rows.Fail(outcome.MissingImage, "the %s has no %s", what, image)
		return
	}
	d.rows.Fail(outcome.MissingImage, "change[%d]: the %s has no %s", index, what, image)
}

// list reads an array of columns: [{"name":…,"type":…,"value":…}].
func (d *Decoder) list(what string) rows.Image {
	s := d.scan
	kind := s.Peek()
	if !s.Array() {
		if kind != 'n' {
			d.rows.Fail(outcome.BadEnvelope, "%s is neither an array nor null", what)
		}
		return rows.Image{}
	}
	img := d.rows.Begin()
	for index := 0; s.Element(); index++ {
		name, typeName, raw := d.column(what, index)
		if raw == "" {
			continue
		}
		v, ok := d.typed(typeName, raw)
		if !ok {
			d.rows.Fail(outcome.BadValue, "%s[%d]: column %s: the value is no %s", what, index, rows.Clip(name), rows.Clip(typeName))
		}
		d.rows.Add(name, v)
	}
	img = d.rows.End(img)
	if name := d.rows.Repeated(img); name != "" {
		d.rows.Fail(outcome.BadEnvelope, "%s has column %s twice", what, rows.Clip(name))
	}
	return img
}

// column reads one column's object; raw is "" where that is a fault.
func (d *Decoder) column(what string, index int) (name, typeName, raw string) {
	s := d.scan
	if !s.Object() {
		d.rows.Fail(outcome.BadEnvelope, "%s[%d] is no object", what, index)
		return "", "", ""
	}
	hasName := false
	for {
		member, more := s.Member()
		if !more {
			break
		}
		switch member {
		case "name":
			hasName, name = s.Peek() == '"', s.Scalar()
		case "type":
			typeName = s.Scalar()
		case "value":
			raw = s.Value()
		default:
			s.Skip()
		}
	}
	if !hasName || raw == "" {
		d.rows.Fail(outcome.BadEnvelope, "%s[%d] lacks a name or a value", what, index)
		return "", "", ""
	}
	return name, typeName, raw
}

// pk reads the key columns' names: [{"name":…,"type":…}]. What is no list of them
// is none.
func (d *Decoder) pk() {
	s := d.scan
	if !s.Array() {
		return
	}
	for s.Element() {
		if !s.Object() {
			continue
		}
		for {
			member, more := s.Member()
			if !more {
				break
			}
			if member == "name" {
				d.keys = append(d.keys, s.Scalar())
			} else {
				s.Skip()
			}
		}
	}
}
