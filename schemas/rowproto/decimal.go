package rowproto

import (
	"math"
	"math/big"
	"strconv"

	"beamcdc/schemas/table"
)

// decimal is a number as its text spells it: ±0.d₁d₂…dₙ × 10^point, where d₁ and
// dₙ are not 0. Nothing is computed: digits stay where the message has them.
type decimal struct {
	negative bool   // never for zero
	mantissa string // from d₁ to dₙ, a point perhaps between
	dot      int    // the index of that point, or len(mantissa)
	digits   int    // n; 0 for zero
	point    int64
}

// maxExponent bounds an exponent that was read, so that sums with lengths of
// texts can't overflow; anything near it is far outside every type's range.
const maxExponent = 1 << 40

// parseDecimal reads [+-]digits[.digits][e[+-]digits], where digits may be
// missing on one side of the point.
func parseDecimal(text string) (d decimal, ok bool) {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		d.negative = text[i] == '-'
		i++
	}
	start, dot := i, -1
	first, last := -1, -1 // of the digits that are not 0
scan:
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case '1' <= c && c <= '9':
			if first < 0 {
				first = i
			}
			last = i
		case c == '0':
		case c == '.' && dot < 0:
			dot = i
		default:
			break scan
		}
	}
	end := i
	if digits := end - start; digits == 0 || digits == 1 && dot >= 0 {
		return decimal{}, false
	}
	exponent := int64(0)
	if i < len(text) {
		if exponent, ok = parseExponent(text[i:]); !ok {
			return decimal{}, false
		}
	}
	if first < 0 {
		return decimal{}, true
	}
	if dot < 0 {
		dot = end
	}
	d.mantissa = text[first : last+1]
	d.digits, d.dot = len(d.mantissa), len(d.mantissa)
	switch {
	case dot < first: // 0.00123
		d.point = int64(dot + 1 - first)
	case dot > last: // 12300, 12300.0
		d.point = int64(dot - first)
	default: // 1.23
		d.digits--
		d.dot = dot - first
		d.point = int64(d.dot)
	}
	d.point += exponent
	return d, true
}

func parseExponent(text string) (exponent int64, ok bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if text == "" {
		return 0, false
	}
	for i := range len(text) {
		c := text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		exponent = min(exponent*10+int64(c-'0'), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// digit returns the i-th digit, from 0.
func (d *decimal) digit(i int) byte {
	if i >= d.dot {
		i++
	}
	return d.mantissa[i]
}

// appendDigits appends the digits from i to before j.
func (d *decimal) appendDigits(dst []byte, i, j int) []byte {
	if i < d.dot {
		dst = append(dst, d.mantissa[i:min(j, d.dot)]...)
		i = min(j, d.dot)
	}
	if i < j {
		dst = append(dst, d.mantissa[i+1:j+1]...)
	}
	return dst
}

// fraction returns how many digits the number has after the point.
func (d *decimal) fraction() int64 { return max(int64(d.digits)-d.point, 0) }

// appendPlain appends the number without an exponent and without zeros that
// don't count. The caller has bounded point and fraction.
func (d *decimal) appendPlain(dst []byte) []byte {
	if d.digits == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	n := int64(d.digits)
	switch {
	case d.point <= 0:
		dst = append(dst, "0."...)
		dst = appendZeros(dst, -d.point)
		return d.appendDigits(dst, 0, d.digits)
	case d.point >= n:
		return appendZeros(d.appendDigits(dst, 0, d.digits), d.point-n)
	}
	dst = d.appendDigits(dst, 0, int(d.point))
	dst = append(dst, '.')
	return d.appendDigits(dst, int(d.point), d.digits)
}

func appendZeros(dst []byte, n int64) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// uint64 returns the whole part of the number's magnitude, and whether it fits.
func (d *decimal) uint64() (whole uint64, fits bool) {
	if d.point > 20 {
		return math.MaxUint64, false
	}
	for i := range int(max(d.point, 0)) {
		c := uint64(0)
		if i < d.digits {
			c = uint64(d.digit(i) - '0')
		}
		if whole > (math.MaxUint64-c)/10 {
			return math.MaxUint64, false
		}
		whole = whole*10 + c
	}
	return whole, true
}

// int64 returns the number cut towards zero, the nearest int64 when it is
// outside their range, which side then tells: -1 below, +1 above, 0 within.
func (d *decimal) int64() (v int64, side int) {
	whole, fits := d.uint64()
	switch {
	case d.negative && (!fits || whole > 1<<63):
		return math.MinInt64, -1
	case !d.negative && (!fits || whole > math.MaxInt64):
		return math.MaxInt64, +1
	case d.negative:
		return -int64(whole), 0 // 1<<63 becomes math.MinInt64 and stays it
	}
	return int64(whole), 0
}

// round returns the number with at most so many digits after the point, halves
// away from zero, as BigQuery rounds. Only a policy that the user chose asks for it.
func (d *decimal) round(fraction int64) decimal {
	keep := d.point + fraction // how many digits stay
	if keep >= int64(d.digits) {
		return *d
	}
	if keep < 0 {
		return decimal{}
	}
	kept := d.appendDigits(nil, 0, int(keep))
	n, _ := new(big.Int).SetString("0"+string(kept), 10)
	if d.digit(int(keep)) >= '5' {
		n.Add(n, big.NewInt(1))
	}
	rounded, _ := parseDecimal(n.String() + "e" + strconv.FormatInt(-fraction, 10))
	rounded.negative = d.negative && rounded.digits > 0
	return rounded
}

// decimalLimits is what a NUMERIC or BIGNUMERIC column holds.
type decimalLimits struct {
	integer, fraction int64  // digits before and after the point
	bound, lower      string // BIGNUMERIC's greatest and the magnitude of its least value; "" where the digits say it all
}

// BIGNUMERIC is a 256-bit number of 10^-38: from -2^255 to 2^255-1.
// https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#decimal_types
const (
	bigNumericMax = "57896044618658097711785492504343953926634992332820282019728792003956564819967"
	bigNumericMin = "57896044618658097711785492504343953926634992332820282019728792003956564819968"
)

func limitsOf(c *table.Column) decimalLimits {
	switch {
	case c.Type != table.Numeric && c.Type != table.BigNumeric:
		return decimalLimits{}
	case c.Precision > 0:
		return decimalLimits{integer: c.Precision - c.Scale, fraction: c.Scale}
	case c.Type == table.Numeric:
		return decimalLimits{integer: 29, fraction: 9}
	}
	return decimalLimits{integer: 39, fraction: 38, bound: bigNumericMax, lower: bigNumericMin}
}

// holds reports whether the number's magnitude is within the limits.
func (l *decimalLimits) holds(d *decimal) bool {
	if d.digits == 0 || d.point < l.integer {
		return true
	}
	if d.point > l.integer {
		return false
	}
	if l.bound == "" {
		return true
	}
	bound := l.bound
	if d.negative {
		bound = l.lower
	}
	for i := range min(d.digits, len(bound)) {
		if c := d.digit(i); c != bound[i] {
			return c < bound[i]
		}
	}
	return d.digits <= len(bound)
}

// nearest returns the limit that is nearest to a number beyond them.
func (l *decimalLimits) nearest(negative bool) decimal {
	digits := l.bound
	if negative {
		digits = l.lower
	}
	if digits == "" {
		digits = string(appendNines(nil, l.integer+l.fraction))
	}
	d, _ := parseDecimal(digits + "e" + strconv.FormatInt(-l.fraction, 10))
	d.negative = negative && d.digits > 0
	return d
}

func appendNines(dst []byte, n int64) []byte {
	for range n {
		dst = append(dst, '9')
	}
	return dst
}
