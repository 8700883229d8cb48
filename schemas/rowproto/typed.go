package rowproto

import (
	"math"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/encoding/protowire"
)

// Column returns the place of the table's column that a name means, or -1.
func (p *Plan) Column(name string) int { return p.root.find(name) }

// Typed returns the value in the one form that the type of the table's i-th column
// gives it, policies applied: what BigQuery will have of it. That of an array, a
// STRUCT, a RANGE and of NULL and unavailable values is the value itself. A JSON
// document stays as it is written.
func (e *Encoder) Typed(i int, v change.Value) (change.Value, error) {
	f := &e.plan.root.fields[i]
	typed, err := e.typed(f, &v)
	if err != nil {
		err = err.under(f.name)
		err.Table = e.plan.name
		return change.Value{}, err
	}
	return typed, nil
}

func (e *Encoder) typed(f *field, v *change.Value) (change.Value, *ValueError) {
	switch v.Kind() {
	case change.KindNull, change.KindUnavailable:
		return *v, nil
	case change.KindText, change.KindString:
		if f.column.Type == table.String && f.column.From == "" && !f.repeated { // most texts: nothing to do
			return change.String(v.Text()), nil
		}
	default:
	}
	if f.repeated || f.column.Type == table.Struct || f.column.Type == table.Range {
		return *v, nil
	}
	e.adjusted = e.adjusted[:0]
	typed, err := e.typedScalar(f, v)
	if err != nil && f.policy == table.PolicyNull && err.Reason == ReasonBadValue {
		return change.Null(), nil
	}
	return typed, err
}

func (e *Encoder) typedScalar(f *field, v *change.Value) (change.Value, *ValueError) {
	switch f.column.Type {
	case table.Float64, table.JSON, table.Interval, table.Geography:
	default:
		typed, err := e.typedKey(f, v)
		switch typed.Kind() { // it shares e.part
		case change.KindString:
			typed = change.String(strings.Clone(typed.Text()))
		case change.KindBytes:
			typed = change.Bytes(strings.Clone(typed.Text()))
		case change.KindDecimal:
			typed = change.Decimal(strings.Clone(typed.Text()))
		default:
		}
		return typed, err
	}
	part, err := f.append(e, f, e.part[:0], v)
	e.part = part
	if err != nil {
		return change.Value{}, err
	}
	if f.column.Type == table.Float64 {
		bits, _ := protowire.ConsumeFixed64(part)
		return change.Float64(math.Float64frombits(bits)), nil
	}
	content, _ := protowire.ConsumeBytes(part)
	switch text := string(content); f.column.Type {
	case table.JSON:
		return change.JSON(text), nil
	case table.Interval:
		return change.Interval(text), nil
	default:
		return change.String(text), nil
	}
}

// anyText is the column of CanonicalText.
var anyText = field{column: &table.Column{Type: table.String}}

// CanonicalText appends the one text of a value, the same however its message
// writes it: a number in plain digits without zeros that don't count, a date or time
// as ISO 8601, an instant with Z, bytes as they are, an array or object as JSON. NULL
// and unavailable values have none. What a text that no schema types means can't be
// told, so that it is itself.
func (e *Encoder) CanonicalText(dst []byte, v change.Value) ([]byte, error) {
	var err *ValueError
	start := len(dst)
	switch v.Kind() {
	case change.KindBytes, change.KindText, change.KindString, change.KindInterval, change.KindJSON, change.KindRaw:
		return append(dst, v.Text()...), nil
	case change.KindNumber, change.KindDecimal:
		if d, ok := parseDecimal(v.Text()); ok && d.point <= 1000 && d.fraction() <= 1000 {
			return d.appendPlain(dst), nil
		}
		return append(dst, v.Text()...), nil
	case change.KindNull, change.KindUnavailable, change.KindInvalid:
		err = bad("a %s value has no text", v.Kind())
	default:
		dst, err = e.textOfValue(&anyText, dst, &v)
	}
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}
