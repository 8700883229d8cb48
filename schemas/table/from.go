package table

import (
	"fmt"
	"slices"
)

// units are what a number may count to a column of date or time.
var units = []From{FromSeconds, FromMillis, FromMicros, FromNanos}

// froms says which From means something for which type.
var froms = map[Type][]From{
	Int64:      {FromUnsigned, FromDecimal},
	Float64:    {FromUnsigned, FromDecimal},
	Numeric:    {FromUnsigned, FromDecimal},
	BigNumeric: {FromUnsigned, FromDecimal},
	String:     {FromUnsigned, FromDecimal, FromText, FromBase64, FromHex},
	Bytes:      {FromText, FromBase64, FromHex},
	JSON:       {FromText},
	Geography:  {FromText},
	Time:       units,
	Interval:   append(slices.Clone(units), FromDays),
	Date:       append(slices.Clone(units), FromDays),
	DateTime:   append(slices.Clone(units), FromDays),
	Timestamp:  append(slices.Clone(units), FromDays),
}

// FromsOf returns the Froms that mean something for columns of the type, which
// for a RANGE is that of its bounds.
func FromsOf(t Type) []From { return froms[t] }

// CheckFrom returns what is wrong with the column's own From: what means nothing
// for its type is a mistake. One without a type is a hint to BigQuery's, and fine.
func CheckFrom(c *Column) error {
	of := c.Type
	if of == Range {
		of = c.Element
	}
	if c.From != "" && of != "" && !slices.Contains(froms[of], c.From) {
		return fmt.Errorf("`from: %s` means nothing for a column of type %s", c.From, c.Type)
	}
	return nil
}
