package googlesql

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"database/sql/driver"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxResult bounds what REPEAT and LPAD may make, as BigQuery does.
const maxResult = 1 << 20

var stringUDFs = []function{
	{"bq_substr", params("VARCHAR", "BIGINT", "BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		r := []rune(a[0].(string))
		from, to, err := span(len(r), a[1].(int64), a[2].(int64))
		return string(r[from:to]), err
	}},
	{"bq_subbytes", params("BLOB", "BIGINT", "BIGINT"), "BLOB", func(a []driver.Value) (any, error) {
		b := a[0].([]byte)
		from, to, err := span(len(b), a[1].(int64), a[2].(int64))
		return b[from:to], err
	}},
	{"bq_left", params("VARCHAR", "BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		r, n := []rune(a[0].(string)), a[1].(int64)
		if n < 0 {
			return nil, errQuery("Second argument in LEFT() cannot be negative")
		}
		return string(r[:min(int64(len(r)), n)]), nil
	}},
	{"bq_right", params("VARCHAR", "BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		r, n := []rune(a[0].(string)), a[1].(int64)
		if n < 0 {
			return nil, errQuery("Second argument in RIGHT() cannot be negative")
		}
		return string(r[max(0, int64(len(r))-n):]), nil
	}},
	{"bq_instr", params("VARCHAR", "VARCHAR", "BIGINT", "BIGINT"), "BIGINT", func(a []driver.Value) (any, error) {
		return instr([]rune(a[0].(string)), []rune(a[1].(string)), a[2].(int64), a[3].(int64))
	}},
	{"bq_trim", params("VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		return trimSides(a[0].(string), a[1].(string), unicode.IsSpace), nil
	}},
	{"bq_trim_of", params("VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		set := a[1].(string)
		return trimSides(a[0].(string), a[2].(string), func(r rune) bool { return strings.ContainsRune(set, r) }), nil
	}},
	{"bq_pad", params("VARCHAR", "BIGINT", "VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		return pad([]rune(a[0].(string)), a[1].(int64), []rune(a[2].(string)), a[3].(string))
	}},
	{"bq_repeat", params("VARCHAR", "BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		s, n := a[0].(string), a[1].(int64)
		switch {
		case n < 0:
			return nil, errQuery("Second argument in REPEAT() must be non-negative")
		case s != "" && n > maxResult/int64(len(s)):
			return nil, errQuery("Output of REPEAT exceeds max allowed output size of 1MB")
		case s == "":
			return "", nil
		}
		return strings.Repeat(s, int(n)), nil
	}},
	{"bq_replace", params("VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		if a[1].(string) == "" { // which replaces nothing
			return a[0], nil
		}
		return strings.ReplaceAll(a[0].(string), a[1].(string), a[2].(string)), nil
	}},
	{"bq_reverse", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		r := []rune(a[0].(string))
		slices.Reverse(r)
		return string(r), nil
	}},
	{"bq_translate", params("VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		from, to := []rune(a[1].(string)), []rune(a[2].(string))
		return strings.Map(func(r rune) rune {
			switch i := slices.Index(from, r); {
			case i < 0:
				return r
			case i < len(to):
				return to[i]
			}
			return -1
		}, a[0].(string)), nil
	}},
	{"bq_initcap", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		first := true
		return strings.Map(func(r rune) rune {
			before := first
			first = strings.ContainsRune(" \t\n\v\f\r[](){}/|<>!?@\"^#$&~_,.:;*%+-", r)
			if before {
				return unicode.ToUpper(r)
			}
			return unicode.ToLower(r)
		}, a[0].(string)), nil
	}},
	{"bq_ascii", params("VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
		r, _ := utf8.DecodeRuneInString(a[0].(string))
		switch {
		case a[0].(string) == "":
			return int64(0), nil
		case r > 127:
			return nil, errQuery("The first character of the input to ASCII is not an ASCII character")
		}
		return int64(r), nil
	}},
	{"bq_unicode", params("VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
		if a[0].(string) == "" {
			return int64(0), nil
		}
		r, _ := utf8.DecodeRuneInString(a[0].(string))
		return int64(r), nil
	}},
	{"bq_chr", params("BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		n := a[0].(int64)
		if n == 0 {
			return "", nil
		}
		if n < 0 || n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
			return nil, errQuery("Invalid codepoint %d", n)
		}
		return string(rune(n)), nil
	}},
	{"bq_utf8", params("BLOB"), "VARCHAR", func(a []driver.Value) (any, error) {
		if !utf8.Valid(a[0].([]byte)) {
			return nil, errQuery("Invalid UTF-8 in a cast from BYTES to STRING")
		}
		return string(a[0].([]byte)), nil
	}},
	{"bq_safe_utf8", params("BLOB"), "VARCHAR", func(a []driver.Value) (any, error) {
		return string([]rune(string(a[0].([]byte)))), nil // one U+FFFD for each bad byte
	}},
	{"bq_from_hex", params("VARCHAR"), "BLOB", func(a []driver.Value) (any, error) {
		s := a[0].(string)
		if len(s)%2 == 1 {
			s = "0" + s
		}
		b, err := hex.DecodeString(s)
		if err != nil {
			return nil, errQuery("Failed to decode hex string")
		}
		return b, nil
	}},
	{"bq_from_base64", params("VARCHAR"), "BLOB", func(a []driver.Value) (any, error) {
		b, err := decodeBase64(a[0].(string))
		if err != nil {
			return nil, errQuery("Failed to decode invalid base64 string")
		}
		return b, nil
	}},
	{"bq_check_length", params("VARCHAR", "BIGINT", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		if int64(utf8.RuneCountInString(a[0].(string))) > a[1].(int64) {
			return nil, errQuery("%s has maximum length %d but got a value with length %d", a[2], a[1], utf8.RuneCountInString(a[0].(string)))
		}
		return a[0], nil
	}},
	{"bq_check_bytes", params("BLOB", "BIGINT", "VARCHAR"), "BLOB", func(a []driver.Value) (any, error) {
		if n := int64(len(a[0].([]byte))); n > a[1].(int64) {
			return nil, errQuery("%s has maximum length %d but got a value with length %d", a[2], a[1], n)
		}
		return a[0], nil
	}},
	{"bq_regexp_contains", params("VARCHAR", "VARCHAR"), "BOOLEAN", func(a []driver.Value) (any, error) {
		re, err := compile(a[1].(string))
		if err != nil {
			return nil, err
		}
		return re.MatchString(a[0].(string)), nil
	}},
	{"bq_regexp_instr", params("VARCHAR", "VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
		re, err := compileOne(a[1].(string))
		if err != nil {
			return nil, err
		}
		s := a[0].(string)
		m := re.FindStringSubmatchIndex(s)
		if m == nil {
			return int64(0), nil
		}
		return int64(utf8.RuneCountInString(s[:m[len(m)-2]]) + 1), nil
	}},
	{"bq_regexp_extract", params("VARCHAR", "VARCHAR", "BIGINT", "BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		return regexpExtract(a[0].(string), a[1].(string), a[2].(int64), a[3].(int64))
	}},
	{"bq_regexp_replace", params("VARCHAR", "VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		return regexpReplace(a[0].(string), a[1].(string), a[2].(string))
	}},
	{"bq_hash", params("VARCHAR", "BLOB"), "BLOB", func(a []driver.Value) (any, error) {
		b := a[1].([]byte)
		switch a[0].(string) {
		case "MD5":
			h := md5.Sum(b)
			return h[:], nil
		case "SHA1":
			h := sha1.Sum(b)
			return h[:], nil
		case "SHA256":
			h := sha256.Sum256(b)
			return h[:], nil
		}
		h := sha512.Sum512(b)
		return h[:], nil
	}},
}

// span is SUBSTR's part of n characters: position 0 is 1, a negative one counts from the end.
func span(n int, position, length int64) (from, to int, err error) {
	if length < 0 {
		return 0, 0, errQuery("Third argument in SUBSTR() cannot be negative")
	}
	start := position - 1
	switch {
	case position == 0:
		start = 0
	case position < 0:
		start = max(0, int64(n)+position)
	}
	start = min(start, int64(n))
	end := int64(n)
	if length < math.MaxInt64-start {
		end = min(end, start+length)
	}
	return int(start), int(end), nil
}

func instr(s, sub []rune, position, occurrence int64) (any, error) {
	if position == 0 || occurrence < 1 {
		return nil, errQuery("INSTR: the position must not be 0, and the occurrence must be positive")
	}
	matches := func(i int) bool { return i+len(sub) <= len(s) && slices.Equal(s[i:i+len(sub)], sub) }
	if position > 0 {
		for i := position - 1; i < int64(len(s)); i++ {
			if matches(int(i)) {
				if occurrence--; occurrence == 0 {
					return i + 1, nil
				}
			}
		}
		return int64(0), nil
	}
	for i := int64(len(s)) + position; i >= 0; i-- {
		if matches(int(i)) {
			if occurrence--; occurrence == 0 {
				return i + 1, nil
			}
		}
	}
	return int64(0), nil
}

func trimSides(s, sides string, cut func(rune) bool) string {
	if strings.Contains(sides, "L") {
		s = strings.TrimLeftFunc(s, cut)
	}
	if strings.Contains(sides, "R") {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

func pad(s []rune, n int64, pattern []rune, side string) (any, error) {
	if n < 0 || len(pattern) == 0 {
		return nil, errQuery("%sPAD: the length must not be negative and the pattern not empty", side)
	}
	if n > maxResult {
		return nil, errQuery("Output of %sPAD exceeds max allowed output size of 1MB", side)
	}
	if int64(len(s)) >= n {
		return string(s[:n]), nil
	}
	fill := make([]rune, n-int64(len(s)))
	for i := range fill {
		fill[i] = pattern[i%len(pattern)]
	}
	if side == "L" {
		return string(fill) + string(s), nil
	}
	return string(s) + string(fill), nil
}
