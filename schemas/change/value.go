package change

import (
	"math"
	"slices"
	"strconv"
	"unsafe"
)

// Kind says what a Value is.
type Kind uint8

// The kinds of a Value. The untyped ones come from messages that carry no
// schema; the type of the destination's column decides what they mean.
const (
	KindInvalid     Kind = iota // the zero Value: never in a row
	KindNull                    // SQL NULL
	KindUnavailable             // the source left the column's unchanged value out (TOAST, LOB)
	KindBool                    // Bool
	KindInt64                   // Int
	KindUint64                  // Uint
	KindFloat64                 // Float, NaN and infinities included
	KindDecimal                 // Text: an exact decimal such as "-12.50", or "NaN", "Infinity", "-Infinity"
	KindString                  // Text
	KindBytes                   // Text holds the raw bytes
	KindDate                    // Int: days since 1970-01-01, proleptic Gregorian
	KindTime                    // Int: microseconds since midnight
	KindDateTime                // Int: microseconds since 1970-01-01 00:00:00, of a civil time without a zone
	KindTimestamp               // Int: microseconds since 1970-01-01 00:00:00 UTC, of an instant
	KindInterval                // Text: BigQuery's canonical form "Y-M D H:M:S.F"
	KindJSON                    // Text: a JSON document, byte for byte as the source wrote it
	KindArray                   // Elems: the elements, without names
	KindStruct                  // Elems: the fields
	KindNumber                  // untyped. Text: a JSON number, digit for digit
	KindText                    // untyped. Text: the content of a JSON string: text, base64, a date, …
	KindRaw                     // untyped. Text: a JSON array or object, byte for byte
)

var kindNames = [...]string{
	"invalid", "null", "unavailable", "bool", "int64", "uint64", "float64", "decimal", "string", "bytes", "date",
	"time", "datetime", "timestamp", "interval", "json", "array", "struct", "number", "text", "raw",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Value is one exact value. NULL, absent (no Column at all), zero, the empty
// string and false are five different things. A Value made from a Message may
// share the message's memory.
type Value struct {
	_ [0]func() // no ==, which would compare where texts are; Equal compares them

	// A row has many values: they are three words, which Go keeps in registers.
	kind Kind
	num  int64          // Bool, Int64, Uint64 and Float64 as bits, dates and times; the length of what data holds
	data unsafe.Pointer // the bytes of a text, or the Columns of an array or a struct
}

// kinds is a set of kinds, a bit each.
type kinds uint32

const (
	ofText  kinds = 1<<KindDecimal | 1<<KindString | 1<<KindBytes | 1<<KindInterval | 1<<KindJSON | 1<<KindNumber | 1<<KindText | 1<<KindRaw
	ofElems kinds = 1<<KindArray | 1<<KindStruct
)

func (k kinds) has(kind Kind) bool { return k>>kind&1 != 0 }

func textual(kind Kind, text string) Value {
	return Value{kind: kind, num: int64(len(text)), data: unsafe.Pointer(unsafe.StringData(text))}
}

func composed(kind Kind, elems []Column) Value {
	return Value{kind: kind, num: int64(len(elems)), data: unsafe.Pointer(unsafe.SliceData(elems))}
}

// Column is a value with its column's name. In an array the name is empty.
type Column struct {
	Name  string
	Value Value
}

// Null returns SQL NULL.
func Null() Value { return Value{kind: KindNull} }

// Unavailable returns the value that the source left out because it is unchanged.
func Unavailable() Value { return Value{kind: KindUnavailable} }

// Bool returns a BOOL.
func Bool(v bool) Value {
	if v {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// Int64 returns a signed integer.
func Int64(v int64) Value { return Value{kind: KindInt64, num: v} }

// Uint64 returns an unsigned integer.
func Uint64(v uint64) Value { return Value{kind: KindUint64, num: int64(v)} }

// Float64 returns a binary floating-point number.
func Float64(v float64) Value { return Value{kind: KindFloat64, num: int64(math.Float64bits(v))} }

// Decimal returns an exact decimal from its text; the caller has checked the text.
func Decimal(text string) Value { return textual(KindDecimal, text) }

// String returns a text.
func String(text string) Value { return textual(KindString, text) }

// Bytes returns a byte string, given as a string of its raw bytes.
func Bytes(raw string) Value { return textual(KindBytes, raw) }

// Date returns a civil date in days since 1970-01-01.
func Date(days int64) Value { return Value{kind: KindDate, num: days} }

// Time returns a civil time of day in microseconds since midnight.
func Time(micros int64) Value { return Value{kind: KindTime, num: micros} }

// DateTime returns a civil date and time in microseconds since 1970-01-01 00:00:00.
func DateTime(micros int64) Value { return Value{kind: KindDateTime, num: micros} }

// Timestamp returns an instant in microseconds since 1970-01-01 00:00:00 UTC.
func Timestamp(micros int64) Value { return Value{kind: KindTimestamp, num: micros} }

// Interval returns an interval in BigQuery's canonical form.
func Interval(text string) Value { return textual(KindInterval, text) }

// JSON returns a JSON document, kept byte for byte.
func JSON(text string) Value { return textual(KindJSON, text) }

// Array returns an array of typed elements; their names are empty.
func Array(elems []Column) Value { return composed(KindArray, elems) }

// Struct returns a struct with the given fields.
func Struct(fields []Column) Value { return composed(KindStruct, fields) }

// Number returns a JSON number whose message does not type it.
func Number(text string) Value { return textual(KindNumber, text) }

// Text returns the content of a JSON string whose message does not type it.
func Text(text string) Value { return textual(KindText, text) }

// Raw returns a JSON array or object whose message does not type it.
func Raw(text string) Value { return textual(KindRaw, text) }

// Kind returns what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is SQL NULL.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Bool returns the value of a KindBool.
func (v Value) Bool() bool { return v.number() != 0 }

// Int returns the number of a KindInt64, KindDate, KindTime, KindDateTime or KindTimestamp.
func (v Value) Int() int64 { return v.number() }

// Uint returns the number of a KindUint64.
func (v Value) Uint() uint64 { return uint64(v.number()) }

// Float returns the number of a KindFloat64.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.number())) }

// Text returns the text of the kinds whose comment names Text.
func (v Value) Text() string {
	if !ofText.has(v.kind) {
		return ""
	}
	return unsafe.String((*byte)(v.data), v.num)
}

// Elems returns the elements of a KindArray or the fields of a KindStruct.
func (v Value) Elems() []Column {
	if !ofElems.has(v.kind) {
		return nil
	}
	return unsafe.Slice((*Column)(v.data), v.num)
}

// number returns the number of the kinds that are one, 0 of others.
func (v Value) number() int64 {
	if (ofText | ofElems).has(v.kind) {
		return 0
	}
	return v.num
}

// Equal reports whether both are of the same kind, and the same: numbers bit by bit,
// texts byte by byte. Tests compare values by it.
func (v Value) Equal(other Value) bool {
	if v.kind != other.kind || v.num != other.num {
		return false
	}
	if ofElems.has(v.kind) {
		return slices.EqualFunc(v.Elems(), other.Elems(), func(a, b Column) bool { return a.Name == b.Name && a.Value.Equal(b.Value) })
	}
	return v.Text() == other.Text()
}

// Find returns the value of the column with exactly this name.
func Find(columns []Column, name string) (Value, bool) {
	for i := range columns {
		if columns[i].Name == name {
			return columns[i].Value, true
		}
	}
	return Value{}, false
}
