package connect

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/slab"
)

// The bounds of a decimal: PostgreSQL's numeric, the widest of the sources',
// has up to 131,072 digits before the point and 16,383 after it.
const (
	maxScale         = 150_000
	maxUnscaledBytes = 64 << 10
)

var errScale = fmt.Errorf("the scale of a decimal is no integer from -%d to %d", maxScale, maxScale)

func parseScale(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > maxScale || n < -maxScale {
		return 0, errScale
	}
	return n, nil
}

// readDecimal reads the base64 of a big-endian two's complement, which the
// schema's scale makes a decimal; or a JSON number, as the converter writes it
// with decimal.format=NUMERIC.
func readDecimal(s *Schema, raw string, a *slab.Arena) (change.Value, error) {
	switch raw[0] {
	case '"':
		return parseUnscaled(raw, s.scale, a)
	case '{', '[', 't', 'f':
		return change.Value{}, errNotString
	}
	text, err := plainDecimal(raw, a)
	return change.Decimal(text), err
}

// readVariableScaleDecimal reads {"scale": …, "value": "base64"}.
func readVariableScaleDecimal(_ *Schema, raw string, a *slab.Arena) (change.Value, error) {
	var value string
	scale, scaled := 0, false
	err := members(raw, a, func(name, member string) error {
		switch name {
		case "scale":
			var err error
			scale, err = parseScale(member)
			scaled = err == nil
			return err
		case "value":
			value = member
		}
		return nil
	})
	switch {
	case err != nil:
		return change.Value{}, err
	case !scaled || value == "" || value[0] != '"':
		return change.Value{}, errors.New("has no scale or no value")
	}
	return parseUnscaled(value, scale, a)
}

// parseUnscaled makes a decimal of base64 and a scale.
func parseUnscaled(raw string, scale int, a *slab.Arena) (change.Value, error) {
	text, err := parseString(raw, a)
	if err != nil {
		return change.Value{}, err
	}
	var buf [64]byte
	b, err := appendBase64(buf[:0], text)
	switch {
	case err != nil:
		return change.Value{}, err
	case len(b) == 0:
		return change.Value{}, errors.New("has no bytes, which is no number")
	case len(b) > maxUnscaledBytes:
		return change.Value{}, fmt.Errorf("has more than %d bytes", maxUnscaledBytes)
	case len(b) <= 8:
		n := int64(int8(b[0]))
		for i := 1; i < len(b); i++ {
			n = n<<8 | int64(b[i])
		}
		magnitude := uint64(n)
		if n < 0 {
			magnitude = -magnitude
		}
		var digits [20]byte
		return change.Decimal(scaled(n < 0, strconv.AppendUint(digits[:0], magnitude, 10), scale, a)), nil
	}
	n := new(big.Int).SetBytes(b)
	if negative := b[0] >= 0x80; negative {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	sign := n.Sign() < 0
	return change.Decimal(scaled(sign, n.Abs(n).Append(nil, 10), scale, a)), nil
}

// scaled puts the point into an unscaled number's digits.
func scaled(negative bool, digits []byte, scale int, a *slab.Arena) string {
	b := a.Reserve(len(digits) + max(scale, -scale) + 3)
	if negative {
		b = append(b, '-')
	}
	switch whole := len(digits) - scale; {
	case scale <= 0:
		b = append(b, digits...)
		if len(digits) != 1 || digits[0] != '0' {
			b = zeros(b, -scale)
		}
	case whole > 0:
		b = append(b, digits[:whole]...)
		b = append(b, '.')
		b = append(b, digits[whole:]...)
	default:
		b = append(b, '0', '.')
		b = zeros(b, -whole)
		b = append(b, digits...)
	}
	return a.Keep(b)
}

func zeros(b []byte, n int) []byte {
	for range n {
		b = append(b, '0')
	}
	return b
}

// plainDecimal returns a JSON number without its exponent.
func plainDecimal(raw string, a *slab.Arena) (string, error) {
	at := -1
	for i := range len(raw) {
		if raw[i] == 'e' || raw[i] == 'E' {
			at = i
			break
		}
	}
	if at < 0 {
		return raw, nil
	}
	exponent, err := strconv.Atoi(raw[at+1:])
	if err != nil || exponent > maxScale || exponent < -maxScale {
		return "", fmt.Errorf("has an exponent beyond %d", maxScale)
	}
	negative, digits, scale := raw[0] == '-', make([]byte, 0, at), 0
	for i, point := 0, false; i < at; i++ {
		switch c := raw[i]; {
		case c == '.':
			point = true
		case c != '-':
			if point {
				scale++
			}
			if len(digits) == 1 && digits[0] == '0' {
				digits = digits[:0] // no leading zeros
			}
			digits = append(digits, c)
		}
	}
	return scaled(negative, digits, scale-exponent, a), nil
}
