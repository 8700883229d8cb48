package table

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxColumnName is BigQuery's limit for a column's name, in characters.
const maxColumnName = 300

// reservedPrefixes begin the names that BigQuery keeps for itself, in any case
// (https://cloud.google.com/bigquery/docs/schemas#column_names). The CDC
// pseudo-columns are among them: a user's column must never drive a change.
var reservedPrefixes = [...]string{
	"_CHANGE_TYPE", "_CHANGE_SEQUENCE_NUMBER", "_CHANGE_TIMESTAMP",
	"_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER",
}

// reservedPrefix returns the reserved prefix that the name has, "" for none.
func reservedPrefix(name string) string {
	for _, prefix := range reservedPrefixes {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			return prefix
		}
	}
	return ""
}

// checkColumnName applies BigQuery's rule for flexible column names
// (https://cloud.google.com/bigquery/docs/schemas#flexible-column-names).
func checkColumnName(name string) error {
	switch {
	case name == "":
		return errors.New("its name is empty")
	case !utf8.ValidString(name):
		return errors.New("its name is not UTF-8")
	case utf8.RuneCountInString(name) > maxColumnName:
		return fmt.Errorf("its name has %d characters, more than %d", utf8.RuneCountInString(name), maxColumnName)
	}
	for _, r := range name {
		if !takesRune(r) {
			return fmt.Errorf("its name has %q, which BigQuery doesn't take in a column's name", r)
		}
	}
	return nil
}

// takesRune reports whether BigQuery takes a character in a column's name.
func takesRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc, unicode.Pd) || unicode.IsSpace(r) || strings.ContainsRune("&%=+:'<>#|", r)
}

// fold maps names that BigQuery takes for the same to one.
func fold(name string) string { return strings.ToLower(name) }
