package engine

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// The scales in which NUMERIC and BIGNUMERIC are stored and sent as bytes.
const (
	numericScale    = 9
	bigNumericScale = 38
)

var (
	// numericLimit is the first value of NUMERIC's unscaled form that is too big:
	// its range is ±(10^29 − 10^-9).
	numericLimit = pow10(38)
	// bigNumericLimit bounds BIGNUMERIC's unscaled form: −limit … limit−1.
	bigNumericLimit = new(big.Int).Lsh(big.NewInt(1), 255)

	errDecimal      = errors.New("it is no decimal number")
	errDecimalRange = errors.New("it is out of range")
)

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// parseDecimal reads a decimal's text, [sign]digits[.digits][e[sign]digits], as an
// integer of 10^-scale. Digits beyond the scale are rounded half away from zero,
// as BigQuery does. It looks at no more digits than a BIGNUMERIC can have, however
// long the text or large the exponent.
func parseDecimal(text string, scale int) (*big.Int, error) {
	rest, negative := text, false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		negative, rest = rest[0] == '-', rest[1:]
	}
	mantissa, exponent := rest, 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		n, err := strconv.Atoi(rest[i+1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, errDecimal
		}
		mantissa, exponent = rest[:i], max(-1<<30, min(n, 1<<30))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return nil, errDecimal
	}
	// The value is 0.digits × 10^point.
	digits := strings.TrimLeft(whole+fraction, "0")
	point := len(whole) + exponent - (len(whole) + len(fraction) - len(digits))
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return new(big.Int), nil
	}
	if point > 40 { // ≥ 10^40 is beyond both types
		return nil, errDecimalRange
	}
	keep := point + scale // digits before the last place that is stored
	if keep < 0 {
		return new(big.Int), nil
	}
	roundUp := keep < len(digits) && digits[keep] >= '5'
	if keep < len(digits) {
		digits = digits[:keep]
	}
	n := new(big.Int)
	if digits != "" {
		n.SetString(digits, 10)
	}
	n.Mul(n, pow10(int64(keep-len(digits))))
	if roundUp {
		n.Add(n, big.NewInt(1))
	}
	if negative {
		n.Neg(n)
	}
	return n, nil
}

func allDigits(text string) bool {
	for _, b := range []byte(text) {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}

// decimalFromFloat converts a double exactly, but for the digits beyond the scale.
func decimalFromFloat(f float64, scale int) (*big.Int, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errDecimal
	}
	// One digit beyond any scale would do if it weren't rounded itself.
	return parseDecimal(strconv.FormatFloat(f, 'f', 60, 64), scale)
}

// decimalFromBytes reads BigDecimalByteStringEncoder's form: the unscaled value
// as a two's complement, least significant byte first.
func decimalFromBytes(b []byte) (*big.Int, error) {
	if len(b) > 32 {
		return nil, errDecimalRange
	}
	bigEndian := make([]byte, len(b))
	for i, octet := range b {
		bigEndian[len(b)-1-i] = octet
	}
	n := new(big.Int).SetBytes(bigEndian)
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n, nil
}

// decimalScale is the scale in which the column's numbers are stored.
func (c *Column) decimalScale() int {
	if c.Kind == KindBigNumeric {
		return bigNumericScale
	}
	return numericScale
}

// DecimalInteger is a whole number as a NUMERIC or BIGNUMERIC column stores it.
func (c *Column) DecimalInteger(n *big.Int) (any, error) {
	return c.decimalValue(new(big.Int).Mul(n, pow10(int64(c.decimalScale()))))
}

// DecimalFloat is a double as a NUMERIC or BIGNUMERIC column stores it, rounded.
func (c *Column) DecimalFloat(f float64) (any, error) {
	n, err := decimalFromFloat(f, c.decimalScale())
	if err != nil {
		return nil, err
	}
	return c.decimalValue(n)
}

// DecimalLiteral is a decimal's text as a NUMERIC or BIGNUMERIC column stores it, rounded.
func (c *Column) DecimalLiteral(text string) (any, error) {
	n, err := parseDecimal(text, c.decimalScale())
	if err != nil {
		return nil, err
	}
	return c.decimalValue(n)
}

// DecimalBytes reads BigDecimalByteStringEncoder's form.
func (c *Column) DecimalBytes(b []byte) (any, error) {
	n, err := decimalFromBytes(b)
	if err != nil {
		return nil, err
	}
	return c.decimalValue(n)
}

// decimalValue checks an unscaled value against the column's range and parameters,
// and returns it as it is stored.
func (c *Column) decimalValue(n *big.Int) (any, error) {
	scale := c.decimalScale()
	if c.Precision > 0 {
		if drop := int64(scale) - c.Scale; drop > 0 {
			n = roundHalfAway(n, pow10(drop))
		}
		if limit := pow10(int64(scale) + c.Precision - c.Scale); n.CmpAbs(limit) >= 0 {
			return nil, errDecimalRange
		}
	}
	if c.Kind == KindNumeric {
		if n.CmpAbs(numericLimit) >= 0 {
			return nil, errDecimalRange
		}
		return duckdb.Decimal{Width: 38, Scale: numericScale, Value: n}, nil
	}
	return encodeBigNumeric(n)
}

// roundHalfAway rounds n to a multiple of unit.
func roundHalfAway(n, unit *big.Int) *big.Int {
	quotient, remainder := new(big.Int).QuoRem(n, unit, new(big.Int))
	if remainder.Lsh(remainder, 1).CmpAbs(unit) >= 0 {
		quotient.Add(quotient, big.NewInt(int64(n.Sign())))
	}
	return quotient.Mul(quotient, unit)
}

// encodeBigNumeric returns the 32 bytes that DuckDB holds a BIGNUMERIC as: they
// compare as the numbers do.
func encodeBigNumeric(n *big.Int) (any, error) {
	shifted := new(big.Int).Add(n, bigNumericLimit)
	if shifted.Sign() < 0 || shifted.BitLen() > 256 {
		return nil, errDecimalRange
	}
	return shifted.FillBytes(make([]byte, 32)), nil
}

func decodeBigNumeric(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	return n.Sub(n, bigNumericLimit)
}

// decimalText is the plain decimal form without trailing zeros.
func decimalText(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	text := digits[:len(digits)-scale]
	if fraction := strings.TrimRight(digits[len(digits)-scale:], "0"); fraction != "" {
		text += "." + fraction
	}
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}
