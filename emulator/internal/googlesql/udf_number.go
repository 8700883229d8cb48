package googlesql

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// errQuery is an error that a query raises while it runs; its text is BigQuery's.
func errQuery(format string, args ...any) error { return fmt.Errorf(format, args...) }

var numberUDFs = []function{
	{"bq_error", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) { return nil, errors.New(a[0].(string)) }},
	{"bq_float", params("VARCHAR", "DOUBLE", "DOUBLE"), "DOUBLE", func(a []driver.Value) (any, error) {
		return floatArithmetic(a[0].(string), a[1].(float64), a[2].(float64))
	}},
	{"bq_ieee_divide", params("DOUBLE", "DOUBLE"), "DOUBLE", func(a []driver.Value) (any, error) { return a[0].(float64) / a[1].(float64), nil }},
	{"bq_div", params("BIGINT", "BIGINT"), "BIGINT", func(a []driver.Value) (any, error) {
		x, y := a[0].(int64), a[1].(int64)
		switch {
		case y == 0:
			return nil, errQuery("division by zero: %d / 0", x)
		case x == math.MinInt64 && y == -1:
			return nil, errQuery("int64 overflow: %d / -1", x)
		}
		return x / y, nil
	}},
	{"bq_mod", params("BIGINT", "BIGINT"), "BIGINT", func(a []driver.Value) (any, error) {
		x, y := a[0].(int64), a[1].(int64)
		switch y {
		case 0:
			return nil, errQuery("division by zero: MOD(%d, 0)", x)
		case -1:
			return int64(0), nil
		}
		return x % y, nil
	}},
	{"bq_shift", params("VARCHAR", "BIGINT", "BIGINT"), "BIGINT", func(a []driver.Value) (any, error) {
		x, n := a[1].(int64), a[2].(int64)
		switch {
		case n < 0:
			return nil, errQuery("Bitwise binary operator %s requires non-negative offset", a[0])
		case n > 63:
			return int64(0), nil
		case a[0].(string) == "<<":
			return x << n, nil
		}
		return int64(uint64(x) >> n), nil // BigQuery doesn't extend the sign
	}},
	{"bq_float_int", params("DOUBLE"), "BIGINT", func(a []driver.Value) (any, error) {
		r := math.Round(a[0].(float64))
		if math.IsNaN(r) || r < -1<<63 || r >= 1<<63 {
			return nil, errQuery("Illegal conversion of non-finite or out of range floating point number to an integer: %s", floatText(a[0].(float64)))
		}
		return int64(r), nil
	}},
	{"bq_float_text", params("DOUBLE"), "VARCHAR", func(a []driver.Value) (any, error) { return floatText(a[0].(float64)), nil }},
	{"bq_parse_bool", params("VARCHAR"), "BOOLEAN", func(a []driver.Value) (any, error) {
		b, err := parseBool(a[0].(string))
		return b, bad(err, "bool", a[0])
	}},
	{"bq_parse_int", params("VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
		n, err := parseIntText(a[0].(string))
		return n, bad(err, "int64", a[0])
	}},
	{"bq_parse_float", params("VARCHAR"), "DOUBLE", func(a []driver.Value) (any, error) {
		f, err := parseFloatText(a[0].(string))
		return f, bad(err, "double", a[0])
	}},
	{"bq_round", params("DOUBLE", "BIGINT"), "DOUBLE", func(a []driver.Value) (any, error) {
		return roundAt(a[0].(float64), a[1].(int64), math.Round), nil
	}},
	{"bq_trunc", params("DOUBLE", "BIGINT"), "DOUBLE", func(a []driver.Value) (any, error) {
		return roundAt(a[0].(float64), a[1].(int64), math.Trunc), nil
	}},
	{"bq_math", params("VARCHAR", "DOUBLE"), "DOUBLE", func(a []driver.Value) (any, error) {
		name, x := a[0].(string), a[1].(float64)
		r := mathFunctionsOfOne[name](x)
		if math.IsNaN(r) && !math.IsNaN(x) || math.IsInf(r, 0) && !math.IsInf(x, 0) {
			return nil, errQuery("Floating point error in function: %s(%s)", name, floatText(x))
		}
		return r, nil
	}},
	{"bq_log", params("DOUBLE", "DOUBLE"), "DOUBLE", func(a []driver.Value) (any, error) {
		x, base := a[0].(float64), a[1].(float64)
		r := math.Log(x) / math.Log(base)
		if x <= 0 || base <= 0 || base == 1 {
			return nil, errQuery("Floating point error in function: LOG(%s, %s)", floatText(x), floatText(base))
		}
		return r, nil
	}},
	{"bq_pow", params("DOUBLE", "DOUBLE"), "DOUBLE", func(a []driver.Value) (any, error) {
		x, y := a[0].(float64), a[1].(float64)
		r := math.Pow(x, y)
		if math.IsNaN(r) && !math.IsNaN(x) && !math.IsNaN(y) || math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return nil, errQuery("Floating point error in function: POW(%s, %s)", floatText(x), floatText(y))
		}
		return r, nil
	}},
}

var mathFunctionsOfOne = map[string]func(float64) float64{
	"SQRT": math.Sqrt, "EXP": math.Exp, "LN": math.Log, "LOG10": math.Log10, "SIN": math.Sin, "COS": math.Cos, "TAN": math.Tan,
	"ASIN": math.Asin, "ACOS": math.Acos, "ATAN": math.Atan,
}

// bad says in BigQuery's words that text is no value of a type.
func bad(err error, what string, text driver.Value) error {
	if err == nil {
		return nil
	}
	return errQuery("Bad %s value: %s", what, text)
}

func floatArithmetic(op string, x, y float64) (any, error) {
	var r float64
	switch op {
	case "+":
		r = x + y
	case "-":
		r = x - y
	case "*":
		r = x * y
	default:
		if y == 0 {
			return nil, errQuery("division by zero: %s / %s", floatText(x), floatText(y))
		}
		r = x / y
	}
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return nil, errQuery("floating point overflow: %s %s %s", floatText(x), op, floatText(y))
	}
	return r, nil
}

func roundAt(x float64, digits int64, round func(float64) float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || digits > 300:
		return x
	case digits < -308:
		return 0
	case digits < 0:
		scale := math.Pow(10, float64(-digits))
		return round(x/scale) * scale
	}
	scale := math.Pow(10, float64(digits))
	if r := round(x*scale) / scale; !math.IsInf(r, 0) {
		return r
	}
	return x
}

// floatText writes a FLOAT64 as CAST does: with 15 digits if they are enough, else 17.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f == 0:
		return "0"
	}
	for _, digits := range []int{15, 16, 17} {
		text := general(f, digits)
		if back, err := strconv.ParseFloat(text, 64); err == nil && back == f {
			return text
		}
	}
	return general(f, 17)
}

// general is C's %.*g: no trailing zeros, an exponent of two digits at least.
func general(f float64, digits int) string {
	text := strconv.FormatFloat(f, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exponent)
	if n < -4 || n >= digits {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return fmt.Sprintf("%se%+03d", mantissa, n)
	}
	fixed := strconv.FormatFloat(f, 'f', max(digits-1-n, 0), 64)
	if strings.Contains(fixed, ".") {
		fixed = strings.TrimRight(strings.TrimRight(fixed, "0"), ".")
	}
	return fixed
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errValue
}

// parseIntText reads an INT64 as CAST does: decimal or hexadecimal, with a sign.
func parseIntText(text string) (int64, error) {
	text = strings.TrimSpace(text)
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
	if strings.HasPrefix(strings.ToLower(rest), "0x") {
		sign := ""
		if strings.HasPrefix(text, "-") {
			sign = "-"
		}
		return strconv.ParseInt(sign+rest[2:], 16, 64)
	}
	return strconv.ParseInt(text, 10, 64)
}

func parseFloatText(text string) (float64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if strings.Contains(text, "0x") || strings.Contains(text, "_") {
		return 0, errValue
	}
	return strconv.ParseFloat(text, 64)
}
