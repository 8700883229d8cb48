package googlesql

import (
	"database/sql/driver"
	"strings"
	"time"
	"unicode/utf8"
)

// maxArray bounds the arrays that functions make.
const maxArray = 1_000_000

var arrayUDFs = []function{
	{"bq_position", params("VARCHAR", "BIGINT", "BIGINT"), "BIGINT", func(a []driver.Value) (any, error) {
		mode, i, n := a[0].(string), a[1].(int64), a[2].(int64)
		if strings.HasSuffix(mode, "OFFSET") {
			i++
		}
		switch {
		case i >= 1 && i <= n:
			return i, nil
		case strings.HasPrefix(mode, "SAFE_"):
			return nil, nil
		}
		return nil, errQuery("Array index %d is out of bounds", a[1])
	}},
	{"bq_quantiles", params("BIGINT", "BIGINT"), "LIST:BIGINT", func(a []driver.Value) (any, error) {
		n, k := a[0].(int64), a[1].(int64)
		if k < 1 || k > maxArray {
			return nil, errQuery("The second argument of APPROX_QUANTILES must be positive")
		}
		positions := make([]any, k+1)
		for i := range positions {
			positions[i] = 1 + (n-1)*int64(i)/k
		}
		return positions, nil
	}},
	{"bq_generate_ints", params("BIGINT", "BIGINT", "BIGINT"), "LIST:BIGINT", func(a []driver.Value) (any, error) {
		from, to, step := a[0].(int64), a[1].(int64), a[2].(int64)
		if step == 0 {
			return nil, errQuery("Sequence step cannot be 0.")
		}
		list := []any{}
		for n := from; step > 0 && n <= to || step < 0 && n >= to; {
			if list = append(list, n); len(list) > maxArray {
				return nil, errQuery("GENERATE_ARRAY: the array has more than %d elements", maxArray)
			}
			next := n + step
			if step > 0 != (next > n) { // it overflowed
				break
			}
			n = next
		}
		return list, nil
	}},
	{"bq_generate_floats", params("DOUBLE", "DOUBLE", "DOUBLE"), "LIST:DOUBLE", func(a []driver.Value) (any, error) {
		from, to, step := a[0].(float64), a[1].(float64), a[2].(float64)
		if step == 0 || step != step {
			return nil, errQuery("Sequence step cannot be 0.")
		}
		list := []any{}
		for i := 0; ; i++ {
			n := from + float64(i)*step
			if step > 0 && !(n <= to) || step < 0 && !(n >= to) {
				return list, nil
			}
			if list = append(list, n); len(list) > maxArray {
				return nil, errQuery("GENERATE_ARRAY: the array has more than %d elements", maxArray)
			}
		}
	}},
	{"bq_generate_dates", params("DATE", "DATE", "BIGINT", "VARCHAR"), "LIST:DATE", func(a []driver.Value) (any, error) {
		return generateTimes(a, "DATE")
	}},
	{"bq_generate_timestamps", params("TIMESTAMPTZ", "TIMESTAMPTZ", "BIGINT", "VARCHAR"), "LIST:TIMESTAMPTZ", func(a []driver.Value) (any, error) {
		return generateTimes(a, "TIMESTAMP")
	}},
	{"bq_split", params("VARCHAR", "VARCHAR"), "LIST:VARCHAR", func(a []driver.Value) (any, error) {
		parts := strings.Split(a[0].(string), a[1].(string)) // an empty delimiter splits into characters
		if a[0].(string) == "" {
			parts = []string{""}
		}
		return anys(parts), nil
	}},
	{"bq_regexp_extract_all", params("VARCHAR", "VARCHAR"), "LIST:VARCHAR", func(a []driver.Value) (any, error) {
		re, err := compileOne(a[1].(string))
		if err != nil {
			return nil, err
		}
		matches := []any{}
		for _, m := range re.FindAllStringSubmatch(a[0].(string), -1) {
			matches = append(matches, m[len(m)-1])
		}
		return matches, nil
	}},
	{"bq_to_code_points", params("VARCHAR"), "LIST:BIGINT", func(a []driver.Value) (any, error) {
		points := []any{}
		for _, r := range a[0].(string) {
			points = append(points, int64(r))
		}
		return points, nil
	}},
	{"bq_from_code_points", params("LIST:BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		var b strings.Builder
		for _, p := range a[0].([]any) {
			n, ok := p.(int64)
			switch {
			case !ok:
				return nil, nil
			case n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)):
				return nil, errQuery("Invalid codepoint %d", n)
			}
			b.WriteRune(rune(n))
		}
		return b.String(), nil
	}},
	{"bq_format", params("VARCHAR", "LIST:VARCHAR", "LIST:VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		return formatText(a[0].(string), a[1].([]any), a[2].([]any))
	}},
}

func anys[T any](items []T) []any {
	values := make([]any, len(items))
	for i, item := range items {
		values[i] = item
	}
	return values
}

// generateTimes adds n parts again and again: to the start each time, so that the 31st
// comes back after a shorter month.
func generateTimes(a []driver.Value, kind string) (any, error) {
	from, to, n, part := a[0].(time.Time).UTC(), a[1].(time.Time).UTC(), a[2].(int64), a[3].(string)
	if n == 0 {
		return nil, errQuery("Sequence step cannot be 0.")
	}
	times := []any{}
	for i := int64(0); ; i++ {
		at, err := addPart(from, clamp(n)*i, part, kind)
		if err != nil || n > 0 && at.After(to) || n < 0 && at.Before(to) {
			return times, nil //nolint:nilerr // the end of the type's range ends the array too
		}
		if times = append(times, at); len(times) > maxArray {
			return nil, errQuery("The generated array has more than %d elements", maxArray)
		}
	}
}
