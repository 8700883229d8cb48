package googlesql

import "strings"

// value is a translated expression.
type value struct {
	sql string
	typ *Type
	// literal is a literal or a parameter, which BigQuery coerces to more types; text is
	// what a literal of STRING says, and a number's digits.
	literal bool
	text    string
	// written is a STRING literal's place: one that is no value of the type that it is to
	// take is refused there, before the query runs.
	written *literal
	// chain is the operator between the operands that the text's outer parentheses hold:
	// the same operator after it needs no more of them, which spares DuckDB's parser depth.
	chain string
	// origin is what a FROM item's column is made of.
	origin *origin
}

// joined is an operator between two operands that associates to the left.
func joined(l value, op string, r value, typ *Type) value {
	left := l.sql
	if l.chain == op {
		left = left[1 : len(left)-1]
	}
	return value{sql: "(" + left + " " + op + " " + r.sql + ")", typ: typ, chain: op}
}

func (v value) isNull() bool { return v.typ.Kind == Null }

// supertype is the type that all of the values coerce to; nil if there is none.
func supertype(values []value) *Type {
	var result *Type
	literal := true
	for _, v := range values {
		switch {
		case v.isNull():
		case result == nil:
			result, literal = v.typ, v.literal
		default:
			result = common(result, literal, v.typ, v.literal)
			if result == nil {
				return nil
			}
			literal = literal && v.literal
		}
	}
	if result == nil {
		return Of(Null)
	}
	return result
}

// common is the type that two types have in common; a literal gives way.
func common(a *Type, literalA bool, b *Type, literalB bool) *Type {
	switch {
	case a.SameAs(b), b.Kind == Null:
		return a
	case a.Kind == Null:
		return b
	case a.isNumber() && b.isNumber():
		if literalA && a.Kind == Float64 && b.Kind != Int64 {
			return b
		}
		if literalB && b.Kind == Float64 && a.Kind != Int64 {
			return a
		}
		return Of(max(rank(a), rank(b)).kind())
	case literalA && a.Kind == String && fromText(b.Kind):
		return b
	case literalB && b.Kind == String && fromText(a.Kind):
		return a
	case a.Kind == Date && b.Kind == DateTime || a.Kind == DateTime && b.Kind == Date:
		return Of(DateTime)
	case a.Kind == Array && b.Kind == Array:
		if elem := common(a.Elem, literalA, b.Elem, literalB); elem != nil && (literalA || literalB || a.Elem.Kind == Null || b.Elem.Kind == Null) {
			return ArrayOf(elem)
		}
	case a.Kind == Struct && b.Kind == Struct && len(a.Fields) == len(b.Fields):
		t := &Type{Kind: Struct}
		for i, f := range a.Fields {
			g := b.Fields[i]
			typ := common(f.Type, literalA, g.Type, literalB)
			if typ == nil {
				return nil
			}
			t.Fields = append(t.Fields, Field{Name: orElse(f.Name, g.Name), Type: typ})
		}
		return t
	}
	return nil
}

// numberRank orders the number types by what coerces to what.
type numberRank int

func rank(t *Type) numberRank {
	switch t.Kind {
	case Numeric:
		return 1
	case BigNumeric:
		return 2
	case Float64:
		return 3
	default:
		return 0
	}
}

func (r numberRank) kind() Kind { return [...]Kind{Int64, Numeric, BigNumeric, Float64}[r] }

// fromText are the types that a STRING literal or parameter coerces to.
func fromText(k Kind) bool {
	switch k {
	case Date, Time, DateTime, Timestamp, Bytes, Interval:
		return true
	default:
		return false
	}
}

// coerce converts a value where BigQuery does so unasked.
func (t *translator) coerce(v value, to *Type) (value, bool) {
	switch {
	case v.typ.SameAs(to):
		return v, true
	case v.isNull():
		return value{sql: castNull(v, to), typ: to, literal: true}, true
	case v.typ.isNumber() && to.isNumber() && rank(v.typ) < rank(to),
		v.typ.Kind == Float64 && v.literal && to.isNumber() && to.Kind != Int64,
		v.literal && v.typ.Kind == String && fromText(to.Kind),
		v.typ.Kind == Date && to.Kind == DateTime:
	case v.typ.Kind == Array && to.Kind == Array && v.typ.Elem.Kind == Null,
		v.typ.Kind == Array && to.Kind == Array && v.literal:
		return t.castArray(v, to, false)
	case v.typ.Kind == Struct && to.Kind == Struct && len(v.typ.Fields) == len(to.Fields):
		return t.coerceStruct(v, to)
	default:
		return v, false
	}
	if v.written != nil && v.typ.Kind == String {
		sql, err := textSQL(to, v.written.text)
		if err != nil {
			fail(v.written.offset(), "Could not cast literal %q to type %s", v.written.text, to)
		}
		return value{sql: sql, typ: to, literal: true}, true
	}
	sql, ok := t.castSQL(v, to)
	return value{sql: sql, typ: to, literal: v.literal, text: v.text}, ok
}

// castNull is a NULL of a type, or ERROR's call as if it had the type.
func castNull(v value, to *Type) string {
	if strings.HasPrefix(v.sql, "bq_error(") {
		return "CAST(" + v.sql + " AS " + to.DuckDB() + ")"
	}
	return "CAST(NULL AS " + to.DuckDB() + ")"
}

// coerceStruct converts field by field, by position.
func (t *translator) coerceStruct(v value, to *Type) (value, bool) {
	values := make([]string, len(to.Fields))
	for i, f := range to.Fields {
		part := value{sql: "struct_extract(" + v.sql + ", " + quoteText(v.typ.fieldName(i)) + ")", typ: v.typ.Fields[i].Type, literal: v.literal}
		cast, ok := t.coerce(part, f.Type)
		if !ok {
			return v, false
		}
		values[i] = cast.sql
	}
	packed := packStruct(to, values)
	if v.literal {
		return value{sql: packed, typ: to, literal: true}, true
	}
	return value{sql: "CASE WHEN " + v.sql + " IS NOT NULL THEN " + packed + " END", typ: to}, true
}

// unify coerces values to the type they have in common.
func (t *translator) unify(values []value, at int, what string) ([]value, *Type) {
	typ := supertype(values)
	if typ == nil {
		fail(at, "No matching signature for %s for argument types: %s", what, typeList(values))
	}
	result := make([]value, len(values))
	for i, v := range values {
		cast, ok := t.coerce(v, typ)
		if !ok {
			fail(at, "No matching signature for %s for argument types: %s", what, typeList(values))
		}
		result[i] = cast
	}
	return result, typ
}

func typeList(values []value) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.typ.String()
		if v.isNull() {
			names[i] = "NULL"
		}
	}
	return strings.Join(names, ", ")
}
