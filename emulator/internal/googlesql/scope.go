package googlesql

import "strings"

// scope is what names mean at a place of a query.
type scope struct {
	outer *scope
	ctes  map[string]*relation // WITH's names that this query adds, in small letters
	vars  []*rangeVar          // FROM's items, in order
	// merged are the columns that USING made one of two.
	merged []scopeColumn
	// selected are the SELECT list's aliases, where they can be used: in GROUP BY,
	// HAVING, QUALIFY and ORDER BY.
	selected map[string]value
	windows  map[string]*window
	// clause names the clause that is being translated where that has no aggregate
	// functions; the others say whose arguments are.
	clause                string
	inAggregate, inWindow bool
}

// within is the scope for a clause that has no aggregate functions.
func (s *scope) within(clause string) *scope {
	inner := *s
	inner.clause = clause
	return &inner
}

// rangeVar is an item of FROM.
type rangeVar struct {
	name    string // "" if it has none
	columns []scopeColumn
	value   *value // of UNNEST and of value tables: the whole row
}

type scopeColumn struct {
	name   string
	typ    *Type
	sql    string // how DuckDB refers to it
	hidden bool
	origin *origin
}

// relation is a translated query.
type relation struct {
	sql     string
	columns []scopeColumn // whose sql is the column's quoted name within the relation
	value   *Type         // of SELECT AS STRUCT or VALUE: the only column's
	// references counts those to a query of WITH's; nil for others.
	references *int
}

func fold(name string) string { return strings.ToLower(name) }

// cte finds a name of WITH's.
func (s *scope) cte(name string) *relation {
	for ; s != nil; s = s.outer {
		if r, ok := s.ctes[fold(name)]; ok {
			return r
		}
	}
	return nil
}

func (s *scope) window(name string) *window {
	if s == nil {
		return nil
	}
	return s.windows[fold(name)]
}

// variable finds a FROM item by its alias, in this query alone.
func (s *scope) variable(name string) *rangeVar {
	for _, v := range s.vars {
		if v.name != "" && strings.EqualFold(v.name, name) {
			return v
		}
	}
	return nil
}

// column finds a column by its bare name, in this query alone.
func (s *scope) column(n name) (value, bool) {
	if v, ok := s.selected[fold(n.text)]; ok {
		return v, true
	}
	if c, ok := findColumn(s.merged, n.text); ok {
		return c.value(), true
	}
	var found *scopeColumn
	for _, v := range s.vars {
		for i := range v.columns {
			if !strings.EqualFold(v.columns[i].name, n.text) {
				continue
			}
			if found != nil {
				fail(n.at, "Column name %s is ambiguous", n.text)
			}
			found = &v.columns[i]
		}
	}
	if found == nil {
		return value{}, false
	}
	return found.value(), true
}

func (c scopeColumn) value() value { return value{sql: c.sql, typ: c.typ, origin: c.origin} }

func findColumn(columns []scopeColumn, name string) (scopeColumn, bool) {
	for _, c := range columns {
		if strings.EqualFold(c.name, name) {
			return c, true
		}
	}
	return scopeColumn{}, false
}

// resolve finds what a path means, in its query or the nearest around it that knows its
// first name, and translates it.
func (t *translator) resolve(e *pathExpr, s *scope) value {
	first := e.names[0]
	for ; s != nil; s = s.outer {
		item := s.variable(first.text)
		if item != nil && len(e.names) > 1 {
			if c, ok := item.find(e.names[1]); ok {
				t.read(c.origin)
				return t.fields(c.value(), e.names[2:])
			}
			if item.value != nil {
				t.read(item.value.origin)
				return t.fields(*item.value, e.names[1:])
			}
		}
		if v, ok := s.column(first); ok {
			t.read(v.origin)
			return t.fields(v, e.names[1:])
		}
		switch {
		case item != nil && len(e.names) > 1:
			fail(e.names[1].at, "Name %s not found inside %s", e.names[1].text, first.text)
		case item != nil:
			v := item.row()
			t.read(v.origin)
			return v
		}
	}
	fail(first.at, "Unrecognized name: %s", first.text)
	return value{}
}

// find finds a column of the item's.
func (v *rangeVar) find(n name) (found scopeColumn, ok bool) {
	for _, c := range v.columns {
		if !strings.EqualFold(c.name, n.text) {
			continue
		}
		if ok {
			fail(n.at, "Column name %s is ambiguous", n.text)
		}
		found, ok = c, true
	}
	return found, ok
}

// row is the item as a value: a STRUCT of its columns but for value tables.
func (v *rangeVar) row() value {
	if v.value != nil {
		return *v.value
	}
	t := &Type{Kind: Struct}
	var args []string
	var origins []*origin
	for _, c := range v.columns {
		if !c.hidden {
			origins = append(origins, c.origin)
			t.Fields = append(t.Fields, Field{Name: c.name, Type: c.typ})
			args = append(args, c.sql)
		}
	}
	return value{sql: packStruct(t, args), typ: t, origin: mixed(origins...)}
}

// packStruct is a STRUCT of the type's with these values.
func packStruct(t *Type, values []string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = quoteName(t.fieldName(i)) + " := " + v
	}
	return "struct_pack(" + strings.Join(parts, ", ") + ")"
}

// fields goes from a value to a field of a field.
func (t *translator) fields(v value, names []name) value {
	for _, n := range names {
		v = t.field(v, n)
	}
	return v
}

func (t *translator) field(v value, n name) value {
	switch v.typ.Kind {
	case JSON:
		return value{sql: "bq_json_field(" + v.sql + ", " + quoteText(n.text) + ")", typ: Of(JSON)}
	case Struct:
		for i, f := range v.typ.Fields {
			if f.Name != "" && strings.EqualFold(f.Name, n.text) {
				return value{sql: "struct_extract(" + v.sql + ", " + quoteText(v.typ.fieldName(i)) + ")", typ: f.Type}
			}
		}
		fail(n.at, "Field name %s does not exist in %s", n.text, v.typ)
	default:
	}
	fail(n.at, "Cannot access field %s on a value with type %s", n.text, v.typ)
	return value{}
}
