package googlesql

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// Option is one of OPTIONS (name = value, …).
type Option struct {
	Name string
	// Text is the value as it is written.
	Text string

	text  string
	value expr
}

// IntervalValue is a constant INTERVAL: each part has its own sign.
type IntervalValue struct{ Months, Days, Micros int64 }

// options reads OPTIONS (…) if it is next.
func (p *parser) options() []Option {
	if !p.accept("OPTIONS") {
		return nil
	}
	p.expect("(")
	var options []Option
	for !p.at(")") {
		o := Option{Name: p.identifier().text, text: p.text}
		p.expect("=")
		o.Text = p.textOf(func() { o.value = p.expr() })
		options = append(options, o)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return options
}

// Constant is the option's value if it is a literal: nil for NULL, bool, int64, float64,
// string (of STRING; of JSON, DATE, TIMESTAMP, NUMERIC and so on what stands in their
// quotes; of BYTES in base64), IntervalValue, or []any of an array's elements or a
// STRUCT's fields. Else ok is false, and SQL tells what computes it.
func (o Option) Constant() (value any, ok bool) { return constant(o.value) }

// SQL translates the option's value to a DuckDB expression without columns.
func (o Option) SQL(options Options) (sql string, t *Type, err error) {
	defer rescue(o.text, &err)
	v := newTranslator(o.text, options).expr(o.value, nil)
	return v.sql, v.typ, nil
}

func constant(e expr) (any, bool) {
	switch e := e.(type) {
	case *literal:
		switch e.kind {
		case Null:
			return nil, true
		case Bool:
			return e.text == "TRUE", true
		case Int64:
			n, err := parseInt(e.text)
			return n, err == nil
		case Float64:
			f, err := strconv.ParseFloat(e.text, 64)
			return f, err == nil
		case Bytes:
			return base64.StdEncoding.EncodeToString([]byte(e.text)), true
		default:
			return e.text, true
		}
	case *arrayExpr:
		return constants(len(e.items), func(i int) expr { return e.items[i] })
	case *structExpr:
		return constants(len(e.items), func(i int) expr { return e.items[i].of })
	case *intervalExpr:
		return constantInterval(e)
	}
	return nil, false
}

func constants(n int, item func(int) expr) (any, bool) {
	values := make([]any, n)
	for i := range values {
		v, ok := constant(item(i))
		if !ok {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

// parseInt reads an INT64 literal, decimal or 0x….
func parseInt(text string) (int64, error) {
	rest, negative := strings.CutPrefix(text, "-")
	if len(rest) > 2 && (rest[:2] == "0x" || rest[:2] == "0X") {
		n, err := strconv.ParseUint(rest[2:], 16, 64) // all 64 bits may be given
		if negative {
			return -int64(n), err
		}
		return int64(n), err
	}
	return strconv.ParseInt(text, 10, 64)
}
