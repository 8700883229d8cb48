package diff

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"beamcdc/schemas/change"
)

// Key is a row's primary key.
type Key struct {
	Values []change.Value // typed, in the order of the constraint
	order  string         // bytes that compare as the values do, in every database
}

// Compare orders keys as the databases are asked to: numbers and times by value,
// texts and bytes by their bytes, and NULL doesn't occur.
func (k Key) Compare(o Key) int { return cmp.Compare(k.order, o.order) }

// IsZero reports whether there is no key: before the first, or after the last.
func (k Key) IsZero() bool { return k.Values == nil }

// newKey reads a key that a plan has encoded.
func newKey(encoded change.Key) (Key, error) {
	values, err := encoded.Values()
	if err != nil {
		return Key{}, err
	}
	k := Key{Values: values}
	var order []byte
	for _, v := range values {
		if order, err = appendOrder(order, v); err != nil {
			return Key{}, err
		}
	}
	k.order = string(order)
	return k, nil
}

// appendOrder appends a value so that bytes compare as values do.
func appendOrder(dst []byte, v change.Value) ([]byte, error) {
	switch v.Kind() {
	case change.KindBool:
		if v.Bool() {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case change.KindInt64, change.KindDate, change.KindTime, change.KindDateTime, change.KindTimestamp:
		return binary.BigEndian.AppendUint64(dst, uint64(v.Int())^1<<63), nil
	case change.KindDecimal:
		return appendDecimalOrder(dst, v.Text())
	case change.KindString, change.KindBytes:
		for _, b := range []byte(v.Text()) {
			if dst = append(dst, b); b == 0 {
				dst = append(dst, 0xFF)
			}
		}
		return append(dst, 0, 0), nil
	default:
		return nil, fmt.Errorf("a key can't be of kind %v", v.Kind())
	}
}

// A BIGNUMERIC has 38 digits after the point, and without it lies within 2^255.
var (
	decimalScale  = new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	decimalOffset = new(big.Int).Lsh(big.NewInt(1), 256)
)

func appendDecimalOrder(dst []byte, text string) ([]byte, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("a key's decimal can't be read")
	}
	r.Mul(r, new(big.Rat).SetInt(decimalScale))
	if !r.IsInt() || r.Num().CmpAbs(decimalOffset) >= 0 {
		return nil, fmt.Errorf("a key's decimal has more digits than BIGNUMERIC")
	}
	var fixed [33]byte
	new(big.Int).Add(r.Num(), decimalOffset).FillBytes(fixed[:])
	return append(dst, fixed[:]...), nil
}

// keyText writes a key's value as the databases are given it: numbers in digits,
// times in ISO 8601, bytes in hexadecimal.
func keyText(v change.Value) string {
	if v.Kind() == change.KindBytes {
		return hex.EncodeToString([]byte(v.Text()))
	}
	text, _ := valueJSON(v).(string)
	if v.Kind() == change.KindBool {
		text = fmt.Sprint(v.Bool())
	}
	return text
}

// valueJSON returns a value as messages of the columns format and this package's
// output have it; integers and decimals as texts, so that no reader rounds them.
func valueJSON(v change.Value) any {
	switch v.Kind() {
	case change.KindNull:
		return nil
	case change.KindBool:
		return v.Bool()
	case change.KindInt64:
		return fmt.Sprint(v.Int())
	case change.KindUint64:
		return fmt.Sprint(v.Uint())
	case change.KindFloat64:
		return floatJSON(v.Float())
	case change.KindBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.Text()))
	case change.KindDate:
		return time.Unix(v.Int()*86400, 0).UTC().Format(time.DateOnly)
	case change.KindTime:
		return time.UnixMicro(v.Int()).UTC().Format("15:04:05.000000")
	case change.KindDateTime:
		return time.UnixMicro(v.Int()).UTC().Format("2006-01-02T15:04:05.000000")
	case change.KindTimestamp:
		return time.UnixMicro(v.Int()).UTC().Format("2006-01-02T15:04:05.000000Z")
	case change.KindArray:
		elements := []any{}
		for _, e := range v.Elems() {
			elements = append(elements, valueJSON(e.Value))
		}
		return elements
	case change.KindStruct:
		fields := object{}
		for _, e := range v.Elems() {
			fields = append(fields, member{e.Name, valueJSON(e.Value)})
		}
		return fields
	default:
		return v.Text()
	}
}
