package table

import (
	"iter"
	"slices"
)

// Undone yields the columns with one step of their history undone, as far as it can
// be guessed from them: one column of the type that it may have been widened from, or
// without a STRUCT's last fields.
func Undone(columns []Column) iter.Seq[[]Column] {
	return func(yield func([]Column) bool) {
		for i := range columns {
			with := func(c Column) bool {
				undone := slices.Clone(columns)
				undone[i] = c
				return yield(undone)
			}
			c := columns[i]
			// Both decimals read the same: what matters is whether there was an integer.
			if slices.Contains(wider[Int64], c.Type) && c.Mode != Repeated {
				c.Type, c.Precision, c.Scale = Int64, 0, 0
				if !with(c) {
					return
				}
			}
			if c = columns[i]; c.Type != Struct {
				continue
			}
			for n := len(c.Fields) - 1; n > 0; n-- {
				c.Fields = columns[i].Fields[:n:n]
				if !with(c) {
					return
				}
			}
			for fields := range Undone(columns[i].Fields) {
				c.Fields = fields
				if !with(c) {
					return
				}
			}
		}
	}
}
