package spanner

import (
	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/position"
	"beamcdc/schemas/envelope/internal/rows"
)

// readMods reads the rows' changes.
func (d *Decoder) readMods(op change.Op) {
	if d.columns = nil; d.msg.columns != "" {
		d.columns = d.tableColumns(d.msg.columns)
	}
	if d.msg.mods == "" || d.rows.Fault() != nil {
		return
	}
	s := d.scan
	s.Walk(d.msg.mods)
	s.Array()
	for s.Element() {
		var m mod
		if len(d.mods) == rows.MaxChanges {
			d.rows.FailTooMany()
			return
		}
		if !s.Object() {
			d.rows.Fail(outcome.BadEnvelope, "mods[%d] is no object", len(d.mods))
			return
		}
		for {
			name, more := s.Member()
			if !more {
				break
			}
			switch raw := s.Value(); name {
			case "keysJson", "keys_json", "keys":
				m.keys = raw
			case "newValuesJson", "new_values_json", "newValues", "new_values":
				m.news = raw
			case "oldValuesJson", "old_values_json", "oldValues", "old_values":
				m.olds = raw
			}
		}
		d.mods = append(d.mods, m)
	}
	for i := range d.mods {
		d.readMod(i, op)
	}
}

// maxKey is more columns than a key of Spanner's has.
const maxKey = 64

// readMod makes the images of a mod: the key's columns, and the others.
func (d *Decoder) readMod(i int, op change.Op) {
	m := &d.mods[i]
	if m.key = d.image(i, "keys", m.keys, rows.Image{}); m.key.Len() == 0 {
		d.rows.Fail(outcome.MissingImage, "mods[%d] has no keys", i)
		return
	}
	if m.key.Len() > maxKey {
		d.rows.Fail(outcome.BadEnvelope, "mods[%d].keys has more than %d columns", i, maxKey)
		return
	}
	switch op {
	case change.OpDelete:
		m.before = d.image(i, "oldValues", m.olds, m.key)
		m.isBeforeWhole = len(d.columns) > 0 && m.before.Len() == len(d.columns)
	case change.OpUpdate:
		if m.olds != "" && m.olds != "null" {
			m.before = d.image(i, "oldValues", m.olds, m.key)
		}
		fallthrough
	default:
		m.after = d.image(i, "newValues", m.news, m.key)
	}
}

// image reads the columns of key and those of a JSON object, of a text of one, or of
// a list of values by their columns' index. A column of the key it reads once.
func (d *Decoder) image(i int, what, raw string, key rows.Image) rows.Image {
	img := d.rows.Begin()
	keys := d.rows.Of(key)
	for _, c := range keys {
		d.rows.Add(c.Name, c.Value)
	}
	if raw == "" || raw == "null" || raw == `""` {
		return d.rows.End(img)
	}
	s := d.scan
	if raw[0] == '"' {
		raw = d.rows.Text(raw)
		if err := s.Reset(raw); err != nil {
			d.rows.Fail(outcome.BadEnvelope, "mods[%d].%s: %w", i, what, err)
			return rows.Image{}
		}
	} else {
		s.Walk(raw)
	}
	switch {
	case s.Peek() == '[':
		d.listed(i, what, keys)
		return d.rows.End(img)
	case !s.Object():
		d.rows.Fail(outcome.BadEnvelope, "mods[%d].%s is no object", i, what)
		return rows.Image{}
	}
	for {
		name, more := s.Member()
		if !more {
			return d.rows.End(img)
		}
		d.add(i, what, name, d.typeOf(name), s.Value(), keys)
	}
}

// listed reads [{"column_metadata_index":0,"value":…}].
func (d *Decoder) listed(i int, what string, keys []change.Column) {
	s := d.scan
	s.Array()
	for s.Element() {
		if !s.Object() {
			d.rows.Fail(outcome.BadEnvelope, "mods[%d].%s holds something else than objects", i, what)
			return
		}
		index, value := "0", "" // an index of 0 may be left out
		for {
			name, more := s.Member()
			if !more {
				break
			}
			switch name {
			case "columnMetadataIndex", "column_metadata_index":
				index = s.Scalar()
			case "value":
				value = s.Value()
			default:
				s.Skip()
			}
		}
		at, ok := position.ParseUint(index)
		if !ok || at >= uint64(len(d.columns)) || value == "" {
			d.rows.Fail(outcome.BadEnvelope, "mods[%d].%s has a column_metadata_index of no column, or no value", i, what)
			return
		}
		c := &d.columns[at]
		d.add(i, what, c.name, c.typ, value, keys)
	}
}

func (d *Decoder) add(i int, what, name string, t typ, raw string, keys []change.Column) {
	if _, ok := change.Find(keys, name); ok {
		return
	}
	v, ok := d.value(t, raw)
	if !ok {
		d.rows.Fail(outcome.BadValue, "mods[%d].%s: column %s: the value is no %s", i, what, rows.Clip(name), t)
	}
	d.rows.Add(name, v)
}

// sequence returns the sequence of a mod and its position for people to read. Where
// the position can't be read the sequence is zero, and the text says why.
func (d *Decoder) sequence(nanos uint64, why string, mod uint64, op change.Op) (change.Sequence, string) {
	record, ok := position.ParseUint(d.msg.record)
	switch {
	case why != "":
		return change.Sequence{}, why
	case d.msg.record == "":
		return change.Sequence{}, "the message has no recordSequence"
	case !ok:
		return change.Sequence{}, "recordSequence is no number"
	}
	return position.SpannerMod(d.options.Epoch, nanos, record, mod, op), d.place
}
