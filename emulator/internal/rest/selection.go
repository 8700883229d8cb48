package rest

import (
	"slices"
	"strings"

	"beamcdc/emulator/internal/engine"
)

// fields is what selectedFields names: by lower-case name, with what it names inside.
// Nil is all there is.
type fields map[string]fields

// selection reads selectedFields: "a,b.c".
func selection(text string) fields {
	if text == "" {
		return nil
	}
	result := fields{}
	for path := range strings.SplitSeq(text, ",") {
		in := result
		names := strings.Split(strings.ToLower(strings.TrimSpace(path)), ".")
		for i, name := range names {
			inner, ok := in[name]
			switch {
			case i == len(names)-1 || ok && inner == nil: // the whole field, here or before
				in[name] = nil
			case !ok:
				inner = fields{}
				in[name] = inner
			}
			if in = inner; in == nil {
				break
			}
		}
	}
	return result
}

// of returns the columns that are selected, and their values.
func (f fields) of(columns []*engine.Column, values []any) ([]*engine.Column, []any, error) {
	if f == nil {
		return columns, values, nil
	}
	chosen, err := f.columns(columns, "")
	if err != nil {
		return nil, nil, err
	}
	var of []any
	for i, c := range columns {
		if _, ok := f[strings.ToLower(c.Name)]; ok {
			of = append(of, values[i])
		}
	}
	return chosen, of, nil
}

func (f fields) columns(columns []*engine.Column, path string) ([]*engine.Column, error) {
	if f == nil {
		return columns, nil
	}
	var chosen []*engine.Column
	for _, c := range columns {
		inner, ok := f[strings.ToLower(c.Name)]
		if !ok {
			continue
		}
		if inner != nil && c.Kind != engine.KindStruct {
			return nil, engine.Invalid("Field %s isn't a RECORD: selectedFields can't select a field of it", path+c.Name)
		}
		part := *c
		var err error
		if part.Fields, err = inner.columns(c.Fields, path+c.Name+"."); err != nil {
			return nil, err
		}
		chosen = append(chosen, &part)
	}
	if len(chosen) == len(f) {
		return chosen, nil
	}
	for name := range f {
		if !slices.ContainsFunc(columns, func(c *engine.Column) bool { return strings.EqualFold(c.Name, name) }) {
			return nil, engine.Invalid("No such field: %s.", engine.Clip(path+name))
		}
	}
	return chosen, nil
}
