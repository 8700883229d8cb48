package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"beamcdc/emulator/internal/decimal"
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

// AppendValue appends a column's value as JSON, in the forms that Rows tells. The
// value is as the database returns it.
func AppendValue(dst []byte, c *Column, value any) []byte {
	if !c.Repeated {
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

func appendScalar(dst []byte, c *Column, value any) []byte {
	if value == nil {
		return append(dst, "null"...)
	}
	switch c.Kind {
	case KindBool:
		return strconv.AppendBool(dst, value.(bool))
	case KindFloat64:
		return AppendFloat(dst, value.(float64))
	case KindStruct:
		fields, _ := value.(map[string]any)
		dst = append(dst, '{')
		for i, f := range c.Fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, f.Name)
			dst = append(dst, ':')
			dst = AppendValue(dst, f, fields[f.Name])
		}
		return append(dst, '}')
	default:
		return appendString(dst, ScalarText(c, value))
	}
}

// ScalarText is the text of a value that isn't NULL, of a type that JSON shows as a string.
func ScalarText(c *Column, value any) string {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	case duckdb.Decimal:
		return decimal.Text(v.Value, int(v.Scale))
	case duckdb.Interval:
		return intervalText(v)
	case []byte:
		if c.Kind == KindBigNumeric {
			return decimal.Text(decimal.Decode(v), decimal.BigNumericScale)
		}
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return timeText(c.Kind, v)
	case map[string]any:
		return rangeText(c.Element, v["start"], v["end"])
	}
	return fmt.Sprint(value)
}

func timeText(k Kind, t time.Time) string {
	switch k {
	case KindDate:
		return t.Format(dateLayout)
	case KindTime:
		return t.Format(timeLayout)
	case KindDateTime:
		return t.Format(dateTimeLayout)
	default:
		return t.UTC().Format(timestampLayout)
	}
}

func rangeText(element Kind, start, end any) string {
	bound := func(v any) string {
		if t, ok := v.(time.Time); ok {
			return timeText(element, t)
		}
		return "UNBOUNDED"
	}
	return "[" + bound(start) + ", " + bound(end) + ")"
}

// AppendFloat appends a FLOAT64 as JSON: a number, or one of three strings.
func AppendFloat(dst []byte, f float64) []byte {
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
