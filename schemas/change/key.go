package change

import (
	"errors"
	"fmt"
)

// Key is the deterministic coding of a primary key: its values in the order of
// the table's key columns, each with its kind and, where that varies, its
// length. Two keys have the same bytes if and only if they have the same values,
// so that ("a", "bc") and ("ab", "c") differ, and no key is the beginning of
// another with as many columns.
//
// A value has as many keys as it has forms: an INT64 column's 1, "1" and 1.0
// are one key only after they have become the same Value (schemas/rowproto does that).
type Key []byte

// AppendKeyValue appends the next column's value to the key in dst. It refuses,
// and returns dst unchanged, what can't identify a row: NULL, an unavailable
// value, a value whose message doesn't type it, and a value that has several
// equal forms. The error doesn't show the value. Which column types BigQuery
// takes in a primary key is schemas/table's question.
func AppendKeyValue(dst []byte, v Value) ([]byte, error) {
	switch v.kind {
	case KindBool, KindInt64, KindUint64, KindDecimal, KindString, KindBytes, KindDate, KindTime, KindDateTime, KindTimestamp:
		return appendValue(dst, &v), nil
	case KindNull:
		return dst, errors.New("it is NULL, which identifies no row")
	case KindUnavailable:
		return dst, errors.New("the source left its value out, so the row is not known")
	case KindFloat64:
		return dst, errors.New("it is a float64: equal keys need not be equal floats (-0 and 0, NaN)")
	case KindNumber, KindText, KindRaw:
		return dst, fmt.Errorf("it is a %v that has not been given a type yet", v.kind)
	case KindInterval, KindJSON, KindArray, KindStruct:
		return dst, fmt.Errorf("it is of kind %v, whose equal values can be written differently", v.kind)
	case KindInvalid:
	}
	return dst, fmt.Errorf("it is of kind %v", v.kind)
}

// Values reads the key's values back, for people: a tool that shows which row a
// dead letter is about. They share the key's memory.
func (k Key) Values() ([]Value, error) {
	r := reader{typ: "key", src: k}
	var values []Value
	for r.at < len(r.src) {
		v := r.value(0)
		if _, err := AppendKeyValue(nil, v); err != nil && r.err == nil {
			r.fail("value", err.Error())
		}
		values = append(values, v)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return values, nil
}
