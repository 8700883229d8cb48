package ddl

import (
	"fmt"
	"slices"
	"strings"

	"beamcdc/schemas/table"
)

// Source is a table of a source, as far as was told of it.
type Source struct {
	Name        string         // as change events name it: "public.orders"
	Columns     []table.Column // by the source's names, of BigQuery's types. From is what values mean without a schema
	Key         []string       // by the source's names; nil where it is not known
	Description string
	Notes       []string // what a user should know
	Unbounded   []string // columns of decimals whose precision nothing bounds: they are BIGNUMERIC
}

func (s *Source) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

func (s *Source) column(name string) *table.Column { return find(s.Columns, name) }

// find returns the column of that name, as BigQuery finds it.
func find(columns []table.Column, name string) *table.Column {
	if i := index(columns, name); i >= 0 {
		return &columns[i]
	}
	return nil
}

func index(columns []table.Column, name string) int {
	return slices.IndexFunc(columns, func(c table.Column) bool { return strings.EqualFold(c.Name, name) })
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// decimalType returns the narrowest type that holds every decimal of a precision and
// a scale, exactly
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#decimal_types).
func decimalType(precision, scale int) table.Type {
	whole, fraction := precision-scale, max(scale, 0)
	switch {
	case whole <= 29 && fraction <= 9:
		return table.Numeric
	case whole <= 38 && fraction <= 38:
		return table.BigNumeric
	default:
		return table.String
	}
}

// unbounded is said of decimals whose precision nothing bounds.
const unbounded = "column %s has decimals of any size: what BIGNUMERIC can't hold (38 digits before and after the point) is its bad_values' affair; STRING holds all"
