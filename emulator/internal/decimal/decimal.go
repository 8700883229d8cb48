// Package decimal has NUMERIC's and BIGNUMERIC's numbers: as text, as integers of
// 10^-scale, and as the bytes that tables hold a BIGNUMERIC as. What appends stores
// and what SQL computes agree on them here.
package decimal

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// The scales in which the two types are stored.
const (
	NumericScale    = 9
	BigNumericScale = 38
)

var (
	// ErrSyntax says that a text is no decimal number.
	ErrSyntax = errors.New("it is no decimal number")
	// ErrRange says that a number is beyond its type's range.
	ErrRange = errors.New("it is out of range")
)

var (
	// numericLimit is the first integer that is too big for a NUMERIC, whose range is
	// ±(10^29 − 10^-9).
	numericLimit = Pow10(38)
	// bigLimit bounds a BIGNUMERIC's integer: −bigLimit … bigLimit−1.
	bigLimit = new(big.Int).Lsh(big.NewInt(1), 255)
)

// Pow10 is 10^n.
func Pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// Check returns ErrRange for an integer of 10^-scale that NUMERIC, or BIGNUMERIC by its
// scale, doesn't have.
func Check(n *big.Int, scale int) error {
	inside := n.CmpAbs(numericLimit) < 0
	if scale == BigNumericScale {
		inside = n.Cmp(bigLimit) < 0 && (n.Sign() >= 0 || n.CmpAbs(bigLimit) <= 0)
	}
	if !inside {
		return ErrRange
	}
	return nil
}

// Parse reads a decimal's text, [sign]digits[.digits][e[sign]digits], as an integer of
// 10^-scale. Digits beyond the scale are rounded half away from zero, as BigQuery does.
// It looks at no more digits than a BIGNUMERIC can have, however long the text or large
// the exponent. The range is for Check, but for what is beyond both types.
func Parse(text string, scale int) (*big.Int, error) {
	rest, negative := text, false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		negative, rest = rest[0] == '-', rest[1:]
	}
	mantissa, exponent := rest, 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		n, err := strconv.Atoi(rest[i+1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, ErrSyntax
		}
		mantissa, exponent = rest[:i], max(-1<<30, min(n, 1<<30))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return nil, ErrSyntax
	}
	// The value is 0.digits × 10^point.
	digits := strings.TrimLeft(whole+fraction, "0")
	point := len(whole) + exponent - (len(whole) + len(fraction) - len(digits))
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return new(big.Int), nil
	}
	if point > 40 { // ≥ 10^40 is beyond both types
		return nil, ErrRange
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
	n.Mul(n, Pow10(int64(keep-len(digits))))
	if roundUp {
		n.Add(n, big.NewInt(1))
	}
	if negative {
		n.Neg(n)
	}
	return n, nil
}

// Text is the plain decimal form of an integer of 10^-scale, without trailing zeros.
func Text(n *big.Int, scale int) string {
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

// Quotient divides and rounds half away from zero.
func Quotient(n, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, d, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(d) >= 0 {
		if n.Sign()*d.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

// Encode returns the 32 bytes that tables hold a BIGNUMERIC as, the most significant
// first and its sign turned, so that bytes sort as numbers do. Check has taken n.
func Encode(n *big.Int) []byte {
	return new(big.Int).Add(n, bigLimit).FillBytes(make([]byte, 32))
}

// Decode reads Encode's bytes.
func Decode(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	return n.Sub(n, bigLimit)
}
