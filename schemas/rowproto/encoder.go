package rowproto

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encoder encodes rows by a Plan and remembers the column order of the last
// one, so that a run of rows of one shape is matched by comparing names. It is
// for one goroutine at a time; Plan's own methods keep a pool of them.
type Encoder struct {
	plan          *Plan
	layouts       []layout     // one a message
	keys          layout       // of AppendKey and AppendDelete
	adjusted      []Adjustment // of this row
	ignoreUnknown bool         // of this row
	nullUnknown   bool         // of this row
	documents     documents

	digits, raw, text, part []byte // scratch of decimalOf, base64Decimal, appendText and typedKey
	image                   []byte // and of AppendImage
}

// NewEncoder returns an encoder for one goroutine.
func (p *Plan) NewEncoder() *Encoder {
	return &Encoder{plan: p, layouts: make([]layout, p.messages)}
}

// AppendUpsert is Plan.AppendUpsert.
func (e *Encoder) AppendUpsert(dst []byte, row []change.Column, seq change.Sequence, o RowOptions) ([]byte, error) {
	e.adjusted, e.ignoreUnknown, e.nullUnknown = e.adjusted[:0], o.IgnoreUnknown, o.NullUnknown
	out, err := e.appendRow(dst, row, o)
	if err == nil {
		out, err = appendPseudo(out, upsertField, seq)
	}
	if err != nil {
		err.Table = e.plan.name
		return dst, err
	}
	if o.Adjusted != nil {
		*o.Adjusted = append(*o.Adjusted, e.adjusted...)
	}
	return out, nil
}

// AppendDelete is Plan.AppendDelete.
func (e *Encoder) AppendDelete(dst []byte, key []change.Column, seq change.Sequence) ([]byte, error) {
	out, err := e.appendKeyFields(dst, key)
	if err == nil {
		out, err = appendPseudo(out, deleteField, seq)
	}
	if err != nil {
		err.Table = e.plan.name
		return dst, err
	}
	return out, nil
}

func (e *Encoder) appendRow(dst []byte, row []change.Column, o RowOptions) ([]byte, *ValueError) {
	root := e.plan.root
	l := &e.layouts[root.id]
	l.match(root, row)
	if l.unknown >= 0 {
		if err := e.unknown(l, row); err != nil {
			return dst, err
		}
	}
	var err *ValueError
	for i := range root.fields {
		f := &root.fields[i]
		switch at := l.slots[i]; {
		case at >= 0:
			dst, err = e.appendField(dst, f, &row[at].Value)
		case at == ambiguous:
			err = ambiguousColumn()
		case f.key:
			err = missingKey("the row doesn't have it")
		case o.Incomplete:
		case o.AbsentUnavailable:
			err = refused(ReasonUnavailable, "the source left it out, and it is not known")
		case f.required:
			err = refused(ReasonNullRequired, "the row doesn't have it")
		}
		if err != nil {
			return dst, err.under(f.name)
		}
	}
	return dst, nil
}

// appendKeyFields appends the key columns in the order of their field numbers.
func (e *Encoder) appendKeyFields(dst []byte, columns []change.Column) ([]byte, *ValueError) {
	root := e.plan.root
	e.keys.match(root, columns)
	for i := range root.fields {
		f := &root.fields[i]
		if !f.key {
			continue
		}
		v, err := e.keyValue(i, columns)
		if err == nil {
			dst, err = e.appendField(dst, f, v)
		}
		if err != nil {
			return dst, err.under(f.name)
		}
	}
	return dst, nil
}

// keyValue returns the value of the i-th field, a key column; e.keys is matched
// to the columns.
func (e *Encoder) keyValue(i int, columns []change.Column) (*change.Value, *ValueError) {
	switch at := e.keys.slots[i]; at {
	case absent:
		return nil, missingKey("the key doesn't have it")
	case ambiguous:
		return nil, ambiguousColumn()
	default:
		return &columns[at].Value, nil
	}
}

// appendField appends a singular or repeated field, tag included; nothing for
// NULL, which in BigQuery is the field's absence.
func (e *Encoder) appendField(dst []byte, f *field, v *change.Value) ([]byte, *ValueError) {
	switch v.Kind() {
	case change.KindNull:
		return dst, f.null()
	case change.KindUnavailable:
		return dst, refused(ReasonUnavailable, "the source left its unchanged value out; `unavailable_values: fill` takes it from the row's other changes")
	default:
	}
	start, adjusted := len(dst), len(e.adjusted)
	var err *ValueError
	if f.repeated {
		dst, err = e.appendArray(dst, f, v)
	} else {
		dst, err = f.append(e, f, append(dst, f.tag...), v)
	}
	if err == nil {
		return dst, nil
	}
	e.adjusted = e.adjusted[:adjusted] // what was done below it is not in the row
	// Only a bad value of this column or below it is the policy's affair.
	if f.policy != table.PolicyNull || err.Reason != ReasonBadValue {
		if err.Reason == ReasonBadValue && !err.tried { // not of a field below
			err.Policies, err.tried = e.deciding(f, v), true
		}
		return dst[:start], err
	}
	e.adjust(f)
	return dst[:start], nil
}

// adjust notes that the field's policy replaced a value.
func (e *Encoder) adjust(f *field) {
	e.adjusted = append(e.adjusted, Adjustment{Column: f.path, Policy: f.policy})
}

// null says whether the field may be NULL. A repeated field's NULL is the empty
// array: BigQuery has no other.
func (f *field) null() *ValueError {
	switch {
	case f.key:
		return missingKey("it is NULL")
	case f.required:
		return refused(ReasonNullRequired, "it is NULL")
	}
	return nil
}

func missingKey(what string) *ValueError {
	return refused(ReasonMissingKey, "%s, and it is part of the primary key", what)
}

func ambiguousColumn() *ValueError {
	return refused(ReasonAmbiguous, "two columns of the source match it: BigQuery's names know no case")
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

func unknownColumn(name string) *ValueError {
	return refused(ReasonUnknownColumn, "the table doesn't have it; add it to the table, or set `unknown_columns` to ignore or add").under(name)
}

// unknown refuses a row of a column that no field matches, unless it may be left out.
func (e *Encoder) unknown(l *layout, row []change.Column) *ValueError {
	if e.ignoreUnknown {
		return nil
	}
	var names []string
	for _, at := range l.unknowns {
		if !e.nullUnknown || !saysNothing(&row[at].Value) {
			names = append(names, row[at].Name)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return unknownColumn(names[0])
	}
	return unknownColumns(names)
}

// unknownColumns names all of them in one error, up to a bound: who adds the first would
// else meet the next.
func unknownColumns(names []string) *ValueError {
	const most = 10
	others, more := names[1:], ""
	if len(others) > most {
		more = fmt.Sprintf(" and %d more", len(others)-most)
		others = others[:most]
	}
	clipped := make([]string, len(others))
	for i, name := range others {
		clipped[i] = clip(name)
	}
	return refused(ReasonUnknownColumn, "the table doesn't have it, nor %s%s; add them to the table, or set `unknown_columns` to ignore or add", strings.Join(clipped, ", "), more).under(names[0])
}

// layout is how the columns of a row match a message's fields. It is kept from
// row to row.
type layout struct {
	names   []string // the columns' names, in the row's order
	slots   []int    // for each field, the position of its column, absent or ambiguous
	unknown int      // position of the first column that no field matches, or -1

	unknowns []int // positions of all of them
}

const (
	absent    = -1
	ambiguous = -2
)

// match makes the layout that of the row. Rows of one table mostly have the
// same columns in the same order, and then there is nothing to do.
func (l *layout) match(m *message, row []change.Column) {
	if l.slots != nil && l.fits(row) {
		return
	}
	l.names = l.names[:0]
	l.slots = slices.Grow(l.slots[:0], len(m.fields))[:len(m.fields)]
	for i := range l.slots {
		l.slots[i] = absent
	}
	l.unknown, l.unknowns = -1, l.unknowns[:0]
	for at := range row {
		name := row[at].Name
		i := m.find(name)
		switch {
		case i < 0:
			if l.unknown < 0 {
				l.unknown = at
			}
			l.unknowns = append(l.unknowns, at)
		case l.slots[i] == absent:
			l.slots[i] = at
		default:
			l.slots[i] = ambiguous
		}
		if i >= 0 && m.fields[i].name == name {
			l.names = append(l.names, m.fields[i].name)
		} else {
			l.names = append(l.names, strings.Clone(name)) // the name may share a message's memory
		}
	}
}

func (l *layout) fits(row []change.Column) bool {
	if len(row) != len(l.names) {
		return false
	}
	for i := range row {
		if row[i].Name != l.names[i] {
			return false
		}
	}
	return true
}

// The pseudo-columns' field numbers never move when a table gets columns: they
// are the two highest whose tag takes two bytes, above BigQuery's 2,000 columns.
const (
	changeTypeNumber     protowire.Number = 2046
	sequenceNumberNumber protowire.Number = 2047
)

var (
	upsertField = appendString(protowire.AppendTag(nil, changeTypeNumber, protowire.BytesType), change.Upsert.String())
	deleteField = appendString(protowire.AppendTag(nil, changeTypeNumber, protowire.BytesType), change.Delete.String())
	sequenceTag = protowire.AppendTag(nil, sequenceNumberNumber, protowire.BytesType)
)

// appendPseudo appends _CHANGE_TYPE and _CHANGE_SEQUENCE_NUMBER.
func appendPseudo(dst, changeType []byte, seq change.Sequence) ([]byte, *ValueError) {
	if seq.IsZero() { // Invariant 3: every CDC row has a sequence.
		return dst, refused(ReasonMissingSequence, "the change has no position that orders it")
	}
	dst = append(dst, changeType...)
	dst = append(dst, sequenceTag...)
	start := len(dst)
	return closeLength(seq.Append(openLength(dst)), start), nil
}
