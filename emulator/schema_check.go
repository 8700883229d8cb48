package emulator

import (
	"strings"
	"unicode/utf8"
)

// checkParameters checks STRING(n), BYTES(n), NUMERIC(p, s) and BIGNUMERIC(p, s).
func (c *column) checkParameters(full string) error {
	if c.maxLength < 0 || c.maxLength > 0 && c.kind != kindString && c.kind != kindBytes {
		return invalid("Invalid maxLength of field %s of type %s.", full, c.kind)
	}
	if c.precision == 0 && c.scale == 0 {
		return nil
	}
	var whole, maxScale int64
	switch c.kind {
	case kindNumeric:
		whole, maxScale = 29, 9
	case kindBigNumeric:
		whole, maxScale = 38, 38
	default:
		return invalid("Invalid precision of field %s of type %s.", full, c.kind)
	}
	if c.scale < 0 || c.scale > maxScale || c.precision < max(1, c.scale) || c.precision > whole+c.scale {
		return invalid("Invalid precision %d and scale %d of field %s of type %s.", c.precision, c.scale, full, c.kind)
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
		return invalid("Invalid field name: it is empty.")
	case !utf8.ValidString(name):
		return invalid("Invalid field name: it is not UTF-8.")
	case utf8.RuneCountInString(name) > maxColumnNameLen:
		return invalid("Invalid field name: it has more than %d characters.", maxColumnNameLen)
	case strings.ContainsAny(name, "!\"$()*,./;?@[\\]^`{}~\x00"):
		return invalid("Invalid field name %q. Fields must contain the allowed characters, and be at most %d characters long.",
			name, maxColumnNameLen)
	}
	upper := strings.ToUpper(name)
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(upper, prefix) {
			return invalid("Invalid field name %q. Field names are not allowed to start with the (case-insensitive) prefixes %s",
				name, strings.Join(reservedPrefixes, ", "))
		}
	}
	return nil
}
