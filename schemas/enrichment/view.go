package enrichment

import (
	"strings"

	"beamcdc/schemas/change"
)

// bind makes the two views those of an expression; slots are where the row has the
// columns that it names.
func (e *Enricher) bind(f *formula, slots []int) {
	e.row.slots, e.row.places = slots, f.row
	e.before.names, e.before.places = f.Before(), f.before
}

// rowView gives an expression the row as it is at its step.
type rowView struct {
	*Enricher
	slots, places []int
}

// Column implements expression.Columns.
func (v *rowView) Column(i int) (change.Value, error) {
	value := v.absent()
	if slot := v.slots[i]; slot >= 0 {
		value = v.values[slot]
	}
	return v.typed(v.places[i], value)
}

// typed returns the value in the form of the destination's column that it ends in.
func (e *Enricher) typed(place int, v change.Value) (change.Value, error) {
	if place < 0 {
		return v, nil
	}
	typed, err := e.typing.Typed(place, v)
	if err != nil {
		return v, valueError(err)
	}
	return typed, nil
}

// beforeView gives an expression the row before the change.
type beforeView struct {
	*Enricher
	names  []string
	places []int
}

// Column implements expression.Columns. Of an image that is not complete only the
// key's columns are to be trusted: a source may fill the rest with NULLs and zeros.
func (v *beforeView) Column(i int) (change.Value, error) {
	event := v.input.Event
	value, known := lookUp(event.Before, v.names[i])
	switch {
	case !known && event.BeforeComplete && !event.AbsentUnavailable:
		return change.Null(), nil
	case known && !event.BeforeComplete:
		_, known = lookUp(event.Key, v.names[i])
	}
	if !known {
		return change.Unavailable(), nil
	}
	return v.typed(v.places[i], value)
}

func lookUp(columns []change.Column, name string) (change.Value, bool) {
	for i := range columns {
		if strings.EqualFold(columns[i].Name, name) {
			return columns[i].Value, true
		}
	}
	return change.Value{}, false
}
