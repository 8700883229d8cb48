package googlesql

import "strings"

// expand translates an item of the list, * to all its columns.
func (t *translator) expand(item selectItem, s *scope) []output {
	if !item.star {
		o := output{name: orElse(item.alias, implied(item.of)), of: item.of}
		of := t.collect(func() { o.value = t.expr(item.of, s) })
		switch item.of.(type) {
		case *pathExpr, *parenExpr:
			if o.origin != nil {
				of.same, of.optional, of.use = o.origin.same, o.origin.optional, o.origin.use
			}
		}
		o.origin = of
		return []output{o}
	}
	var outputs []output
	switch {
	case item.of == nil && len(s.vars) == 0:
		fail(item.offset(), "SELECT * must have a FROM clause")
	case item.of == nil:
		for _, c := range s.merged {
			outputs = append(outputs, output{name: c.name, value: c.value()})
		}
		for _, v := range s.vars {
			outputs = append(outputs, starOf(v, s.merged)...)
		}
	default:
		of := t.collect(func() { outputs = t.starOfValue(item.of, s) })
		for i := range outputs {
			if len(of.reads) > 0 { // a STRUCT's fields
				outputs[i].origin = of
			}
		}
	}
	return t.adjust(item, outputs, s)
}

func starOf(v *rangeVar, merged []scopeColumn) []output {
	var outputs []output
	for _, c := range v.columns {
		if _, ok := findColumn(merged, c.name); !ok && !c.hidden {
			outputs = append(outputs, output{name: c.name, value: c.value()})
		}
	}
	return outputs
}

// starOfValue is name.* of a FROM item, or value.* of a STRUCT.
func (t *translator) starOfValue(e expr, s *scope) []output {
	if path, ok := e.(*pathExpr); ok && len(path.names) == 1 {
		for around := s; around != nil; around = around.outer {
			if v := around.variable(path.names[0].text); v != nil {
				return starOf(v, nil)
			}
		}
	}
	v := t.expr(e, s)
	if v.typ.Kind != Struct {
		fail(e.offset(), "Dot-star is not supported for type %s", v.typ)
	}
	row := &rangeVar{}
	row.setValue(v)
	return starOf(row, nil)
}

// adjust applies EXCEPT and REPLACE to what * gave.
func (t *translator) adjust(item selectItem, outputs []output, s *scope) []output {
	for _, n := range item.except {
		var kept []output
		for _, o := range outputs {
			if !strings.EqualFold(o.name, n.text) {
				kept = append(kept, o)
			}
		}
		if len(kept) == len(outputs) {
			fail(n.at, "Column %s in SELECT * EXCEPT list does not exist", n.text)
		}
		outputs = kept
	}
	if len(outputs) == 0 {
		fail(item.offset(), "SELECT * EXCEPT list excludes all columns")
	}
	for _, r := range item.replace {
		found := false
		for i := range outputs {
			if strings.EqualFold(outputs[i].name, r.alias) {
				of := t.collect(func() { outputs[i].value = t.expr(r.of, s) })
				outputs[i].origin, found = of, true
			}
		}
		if !found {
			fail(r.offset(), "Column %s in SELECT * REPLACE list does not exist", r.alias)
		}
	}
	return outputs
}

// implied is the name that an item has without an alias.
func implied(e expr) string {
	switch e := e.(type) {
	case *pathExpr:
		return e.names[len(e.names)-1].text
	case *fieldExpr:
		return e.name.text
	case *parenExpr:
		return implied(e.of)
	}
	return ""
}
