package engine

import "strings"

// sizeSQL is the expression for a row's size in bytes, as BigQuery counts it ("Data
// type sizes"): ARRAYs and STRUCTs by their text, which is an estimate.
func (s *Schema) sizeSQL() string {
	terms := make([]string, 0, len(s.Columns)+1)
	for _, c := range s.Columns {
		terms = append(terms, sizeOf(c))
	}
	return strings.Join(append(terms, "0"), " + ")
}

func sizeOf(c *Column) string {
	name := columnName(c)
	fixed := "8"
	switch {
	case c.Repeated || c.Kind == KindStruct:
		return "coalesce(strlen(" + name + "::VARCHAR), 0)"
	case c.Kind == KindString || c.Kind == KindJSON || c.Kind == KindGeography:
		return "coalesce(2 + strlen(" + name + "), 0)"
	case c.Kind == KindBytes:
		return "coalesce(2 + octet_length(" + name + "), 0)"
	case c.Kind == KindBool:
		fixed = "1"
	case c.Kind == KindNumeric || c.Kind == KindInterval || c.Kind == KindRange:
		fixed = "16"
	case c.Kind == KindBigNumeric:
		fixed = "32"
	}
	return "if(" + name + " IS NULL, 0, " + fixed + ")"
}
