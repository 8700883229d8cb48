package googlesql

import "strings"

// partitioning reads PARTITION BY's expression: a column, DATE(column), *_TRUNC(column,
// unit) or RANGE_BUCKET(column, GENERATE_ARRAY(start, end, interval)).
func partitioning(e expr) *Partitioning {
	if column, ok := bareColumn(e); ok {
		return &Partitioning{Column: column, Unit: "DAY"}
	}
	if c, ok := e.(*callExpr); ok && len(c.args) > 0 {
		column, isColumn := bareColumn(c.args[0])
		switch {
		case !isColumn:
		case c.name == "DATE" && len(c.args) == 1:
			return &Partitioning{Column: column, Unit: "DAY"}
		case strings.HasSuffix(c.name, "_TRUNC") && len(c.args) == 2:
			if unit, ok := bareColumn(c.args[1]); ok {
				switch unit = strings.ToUpper(unit); unit {
				case "HOUR", "DAY", "MONTH", "YEAR":
					return &Partitioning{Column: column, Unit: unit}
				}
			}
		case c.name == "RANGE_BUCKET" && len(c.args) == 2:
			if p := rangePartitioning(column, c.args[1]); p != nil {
				return p
			}
		}
	}
	fail(e.offset(), "PARTITION BY expression must be DATE(<timestamp_column>), DATE(<datetime_column>), DATETIME_TRUNC(<datetime_column>, DAY/HOUR/MONTH/YEAR), a DATE column, TIMESTAMP_TRUNC(<timestamp_column>, DAY/HOUR/MONTH/YEAR), DATE_TRUNC(<date_column>, MONTH/YEAR), or RANGE_BUCKET(<int64_column>, GENERATE_ARRAY(<int64_value>, <int64_value>[, <int64_value>]))")
	return nil
}

func bareColumn(e expr) (string, bool) {
	path, ok := e.(*pathExpr)
	if !ok || len(path.names) != 1 {
		return "", false
	}
	return path.names[0].text, true
}

func rangePartitioning(column string, e expr) *Partitioning {
	c, ok := e.(*callExpr)
	if !ok || c.name != "GENERATE_ARRAY" || len(c.args) < 2 || len(c.args) > 3 {
		return nil
	}
	bounds := [3]int64{2: 1}
	for i, a := range c.args {
		v, _ := constant(a)
		n, ok := v.(int64)
		if !ok {
			return nil
		}
		bounds[i] = n
	}
	return &Partitioning{Column: column, Start: bounds[0], End: bounds[1], Interval: bounds[2]}
}
