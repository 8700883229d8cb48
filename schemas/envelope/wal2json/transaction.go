package wal2json

import (
	"fmt"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/rows"
	"beamcdc/schemas/envelope/internal/scan"
)

// entry is what was read of one element of the change array.
type entry struct {
	kind, schema, table  string
	names, types, values string // arrays as they are written, or ""
	oldKeys, pk          string // objects, or ""
}

// transaction makes the changes of a message of the first format, or says which
// control message it is.
func (d *Decoder) transaction() outcome.Control {
	s := d.scan
	s.Walk(d.msg.changes)
	if !s.Array() {
		d.rows.Fail(outcome.BadEnvelope, "change is no array")
		return ""
	}
	messages := 0
	for index := 0; s.Element(); index++ {
		if index == rows.MaxChanges {
			d.rows.FailTooMany()
			return ""
		}
		e, ok := d.entry(index)
		if !ok {
			return ""
		}
		rest := s.Cursor // the rest of the array, while the change's own lists are walked over
		isMessage := d.change(index, &e)
		s.Cursor = rest
		if isMessage {
			messages++
		}
		if d.rows.Fault() != nil {
			d.rows.In(d.tableName(e.schema, e.table))
			return ""
		}
	}
	switch {
	case len(d.changes) > 0:
		return ""
	case messages > 0:
		return outcome.LogicalMessage
	}
	return outcome.Transaction
}

// entry reads one element.
func (d *Decoder) entry(index int) (e entry, ok bool) {
	s := d.scan
	if !s.Object() {
		d.rows.Fail(outcome.BadEnvelope, "change[%d] is no object", index)
		return e, false
	}
	for {
		name, more := s.Member()
		if !more {
			return e, true
		}
		switch name {
		case "kind":
			e.kind = s.Scalar()
		case "schema":
			e.schema = s.Scalar()
		case "table":
			e.table = s.Scalar()
		case "columnnames":
			e.names = s.Value()
		case "columntypes":
			e.types = s.Value()
		case "columnvalues":
			e.values = s.Value()
		case "oldkeys":
			e.oldKeys = s.Value()
		case "pk":
			e.pk = s.Value()
		default:
			s.Skip()
		}
	}
}

// change makes the change of an element, or reports that it is a logical message.
func (d *Decoder) change(index int, e *entry) (isMessage bool) {
	c := row{index: uint64(index), table: d.tableName(e.schema, e.table)}
	switch e.kind {
	case "insert":
		c.op = change.OpCreate
	case "update":
		c.op = change.OpUpdate
	case "delete":
		c.op = change.OpDelete
	case "truncate":
		c.op = change.OpTruncate
	case "message":
		return true
	default:
		d.rows.Fail(outcome.UnknownOp, "change[%d].kind is none of insert, update, delete, truncate and message", index)
		return false
	}
	path := listPath{index, "column"}
	if e.names != "" || e.values != "" {
		c.after = d.zip(path, e.names, e.types, e.values)
	}
	d.keys = d.keys[:0]
	if e.oldKeys != "" {
		names, types, values := d.lists(e.oldKeys, "keynames", "keytypes", "keyvalues")
		c.before = d.zip(listPath{index, "oldkeys.key"}, names, types, values)
	}
	if e.pk != "" {
		names, _, _ := d.lists(e.pk, "pknames", "", "")
		d.keys = d.rows.Names(d.keys, names)
	}
	d.check(&c, index, "columnnames", "oldkeys")
	d.keys = d.keys[:0]
	d.changes = append(d.changes, c)
	return false
}

// listPath is where lists stand, for errors: change[3].columnnames,
// change[3].oldkeys.keynames.
type listPath struct {
	index  int
	prefix string
}

func (p listPath) of(list string) string {
	return fmt.Sprintf("change[%d].%s%s", p.index, p.prefix, list)
}

// lists returns three members of an object, null for each that it lacks.
func (d *Decoder) lists(raw, names, types, values string) (namesRaw, typesRaw, valuesRaw string) {
	s := d.scan
	namesRaw, typesRaw, valuesRaw = "null", "null", "null"
	s.Walk(raw)
	if !s.Object() {
		return namesRaw, typesRaw, valuesRaw
	}
	for {
		name, more := s.Member()
		if !more {
			return namesRaw, typesRaw, valuesRaw
		}
		switch value := s.Value(); name {
		case names:
			namesRaw = value
		case types:
			typesRaw = value
		case values:
			valuesRaw = value
		}
	}
}

// zip makes a row of lists of names, types and values. The types may be missing.
func (d *Decoder) zip(path listPath, names, types, values string) rows.Image {
	var n, t, v scan.Cursor
	n.Walk(orNull(names))
	t.Walk(orNull(types))
	v.Walk(orNull(values))
	switch hasNames, hasValues := n.Array(), v.Array(); {
	case !hasNames:
		d.rows.Fail(outcome.BadEnvelope, "%s is no array", path.of("names"))
		return rows.Image{}
	case !hasValues:
		d.rows.Fail(outcome.BadEnvelope, "%s is no array", path.of("values"))
		return rows.Image{}
	}
	hasTypes := t.Array()
	img := d.rows.Begin()
	for index := 0; n.Element(); index++ {
		name := n.Value()
		switch {
		case name[0] != '"':
			d.rows.Fail(outcome.BadEnvelope, "%s[%d] is no text", path.of("names"), index)
			return rows.Image{}
		case !v.Element():
			d.rows.Fail(outcome.BadEnvelope, "%s has fewer elements than %s", path.of("values"), path.of("names"))
			return rows.Image{}
		}
		typeName := ""
		if hasTypes {
			if !t.Element() {
				d.rows.Fail(outcome.BadEnvelope, "%s has fewer elements than %s", path.of("types"), path.of("names"))
				return rows.Image{}
			}
			if raw := t.Value(); raw[0] == '"' {
				typeName = d.rows.Text(raw)
			}
		}
		value, ok := d.typed(typeName, v.Value())
		if !ok {
			d.rows.Fail(outcome.BadValue, "%s[%d]: column %s: the value is no %s", path.of("values"), index, rows.Clip(d.rows.Text(name)), rows.Clip(typeName))
		}
		d.rows.Add(d.rows.Text(name), value)
	}
	if v.Element() {
		d.rows.Fail(outcome.BadEnvelope, "%s has more elements than %s", path.of("values"), path.of("names"))
	}
	img = d.rows.End(img)
	if name := d.rows.Repeated(img); name != "" {
		d.rows.Fail(outcome.BadEnvelope, "%s has column %s twice", path.of("names"), rows.Clip(name))
	}
	return img
}

func orNull(raw string) string {
	if raw == "" {
		return "null"
	}
	return raw
}
