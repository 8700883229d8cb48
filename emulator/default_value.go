package emulator

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// defaultValue is a column's default value expression.
type defaultValue struct {
	now   func(time.Time) (any, error) // of the time of the request; nil for a constant
	value any                          // nil is NULL
}

// at is the default of a row that came at this time.
func (d *defaultValue) at(t time.Time) (any, error) {
	if d.now != nil {
		return d.now(t)
	}
	return d.value, nil
}

var errDefault = errors.New("this emulator knows literals, CURRENT_TIMESTAMP(), CURRENT_DATE(), CURRENT_DATETIME(), CURRENT_TIME() and GENERATE_UUID() alone")

// parseDefault reads a default value expression: a literal of the column's type,
// or one of the functions that such expressions use most.
func parseDefault(c *column, expression string) (*defaultValue, error) {
	expression = strings.TrimSpace(expression)
	upper := strings.ToUpper(strings.ReplaceAll(expression, " ", ""))
	if upper == "NULL" {
		return &defaultValue{}, nil
	}
	if c.repeated {
		if upper == "[]" {
			return &defaultValue{value: []any{}}, nil
		}
		return nil, errDefault
	}
	switch name := strings.TrimSuffix(upper, "()"); {
	case name == "CURRENT_TIMESTAMP" && c.kind == kindTimestamp, name == "CURRENT_DATETIME" && c.kind == kindDateTime:
		return &defaultValue{now: func(t time.Time) (any, error) { return t.UTC().Truncate(time.Microsecond), nil }}, nil
	case name == "CURRENT_DATE" && c.kind == kindDate:
		return &defaultValue{now: func(t time.Time) (any, error) { return t.UTC().Truncate(24 * time.Hour), nil }}, nil
	case name == "CURRENT_TIME" && c.kind == kindTime:
		return &defaultValue{now: func(t time.Time) (any, error) { return parseTime(t.UTC().Format(timeLayout)) }}, nil
	case upper == "GENERATE_UUID()" && c.kind == kindString:
		return &defaultValue{now: func(time.Time) (any, error) { return newUUID(), nil }}, nil
	}
	value, err := c.parseLiteral(expression)
	if err != nil {
		return nil, err
	}
	return &defaultValue{value: value}, nil
}

// newUUID returns a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// parseLiteral reads a GoogleSQL literal without escapes.
func (c *column) parseLiteral(literal string) (any, error) {
	quoted, isQuoted := unquote(literal)
	if keyword, rest, ok := strings.Cut(literal, " "); ok && !isQuoted {
		if strings.EqualFold(keyword, c.literalKeyword()) {
			quoted, isQuoted = unquote(strings.TrimSpace(rest))
		}
	}
	switch c.kind {
	case kindBool:
		if b, err := strconv.ParseBool(strings.ToLower(literal)); err == nil && len(literal) > 1 {
			return b, nil
		}
	case kindInt64:
		if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return n, nil
		}
	case kindFloat64:
		if f, err := strconv.ParseFloat(literal, 64); err == nil {
			return f, nil
		}
	case kindNumeric, kindBigNumeric:
		scale := numericScale
		if c.kind == kindBigNumeric {
			scale = bigNumericScale
		}
		if isQuoted {
			literal = quoted
		}
		if n, err := parseDecimal(literal, scale); err == nil {
			return c.decimalValue(n)
		}
	default: // the others are quoted
	}
	if !isQuoted {
		return nil, errDefault
	}
	switch c.kind {
	case kindString:
		return c.stringValue(quoted)
	case kindDate:
		return parseDate(quoted)
	case kindTime:
		return parseTime(quoted)
	case kindDateTime:
		return parseDateTime(quoted)
	case kindJSON:
		return jsonValue(quoted)
	case kindTimestamp:
		t, err := parseDateTime(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(quoted, "Z"), "+00"), " UTC"))
		return t, err
	default:
		return nil, errDefault
	}
}

// literalKeyword is what leads a typed literal: DATE '2026-11-30'.
func (c *column) literalKeyword() string {
	if c.kind == kindTimestamp || c.kind == kindDate || c.kind == kindTime || c.kind == kindDateTime ||
		c.kind == kindNumeric || c.kind == kindBigNumeric || c.kind == kindJSON {
		return c.kind.String()
	}
	return "\x00"
}

func unquote(text string) (string, bool) {
	if len(text) < 2 || text[0] != text[len(text)-1] || text[0] != '\'' && text[0] != '"' || strings.ContainsAny(text[1:len(text)-1], `\'"`) {
		return text, false
	}
	return text[1 : len(text)-1], true
}
