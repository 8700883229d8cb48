package table

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Policies are all of them, the default first.
var Policies = []Policy{PolicyReject, PolicyNull, PolicyClamp, PolicyString}

// clampEffects are the types whose bad values have something nearest to them. A
// text that is too long has not: what is cut off a name or an address is lost
// without a trace.
var clampEffects = map[Type]string{
	Int64:      "the nearer end of INT64's range; a fraction is rounded, halves away from zero",
	Float64:    "the greatest or least double; an integer or typed decimal of more digits than a double keeps, the nearest one",
	Numeric:    "the nearer end of the column's range; digits too many after the point are rounded, halves away from zero",
	BigNumeric: "the nearer end of the column's range; digits too many after the point are rounded, halves away from zero",
	Date:       "0001-01-01 or 9999-12-31; a time of day is cut off",
	Time:       "00:00:00 or 23:59:59.999999",
	DateTime:   "0001-01-01 00:00:00 or 9999-12-31 23:59:59.999999",
	Timestamp:  "0001-01-01 00:00:00 UTC or 9999-12-31 23:59:59.999999 UTC",
	Interval:   "10,000 years, of its sign, in the part that is beyond them",
	Range:      "each bound the nearer end of its type's range",
}

// stringEffects are the types that can hold a bad value's text.
var stringEffects = map[Type]string{
	String: "the base64 of bytes",
	JSON:   "a JSON string of what is no JSON document, or one that BigQuery would change",
}

// Effect says what the policy makes of a value that the column can't hold. It is
// "" for PolicyReject, and where the policy means nothing: the value is rejected
// then, too.
func (p Policy) Effect(c *Column) string {
	switch p {
	case PolicyNull:
		switch c.Mode {
		case Required:
			return ""
		case Repeated:
			return "the empty array"
		default:
			return "NULL"
		}
	case PolicyClamp:
		if c.Mode != Repeated {
			return clampEffects[c.Type]
		}
		const without = "the array without its NULLs"
		if effect := clampEffects[c.Type]; effect != "" {
			return without + "; of an element, " + effect
		}
		return without
	case PolicyString:
		return stringEffects[c.Type]
	default:
		return ""
	}
}

// CheckPolicy returns what is wrong with the column's own policy. One that would
// do nothing is a mistake, of a key column even "null": NULL is no key, and
// clamping would make two rows one. A STRUCT's is its fields' default.
func CheckPolicy(c *Column, key bool) error {
	switch p := c.BadValues; {
	case p == "" || p == PolicyReject:
		return nil
	case key:
		return fmt.Errorf("`bad_values: %s` can't apply to a column of the primary key: a row without its key is always rejected", p)
	case p == PolicyNull && c.Mode == Required:
		return errors.New("`bad_values: null` can't apply to a REQUIRED column")
	case p.Effect(c) != "", c.Type == Struct, c.Type == "": // BigQuery's type is asked when it is known
		return nil
	default:
		return fmt.Errorf("`bad_values: %s` means nothing for a column of type %s; it takes %s", p, c.SQLType(), strings.Join(policyWords(c), ", "))
	}
}

func policyWords(c *Column) []string {
	words := []string{string(PolicyReject)}
	for _, p := range Policies {
		if p.Effect(c) != "" {
			words = append(words, string(p))
		}
	}
	return words
}

// withPolicy gives the columns that have no policy of their own the rule's, and a
// STRUCT's fields its own, where it means something: the others reject.
func withPolicy(columns []Column, policy Policy) []Column {
	for i := range columns {
		c := &columns[i]
		own := cmp.Or(c.BadValues, policy)
		withPolicy(c.Fields, own)
		if c.BadValues == "" && own.Effect(c) != "" {
			c.BadValues = own
		}
	}
	return columns
}
