package enrichment

import (
	"errors"
	"fmt"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/expression"
	"beamcdc/schemas/rowproto"
)

// Enricher takes rows through a rule's steps. It is for one goroutine, and its
// results are good until its next call.
type Enricher struct {
	plan    *Plan
	typing  *rowproto.Encoder // of the table
	indexes []func() *Index
	joins   []*joiner // by step; nil where it is no lookup
	masks   map[*mask]*masker

	layout      layout
	imageLayout layout         // of Image
	values      []change.Value // by slot
	out         []change.Column
	key         []byte
	text        []byte
	input       expression.Input
	row         rowView
	before      beforeView
	misses      uint64
}

// joiner is what one lookup needs of a goroutine's own.
type joiner struct {
	*lookup
	index  func() *Index
	keys   *keyEncoder
	values []change.Value // of the key, or carried
}

// NewEnricher returns an enricher for one goroutine. indexes give the reference
// tables of [Plan.Lookups] as they are at the time, and keys are the bytes of
// [Plan.Secrets]. The plan must be one of a table that is known.
func (p *Plan) NewEnricher(indexes []func() *Index, keys [][]byte) (*Enricher, error) {
	if p.rows == nil {
		return nil, errors.New("enriching rows of a table that is not known")
	}
	e := &Enricher{plan: p, typing: p.rows.NewEncoder(), indexes: indexes, joins: make([]*joiner, len(p.steps)), masks: make(map[*mask]*masker)}
	e.row.Enricher, e.before.Enricher = e, e
	lookups := 0
	for i := range p.steps {
		s := &p.steps[i]
		switch {
		case s.lookup != nil:
			encoder, err := newKeyEncoder(s.lookup.key, s.lookup.reference.Texts)
			if err != nil {
				return nil, fmt.Errorf("enrich[%d].lookup: %w", i, err)
			}
			e.joins[i] = &joiner{
				lookup: s.lookup, index: indexes[lookups], keys: encoder,
				values: make([]change.Value, max(len(s.lookup.key), len(s.lookup.reference.Columns))),
			}
			lookups++
		case s.mask != nil:
			var key []byte
			if s.mask.secret >= 0 {
				key = keys[s.mask.secret]
			}
			m, err := newMasker(s.mask, key)
			if err != nil {
				return nil, fmt.Errorf("enrich[%d].mask: %w", i, err)
			}
			e.masks[s.mask] = m
		}
	}
	return e, nil
}

// Row returns the row as it is to be written, and whether it is: a row for which a
// where does not hold is not. The columns are those of the change's row as its
// message has them. The error is an *Error.
func (e *Enricher) Row(event *change.Event, columns []change.Column, sequence change.Sequence) (row []change.Column, stays bool, err error) {
	if !e.layout.fits(columns) {
		e.layout.make(e.plan, columns)
	}
	e.values = e.values[:0]
	for i := range columns {
		e.values = append(e.values, columns[i].Value)
	}
	for len(e.values) < len(e.layout.slots) {
		e.values = append(e.values, change.Value{})
	}
	e.input = expression.Input{Event: event, Sequence: sequence, Row: &e.row, Before: &e.before}
	for i := range e.plan.steps {
		if stays, err := e.step(i); err != nil || !stays {
			return nil, false, err
		}
	}
	e.out = e.out[:0]
	for _, slot := range e.layout.out {
		e.out = append(e.out, change.Column{Name: e.layout.slots[slot], Value: e.values[slot]})
	}
	return e.out, true, nil
}

// step takes the row through a step, and reports whether it stays.
func (e *Enricher) step(i int) (bool, error) {
	s, at := &e.plan.steps[i], &e.layout.steps[i]
	failed := func(column, reason string, err error) error {
		return &Error{Step: i, Kind: s.kind, Column: column, Reason: reasonOf(err, reason), Err: err}
	}
	if at.err != nil {
		return false, failed(at.ambiguous, ReasonAmbiguous, at.err)
	}
	switch {
	case s.where != nil:
		e.bind(s.where, at.reads[0])
		stays, err := s.where.Holds(&e.input)
		if err != nil {
			return false, failed("", ReasonExpression, err)
		}
		return stays, nil
	case s.set != nil:
		for j := range s.set {
			a := &s.set[j]
			e.bind(a.expression, at.reads[j])
			v, err := a.expression.Eval(&e.input, a.column)
			if err != nil {
				return false, failed(a.column.Name, ReasonExpression, err)
			}
			e.values[at.fresh+j] = v // they all see the row as it was
		}
		for j, slot := range at.writes {
			e.values[slot] = e.values[at.fresh+j]
		}
	case s.metadata != nil:
		for j, slot := range at.writes {
			e.values[slot] = metadataValue(s.metadata[j].Of, e.input.Event, e.input.Sequence)
		}
	case s.lookup != nil:
		return true, e.join(e.joins[i], at, failed)
	case s.mask != nil:
		m := e.masks[s.mask]
		for j, slot := range at.writes {
			if slot < 0 {
				continue
			}
			v, err := e.hide(m, e.values[slot], s.mask.bytes[j])
			if err != nil {
				return false, failed(s.mask.columns[j], ReasonBadValue, err)
			}
			e.values[slot] = v
		}
	}
	return true, nil
}

// Image returns an image of a row, such as the one before a change, with its columns
// as the steps name and hide them: renamed, dropped, masked. What other steps write is
// not in it: an image has no value of theirs, and what the source has there may be what
// they hide. The error is an *Error.
func (e *Enricher) Image(columns []change.Column) ([]change.Column, error) {
	if !e.imageLayout.fits(columns) {
		e.imageLayout.make(e.plan, columns)
	}
	l := &e.imageLayout
	values := make([]change.Value, len(l.slots))
	for i := range columns {
		values[i] = columns[i].Value
	}
	for i := range e.plan.steps {
		s, at := &e.plan.steps[i], &l.steps[i]
		if at.err != nil { // one of the two would be shown as it is
			return nil, &Error{Step: i, Kind: s.kind, Column: at.ambiguous, Reason: ReasonAmbiguous, Err: at.err}
		}
		for j, slot := range at.writes {
			switch {
			case slot < 0:
			case s.mask == nil:
				values[slot] = change.Value{}
			case values[slot].Kind() != change.KindInvalid:
				v, err := e.hide(e.masks[s.mask], values[slot], s.mask.bytes[j])
				if err != nil {
					return nil, &Error{Step: i, Kind: s.kind, Column: s.mask.columns[j], Reason: reasonOf(err, ReasonBadValue), Err: err}
				}
				values[slot] = v
			}
		}
	}
	image := make([]change.Column, 0, len(l.out))
	for _, slot := range l.out {
		if values[slot].Kind() != change.KindInvalid {
			image = append(image, change.Column{Name: l.slots[slot], Value: values[slot]})
		}
	}
	return image, nil
}

// hide returns the masked value. NULL stays NULL, and what the source left out is
// left out.
func (e *Enricher) hide(m *masker, v change.Value, asBytes bool) (change.Value, error) {
	if v.IsNull() || v.Kind() == change.KindUnavailable {
		return v, nil
	}
	var err error
	if e.text, err = e.typing.CanonicalText(e.text[:0], v); err != nil {
		return v, valueError(err)
	}
	return m.of(e.text, asBytes)
}

// join gives the row the columns of the reference's row.
func (e *Enricher) join(l *joiner, at *stepLayout, failed func(column, reason string, err error) error) error {
	values := l.values[:len(l.key)]
	for j, slot := range at.reads[0] {
		values[j] = e.absent()
		if slot >= 0 {
			values[j] = e.values[slot]
		}
	}
	var null bool
	var err error
	if e.key, null, err = l.keys.append(e.key[:0], values); err != nil {
		return failed("", ReasonBadValue, err)
	}
	values = l.values[:len(at.writes)]
	if null || !l.index().Find(e.key, values) {
		e.misses++
		if l.config.OnMiss == "reject" {
			return failed("", ReasonLookupMiss, fmt.Errorf("the reference has no row with the values of %s", l.columnNames()))
		}
		copy(values, l.defaults)
	}
	for j, slot := range at.writes {
		e.values[slot] = values[j]
	}
	return nil
}

func (l *lookup) columnNames() string {
	names := make([]string, len(l.key))
	for i := range l.key {
		names[i] = l.key[i].Name
	}
	return strings.Join(names, ", ")
}

// Misses returns how many lookups have found nothing.
func (e *Enricher) Misses() uint64 { return e.misses }

// absent is the value of a column that the row lacks.
func (e *Enricher) absent() change.Value {
	if e.input.Event.AbsentUnavailable {
		return change.Unavailable()
	}
	return change.Null()
}

// Source returns what the i-th column of the primary key is called at the source.
func (e *Enricher) Source(i int) string { return e.plan.keys[i].source }

// Key returns the value that the i-th column of the primary key gets: of a delete,
// too, which goes through no step. The error is an *Error.
func (e *Enricher) Key(i int, v change.Value) (change.Value, error) {
	k := &e.plan.keys[i]
	for _, m := range k.masks {
		var err error
		if v, err = e.hide(e.masks[m], v, m.bytesOf(e.plan, k)); err != nil {
			return v, &Error{Step: e.plan.stepOf(m), Kind: "mask", Column: k.name, Reason: reasonOf(err, ReasonBadValue), Err: err}
		}
	}
	return v, nil
}

// bytesOf reports whether the mask makes bytes of a key's column: the last one makes
// what the table has, and one before it a text.
func (m *mask) bytesOf(p *Plan, k *keyColumn) bool {
	column := p.rows.Table().Columns[p.rows.Column(k.name)]
	return column.Type == "BYTES" && k.masks[len(k.masks)-1] == m
}

func (p *Plan) stepOf(m *mask) int {
	for i := range p.steps {
		if p.steps[i].mask == m {
			return i
		}
	}
	return 0
}
