package expression

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"

	"beamcdc/schemas/change"
)

// variables are what an expression sees of one event. Each is made when it is
// asked for: most expressions ask for one.
type variables struct {
	event *change.Event
	last  *atomic.Pointer[document]
}

// document is a message's JSON that was read. It doesn't change.
type document struct {
	data  []byte
	value any
	err   error
}

// data returns the message's JSON. That of many changes is read once for all of
// them, which come one after the other: a transaction of 10 MB may have 50,000.
func (v *variables) data() (any, error) {
	m := &v.event.Message
	if v.event.Parts <= 1 || len(m.Data) == 0 {
		return parseJSON(m.Data)
	}
	d := v.last.Load()
	if d == nil || &d.data[0] != &m.Data[0] || len(d.data) != len(m.Data) {
		d = &document{data: m.Data}
		d.value, d.err = parseJSON(m.Data)
		v.last.Store(d)
	}
	return d.value, d.err
}

// Parent returns nil: there is no scope around this one.
func (v *variables) Parent() interpreter.Activation { return nil }

// ResolveName returns a variable's value.
func (v *variables) ResolveName(name string) (any, bool) {
	e := v.event
	switch name {
	case "data":
		data, err := v.data()
		if err != nil {
			return types.WrapErr(err), true
		}
		return data, true
	case "attributes":
		return e.Message.Attributes, true
	case "ordering_key":
		return e.Message.OrderingKey, true
	case "message_id":
		return e.Message.ID, true
	case "publish_time":
		return e.Message.PublishTime, true
	case "table":
		return e.Table, true
	case "op":
		return e.Op.String(), true
	case "key":
		return columnMap(e.Key), true
	case "before":
		return columnMap(e.Before), true
	case "after":
		return columnMap(e.After), true
	case "commit_time":
		return e.CommitTime, true
	case "part":
		return int64(e.Part), true
	}
	return nil, false
}

// parseJSON reads the message, numbers exactly.
func parseJSON(data []byte) (any, error) { return parseDocument(data, numeral) }

// parseDocument reads a JSON document whose numbers become what number makes of them.
func parseDocument(data []byte, number func(digits string) any) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("data: the message is no JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data: the message holds more than one JSON value")
	}
	return exact(v, number), nil
}

// exact makes the numbers of a JSON value what CEL calculates with, as far as
// that is exact.
func exact(v any, number func(digits string) any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v.String())
	case []any:
		for i := range v {
			v[i] = exact(v[i], number)
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name], number)
		}
	case nil:
		return types.NullValue
	}
	return v
}

// numeral returns a number as an int or a uint, or its digits where it is neither.
func numeral(digits string) any {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return n
	}
	return digits
}

func columnMap(columns []change.Column) map[string]any {
	m := make(map[string]any, len(columns))
	for i := range columns {
		if v, ok := value(columns[i].Value); ok {
			m[columns[i].Name] = v
		}
	}
	return m
}

// value returns a column's value; false for one that the source left out.
func value(v change.Value) (any, bool) {
	switch v.Kind() {
	case change.KindInvalid, change.KindUnavailable:
		return nil, false
	case change.KindNull:
		return types.NullValue, true
	case change.KindBool:
		return v.Bool(), true
	case change.KindInt64, change.KindDate, change.KindTime:
		return v.Int(), true
	case change.KindDateTime, change.KindTimestamp: // microseconds, as BigQuery counts them
		return v.Int(), true
	case change.KindUint64:
		return v.Uint(), true
	case change.KindFloat64:
		return v.Float(), true
	case change.KindNumber, change.KindDecimal:
		return numeral(v.Text()), true
	case change.KindBytes:
		return []byte(v.Text()), true
	case change.KindArray:
		elements := make([]any, 0, len(v.Elems()))
		for _, c := range v.Elems() {
			element, _ := value(c.Value)
			elements = append(elements, element)
		}
		return elements, true
	case change.KindStruct:
		return columnMap(v.Elems()), true
	case change.KindRaw:
		document, err := parseJSON([]byte(v.Text()))
		if err != nil {
			return types.WrapErr(err), true
		}
		return document, true
	default: // texts: as they are
		return strings.Clone(v.Text()), true
	}
}
