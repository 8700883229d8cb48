package engine

import (
	"strings"
	"unicode/utf8"
)

// checkParameters checks STRING(n), BYTES(n), NUMERIC(p, s) and BIGNUMERIC(p, s).
func (c *Column) checkParameters(full string) error {
	if c.MaxLength < 0 || c.MaxLength > 0 && c.Kind != KindString && c.Kind != KindBytes {
		return Invalid("Invalid maxLength of field %s of type %s.", full, c.Kind)
	}
	if c.Precision == 0 && c.Scale == 0 {
		return nil
	}
	var whole, maxScale int64
	switch c.Kind {
	case KindNumeric:
		whole, maxScale = 29, 9
	case KindBigNumeric:
		whole, maxScale = 38, 38
	default:
		return Invalid("Invalid precision of field %s of type %s.", full, c.Kind)
	}
	if c.Scale < 0 || c.Scale > maxScale || c.Precision < max(1, c.Scale) || c.Precision > whole+c.Scale {
		return Invalid("Invalid precision %d and scale %d of field %s of type %s.", c.Precision, c.Scale, full, c.Kind)
	}
	return nil
}

// reservedPrefixes are BigQuery's: no column's name may begin with one, in any case.
var reservedPrefixes = []string{
	"_PARTITION", "_TABLE_", "_FILE_", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER",
	"_CHANGE_SEQUENCE_NUMBER", "_CHANGE_TYPE", "_CHANGE_TIMESTAMP",
}

func checkColumnName(name string) error {
	switch {
	case name == "":
		return Invalid("Invalid field name: it is empty.")
	case !utf8.ValidString(name):
		return Invalid("Invalid field name: it is not UTF-8.")
	case utf8.RuneCountInString(name) > maxColumnNameLen:
		return Invalid("Invalid field name: it has more than %d characters.", maxColumnNameLen)
	case strings.ContainsAny(name, "!\"$()*,./;?@[\\]^`{}~\x00"):
		return Invalid("Invalid field name %q. Fields must contain the allowed characters, and be at most %d characters long.",
			name, maxColumnNameLen)
	}
	upper := strings.ToUpper(name)
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(upper, prefix) {
			return Invalid("Invalid field name %q. Field names are not allowed to start with the (case-insensitive) prefixes %s",
				name, strings.Join(reservedPrefixes, ", "))
		}
	}
	return nil
}
