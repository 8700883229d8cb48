package pipeline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"beamcdc/schemas/table"
)

// typeNames are GoogleSQL's names of BigQuery's types, aliases included:
// https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types
var typeNames = map[string]table.Type{
	"BOOL": table.Bool, "BOOLEAN": table.Bool,
	"INT64": table.Int64, "INT": table.Int64, "INTEGER": table.Int64, "BIGINT": table.Int64,
	"SMALLINT": table.Int64, "TINYINT": table.Int64, "BYTEINT": table.Int64,
	"FLOAT64": table.Float64, "FLOAT": table.Float64,
	"NUMERIC": table.Numeric, "DECIMAL": table.Numeric,
	"BIGNUMERIC": table.BigNumeric, "BIGDECIMAL": table.BigNumeric,
	"STRING": table.String, "BYTES": table.Bytes,
	"DATE": table.Date, "TIME": table.Time, "DATETIME": table.DateTime, "TIMESTAMP": table.Timestamp,
	"JSON": table.JSON, "GEOGRAPHY": table.Geography, "INTERVAL": table.Interval,
	"STRUCT": table.Struct, "RECORD": table.Struct,
}

var (
	typePattern  = regexp.MustCompile(`^(\w+)\s*(?:\(\s*(\d{1,18})\s*(?:,\s*(\d{1,18})\s*)?\))?$`)
	rangePattern = regexp.MustCompile(`^RANGE\s*<\s*(\w+)\s*>$`)
)

// parseType reads a type as GoogleSQL writes it, in any case, with its
// parameters: "int64", "NUMERIC(12,2)", "STRING(20)", "RANGE<DATE>".
func parseType(text string) (table.Column, error) {
	upper := strings.ToUpper(strings.TrimSpace(text))
	if m := rangePattern.FindStringSubmatch(upper); m != nil {
		switch element := typeNames[m[1]]; element {
		case table.Date, table.DateTime, table.Timestamp:
			return table.Column{Type: table.Range, Element: element}, nil
		default:
			return table.Column{}, fmt.Errorf("%q: a RANGE holds DATE, DATETIME or TIMESTAMP", text)
		}
	}
	if strings.HasPrefix(upper, "ARRAY") {
		return table.Column{}, fmt.Errorf("%q: give the elements' type, and mode: REPEATED", text)
	}
	m := typePattern.FindStringSubmatch(upper)
	if m == nil {
		if strings.HasPrefix(upper, "STRUCT") {
			return table.Column{}, fmt.Errorf("%q: give STRUCT, and its columns as fields", text)
		}
		return table.Column{}, fmt.Errorf("%q is no BigQuery type", text)
	}
	c := table.Column{Type: typeNames[m[1]]}
	if c.Type == "" {
		return table.Column{}, fmt.Errorf("%q is no BigQuery type", text)
	}
	if m[2] == "" {
		return c, nil
	}
	first, _ := strconv.ParseInt(m[2], 10, 64) // the pattern takes no more digits than fit
	second, _ := strconv.ParseInt("0"+m[3], 10, 64)
	return c, parameters(&c, text, first, second, m[3] != "")
}

// parameters sets the column's parameters and checks BigQuery's limits for them.
func parameters(c *table.Column, text string, first, second int64, two bool) error {
	switch c.Type {
	case table.String, table.Bytes:
		if two || first == 0 {
			return fmt.Errorf("%q: its length is one number, at least 1", text)
		}
		c.MaxLength = first
	case table.Numeric, table.BigNumeric:
		maxScale, maxWhole := int64(9), int64(29)
		if c.Type == table.BigNumeric {
			maxScale, maxWhole = 38, 38
		}
		if second > maxScale {
			return fmt.Errorf("%q: its scale is at most %d", text, maxScale)
		}
		if low, high := max(1, second), maxWhole+second; first < low || first > high {
			return fmt.Errorf("%q: with scale %d its precision is %d to %d", text, second, low, high)
		}
		c.Precision, c.Scale = first, second
	default:
		return fmt.Errorf("%q: the type takes no parameters", text)
	}
	return nil
}
