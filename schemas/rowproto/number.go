package rowproto

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"unsafe"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// bytesOf and textOf share the memory: who calls them writes to neither.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
func textOf(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }

// infinitePoint is the point of the decimal that stands for an infinity: beyond
// every limit, and beyond every exponent that can be read.
const infinitePoint = math.MaxInt64 / 2

func infinity(negative bool) decimal {
	return decimal{negative: negative, mantissa: "1", dot: 1, digits: 1, point: infinitePoint}
}

// decimalOf returns the value as an exact decimal. It may share e.digits, and
// holds until that is used again.
func (e *Encoder) decimalOf(f *field, v *change.Value) (decimal, *ValueError) {
	switch v.Kind() {
	case change.KindInt64:
		n := v.Int()
		if n < 0 && f.column.From == table.FromUnsigned {
			return e.digitsOf(strconv.AppendUint(e.digits[:0], uint64(n), 10))
		}
		return e.digitsOf(strconv.AppendInt(e.digits[:0], n, 10))
	case change.KindUint64:
		return e.digitsOf(strconv.AppendUint(e.digits[:0], v.Uint(), 10))
	case change.KindFloat64:
		return e.floatDecimal(v.Float())
	case change.KindDecimal, change.KindNumber, change.KindText, change.KindString:
		return e.textDecimal(f, v)
	case change.KindRaw, change.KindStruct:
		return e.scaledDecimal(v)
	default:
		return decimal{}, mismatch(f, v)
	}
}

func (e *Encoder) digitsOf(digits []byte) (decimal, *ValueError) {
	e.digits = digits
	d, _ := parseDecimal(textOf(digits))
	return d, nil
}

// floatDecimal takes the shortest decimal that reads back as the same double:
// the digits that the message showed. Beyond 2^53 that is another integer than
// the double's own value, unless both are the same.
func (e *Encoder) floatDecimal(v float64) (decimal, *ValueError) {
	switch {
	case math.IsNaN(v):
		return decimal{}, notANumber()
	case math.IsInf(v, 0):
		return infinity(v < 0), nil
	case math.Abs(v) > 1<<53:
		var exact, shortest [400]byte
		if !bytes.Equal(strconv.AppendFloat(exact[:0], v, 'f', 0, 64), strconv.AppendFloat(shortest[:0], v, 'f', -1, 64)) {
			return decimal{}, bad("a floating-point number beyond 2^53 stands for several integers")
		}
	}
	return e.digitsOf(strconv.AppendFloat(e.digits[:0], v, 'e', -1, 64))
}

func unscaledDecimal() *ValueError {
	return bad("the text is a decimal in base64, and nothing says how many of its digits are after the point: give `scale` beside `from: decimal`, or let the source write decimals as text and leave `from` out")
}

func notANumber() *ValueError { return bad("it is NaN") }

func (e *Encoder) textDecimal(f *field, v *change.Value) (decimal, *ValueError) {
	text := v.Text()
	// A string that its schema types is the decimal's text: Debezium types base64 as bytes.
	if v.Kind() == change.KindText && f.column.From == table.FromDecimal {
		if d, ok := e.base64Decimal(text, f.column.FromScale); ok {
			if !f.column.FromUnscaled {
				return d, nil
			}
			if _, isText := parseDecimal(text); !isText {
				return decimal{}, unscaledDecimal()
			}
		}
	}
	d, ok := parseDecimal(text)
	if !ok {
		return specialDecimal(f, text)
	}
	if d.negative && f.column.From == table.FromUnsigned {
		return e.unwrap(d)
	}
	return d, nil
}

// specialDecimal reads the words that stand for numbers.
func specialDecimal(f *field, text string) (decimal, *ValueError) {
	switch x, word := floatWord(text); {
	case !word:
	case math.IsNaN(x):
		return decimal{}, notANumber()
	default:
		return infinity(x < 0), nil
	}
	if f.column.From == table.FromDecimal {
		return decimal{}, bad("the text is neither a decimal number nor the base64 of one")
	}
	if _, ok := appendBase64(nil, text); ok && text != "" {
		return decimal{}, bad("the text is no decimal number; if it is the base64 of one, `from: decimal` and its `scale` say so")
	}
	return decimal{}, bad("the text is no decimal number")
}

// unwrap returns 2^64 + d for a negative whole number: the unsigned one that a
// signed 64-bit integer stood for.
func (e *Encoder) unwrap(d decimal) (decimal, *ValueError) {
	n, side := d.int64()
	if side != 0 || d.fraction() > 0 {
		return decimal{}, bad("`from: unsigned` takes whole numbers down to -2^63")
	}
	return e.digitsOf(strconv.AppendUint(e.digits[:0], uint64(n), 10))
}

// base64Decimal reads the base64 of a decimal's unscaled value: a big-endian
// two's complement of as few bytes as it takes, as java.math.BigInteger and so
// Kafka Connect and Debezium write it.
func (e *Encoder) base64Decimal(text string, scale int64) (decimal, bool) {
	const maxBytes = 1024 // 2,400 digits
	if text == "" || len(text) > maxBytes/3*4 {
		return decimal{}, false
	}
	raw, ok := appendBase64(e.raw[:0], text)
	e.raw = raw
	if !ok {
		return decimal{}, false
	}
	return e.unscaled(raw, scale)
}

// unscaled returns the decimal whose unscaled value has these bytes.
func (e *Encoder) unscaled(raw []byte, scale int64) (decimal, bool) {
	if len(raw) == 0 || len(raw) > 1 && (raw[0] == 0 && raw[1] < 0x80 || raw[0] == 0xFF && raw[1] >= 0x80) {
		return decimal{}, false // nothing, or a first byte that says nothing: nobody's decimal
	}
	var d decimal
	if len(raw) <= 8 {
		n := int64(int8(raw[0]))
		for _, b := range raw[1:] {
			n = n<<8 | int64(b)
		}
		d, _ = e.digitsOf(strconv.AppendInt(e.digits[:0], n, 10))
	} else {
		n := new(big.Int).SetBytes(raw)
		if raw[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
		d, _ = e.digitsOf(n.Append(e.digits[:0], 10))
	}
	if d.digits > 0 {
		d.point -= scale
	}
	return d, true
}

// scaledDecimal reads Debezium's VariableScaleDecimal: {"scale":4,"value":"D09R"}.
func (e *Encoder) scaledDecimal(v *change.Value) (decimal, *ValueError) {
	const shape = "the value is no number, nor an object of scale and value"
	columns := v.Elems()
	if v.Kind() == change.KindRaw {
		var err *ValueError
		columns, err = e.documents.open(v.Text(), '{')
		defer e.documents.close()
		if err != nil {
			return decimal{}, bad(shape)
		}
	}
	scale, hasScale := change.Find(columns, "scale")
	value, hasValue := change.Find(columns, "value")
	if len(columns) != 2 || !hasScale || !hasValue {
		return decimal{}, bad(shape)
	}
	places, err := wholeNumberOf(&scale)
	if err != nil {
		return decimal{}, err.under("scale")
	}
	var d decimal
	var ok bool
	switch value.Kind() {
	case change.KindBytes:
		d, ok = e.unscaled(bytesOf(value.Text()), places)
	case change.KindText, change.KindString:
		d, ok = e.base64Decimal(value.Text(), places)
	default:
	}
	if !ok {
		return decimal{}, bad(shape)
	}
	return d, nil
}

// mismatch says that a column of this type takes no value of this kind.
func mismatch(f *field, v *change.Value) *ValueError {
	return bad("a column of type %s takes no %s", f.column.Type, kindWords[v.Kind()])
}

// kindWords name a value's kind to whoever reads a dead letter.
var kindWords = map[change.Kind]string{
	change.KindInvalid:   "invalid value",
	change.KindBool:      "BOOL",
	change.KindInt64:     "integer",
	change.KindUint64:    "unsigned integer",
	change.KindFloat64:   "floating-point number",
	change.KindDecimal:   "decimal",
	change.KindString:    "text",
	change.KindBytes:     "bytes",
	change.KindDate:      "date",
	change.KindTime:      "time of day",
	change.KindDateTime:  "date and time without a zone",
	change.KindTimestamp: "instant",
	change.KindInterval:  "interval",
	change.KindJSON:      "JSON document",
	change.KindArray:     "array",
	change.KindStruct:    "struct",
	change.KindNumber:    "JSON number",
	change.KindText:      "JSON string",
	change.KindRaw:       "JSON array or object",
}
