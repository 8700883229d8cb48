package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"beamcdc/emulator/internal/decimal"
)

// DefaultValue is a column's default value expression.
type DefaultValue struct {
	now   func(time.Time) (any, error) // of the time of the request; nil for a constant
	value any                          // nil is NULL
}

// at is the default of a row that came at this time: NULL where there is none.
func (d *DefaultValue) at(t time.Time) (any, error) {
	if d == nil {
		return nil, nil
	}
	if d.now != nil {
		return d.now(t)
	}
	return d.value, nil
}

var errDefault = errors.New("this emulator knows literals, CURRENT_TIMESTAMP(), CURRENT_DATE(), CURRENT_DATETIME(), CURRENT_TIME() and GENERATE_UUID() alone")

// parseDefault reads a default value expression: a literal of the column's type,
// or one of the functions that such expressions use most.
func parseDefault(c *Column, expression string) (*DefaultValue, error) {
	expression = strings.TrimSpace(expression)
	upper := strings.ToUpper(strings.ReplaceAll(expression, " ", ""))
	if upper == "NULL" {
		return &DefaultValue{}, nil
	}
	if c.Repeated {
		if upper == "[]" {
			return &DefaultValue{value: []any{}}, nil
		}
		return nil, errDefault
	}
	switch name := strings.TrimSuffix(upper, "()"); {
	case name == "CURRENT_TIMESTAMP" && c.Kind == KindTimestamp, name == "CURRENT_DATETIME" && c.Kind == KindDateTime:
		return &DefaultValue{now: func(t time.Time) (any, error) { return t.UTC().Truncate(time.Microsecond), nil }}, nil
	case name == "CURRENT_DATE" && c.Kind == KindDate:
		return &DefaultValue{now: func(t time.Time) (any, error) { return t.UTC().Truncate(24 * time.Hour), nil }}, nil
	case name == "CURRENT_TIME" && c.Kind == KindTime:
		return &DefaultValue{now: func(t time.Time) (any, error) { return ParseTime(t.UTC().Format(timeLayout)) }}, nil
	case upper == "GENERATE_UUID()" && c.Kind == KindString:
		return &DefaultValue{now: func(time.Time) (any, error) { return newUUID(), nil }}, nil
	}
	value, err := c.parseLiteral(expression)
	if err != nil {
		return nil, err
	}
	return &DefaultValue{value: value}, nil
}

// newUUID returns a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// parseLiteral reads a GoogleSQL literal without escapes.
func (c *Column) parseLiteral(literal string) (any, error) {
	quoted, isQuoted := unquote(literal)
	if keyword, rest, ok := strings.Cut(literal, " "); ok && !isQuoted {
		if strings.EqualFold(keyword, c.literalKeyword()) {
			quoted, isQuoted = unquote(strings.TrimSpace(rest))
		}
	}
	switch c.Kind {
	case KindBool:
		if b, err := strconv.ParseBool(strings.ToLower(literal)); err == nil && len(literal) > 1 {
			return b, nil
		}
	case KindInt64:
		if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return n, nil
		}
	case KindFloat64:
		if f, err := strconv.ParseFloat(literal, 64); err == nil {
			return f, nil
		}
	case KindNumeric, KindBigNumeric:
		if isQuoted {
			literal = quoted
		}
		if v, err := c.DecimalLiteral(literal); !errors.Is(err, decimal.ErrSyntax) {
			return v, err
		}
	default: // the others are quoted
	}
	if !isQuoted {
		return nil, errDefault
	}
	switch c.Kind {
	case KindString:
		return c.StringValue(quoted)
	case KindDate:
		return ParseDate(quoted)
	case KindTime:
		return ParseTime(quoted)
	case KindDateTime:
		return ParseDateTime(quoted)
	case KindJSON:
		return ParseJSON(quoted)
	case KindTimestamp:
		t, err := ParseDateTime(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(quoted, "Z"), "+00"), " UTC"))
		return t, err
	default:
		return nil, errDefault
	}
}

// literalKeyword is what leads a typed literal: DATE '2026-11-30'.
func (c *Column) literalKeyword() string {
	if c.Kind == KindTimestamp || c.Kind == KindDate || c.Kind == KindTime || c.Kind == KindDateTime ||
		c.Kind == KindNumeric || c.Kind == KindBigNumeric || c.Kind == KindJSON {
		return c.Kind.String()
	}
	return "\x00"
}

func unquote(text string) (string, bool) {
	if len(text) < 2 || text[0] != text[len(text)-1] || text[0] != '\'' && text[0] != '"' || strings.ContainsAny(text[1:len(text)-1], `\'"`) {
		return text, false
	}
	return text[1 : len(text)-1], true
}
