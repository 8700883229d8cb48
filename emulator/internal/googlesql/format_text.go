package googlesql

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// formatText is FORMAT: printf's specifiers, and %t and %T for any type. Arguments are
// text as CAST makes it, beside their types' names; nil is NULL.
func formatText(pattern string, kinds, texts []any) (any, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			b.WriteByte(pattern[i])
			continue
		}
		end := i + 1
		for end < len(pattern) && strings.IndexByte("-+ #0'123456789.", pattern[end]) >= 0 {
			end++
		}
		if end == len(pattern) {
			return nil, errQuery("Invalid FORMAT string: it ends inside a specifier")
		}
		flags, verb := pattern[i+1:end], pattern[end]
		i = end
		if verb == '%' {
			b.WriteByte('%')
			continue
		}
		if next == len(texts) {
			return nil, errQuery("Too few arguments to FORMAT for pattern")
		}
		kind, _ := kinds[next].(string)
		text, ok := texts[next].(string)
		next++
		if !ok && verb != 't' && verb != 'T' {
			return nil, nil
		}
		formatted, err := formatOne(flags, verb, kind, text, !ok)
		if err != nil {
			return nil, err
		}
		b.WriteString(formatted)
	}
	if next < len(texts) {
		return nil, errQuery("Too many arguments to FORMAT for pattern")
	}
	return b.String(), nil
}

func formatOne(flags string, verb byte, kind, text string, null bool) (string, error) {
	group := strings.Contains(flags, "'")
	flags = strings.ReplaceAll(flags, "'", "")
	if width, precision, _ := strings.Cut(strings.TrimLeft(flags, "-+ #0"), "."); len(width) > 4 || len(precision) > 3 {
		return "", errQuery("Invalid FORMAT width or precision")
	}
	switch verb {
	case 'd', 'i', 'o', 'x', 'X':
		n, ok := new(big.Int).SetString(text, 10)
		if kind != "INT64" || !ok {
			return "", badFormat(verb, kind)
		}
		if verb == 'i' {
			verb = 'd'
		}
		result := fmt.Sprintf("%"+flags+string(verb), n)
		if group {
			result = grouped(result)
		}
		return result, nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		if kind == "NUMERIC" || kind == "BIGNUMERIC" {
			return formatDecimalText(flags, verb, text, group)
		}
		f, err := parseFloatText(text)
		if kind != "FLOAT64" && kind != "INT64" || err != nil {
			return "", badFormat(verb, kind)
		}
		if (verb == 'g' || verb == 'G') && !strings.Contains(flags, ".") {
			flags += ".6" // C's default, where Go's is the shortest
		}
		result := fmt.Sprintf("%"+flags+string(verb), f)
		if group {
			result = grouped(result)
		}
		return result, nil
	case 's':
		if kind != "STRING" && kind != "JSON" {
			return "", badFormat(verb, kind)
		}
		return fmt.Sprintf("%"+flags+"s", text), nil
	case 't', 'T':
		return fmt.Sprintf("%"+flags+"s", formatAny(verb, kind, text, null)), nil
	}
	return "", errQuery("Not supported: FORMAT specifier %%%c", verb)
}

func badFormat(verb byte, kind string) error {
	return errQuery("Invalid type for FORMAT specifier %%%c: %s", verb, kind)
}

// formatDecimalText writes a decimal with a number of digits, without going through a double.
func formatDecimalText(flags string, verb byte, text string, group bool) (string, error) {
	if verb != 'f' && verb != 'F' {
		return "", errQuery("Not supported: FORMAT specifier %%%c of a decimal", verb)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", errValue
	}
	width, precision, dot := strings.Cut(flags, ".")
	digits := 6
	if dot {
		digits, _ = strconv.Atoi(precision)
	}
	result := r.FloatString(digits)
	if group {
		result = grouped(result)
	}
	return fmt.Sprintf("%"+strings.Trim(width, "+ #")+"s", result), nil
}

// grouped puts a comma between thousands.
func grouped(text string) string {
	start := strings.IndexAny(text, "0123456789")
	if start < 0 {
		return text
	}
	end := start
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	digits := text[start:end]
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return text[:start] + strings.Join(append([]string{digits}, parts...), ",") + text[end:]
}

// formatAny is %t, text as CAST makes it, and %T, a literal of the type.
func formatAny(verb byte, kind, text string, null bool) string {
	if null {
		return "NULL"
	}
	if kind == "FLOAT64" && strings.Trim(text, "-0123456789") == "" {
		text += ".0"
	}
	if verb == 't' {
		return text
	}
	switch kind {
	case "STRING":
		return jsonText(text)
	case "BYTES", "DATE", "TIME", "DATETIME", "TIMESTAMP", "NUMERIC", "BIGNUMERIC", "JSON":
		return kind + " " + jsonText(text)
	}
	return text
}
