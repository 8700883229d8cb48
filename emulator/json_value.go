package emulator

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
	for _, b := range []byte(s) {
		if b < ' ' || b >= 0x7F || b == '"' || b == '\\' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always marshals
			}
			return append(dst, text...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// appendValue appends a column's value as JSON, in the forms that Rows tells. The
// value is as the database returns it.
func appendValue(dst []byte, c *column, value any) []byte {
	if !c.repeated {
		return appendScalar(dst, c, value)
	}
	list, _ := value.([]any) // nil for the rows that are older than the column
	dst = append(dst, '[')
	for i, element := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendScalar(dst, c, element)
	}
	return append(dst, ']')
}

func appendScalar(dst []byte, c *column, value any) []byte {
	if value == nil {
		return append(dst, "null"...)
	}
	switch c.kind {
	case kindBool:
		return strconv.AppendBool(dst, value.(bool))
	case kindFloat64:
		return appendFloat(dst, value.(float64))
	case kindStruct:
		fields, _ := value.(map[string]any)
		dst = append(dst, '{')
		for i, f := range c.fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, f.name)
			dst = append(dst, ':')
			dst = appendValue(dst, f, fields[f.name])
		}
		return append(dst, '}')
	default:
		return appendString(dst, scalarText(c, value))
	}
}

// scalarText is the text of a value that isn't NULL, of a type that JSON shows as a string.
func scalarText(c *column, value any) string {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	case duckdb.Decimal:
		return decimalText(v.Value, int(v.Scale))
	case duckdb.Interval:
		return intervalText(v)
	case []byte:
		if c.kind == kindBigNumeric {
			return decimalText(decodeBigNumeric(v), bigNumericScale)
		}
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return timeText(c.kind, v)
	case map[string]any:
		return rangeText(c.element, v["start"], v["end"])
	}
	return fmt.Sprint(value)
}

func timeText(k kind, t time.Time) string {
	switch k {
	case kindDate:
		return t.Format(dateLayout)
	case kindTime:
		return t.Format(timeLayout)
	case kindDateTime:
		return t.Format(dateTimeLayout)
	default:
		return t.UTC().Format(timestampLayout)
	}
}

func rangeText(element kind, start, end any) string {
	bound := func(v any) string {
		if t, ok := v.(time.Time); ok {
			return timeText(element, t)
		}
		return "UNBOUNDED"
	}
	return "[" + bound(start) + ", " + bound(end) + ")"
}

func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	format := byte('f')
	if magnitude := math.Abs(f); magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}
