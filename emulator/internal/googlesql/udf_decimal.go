package googlesql

import (
	"database/sql/driver"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

var errDecimalRange = errors.New("numeric overflow")

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// parseDecimal reads [sign]digits[.digits][e[sign]digits] as an integer of 10^-scale,
// rounded half away from zero, in the range of NUMERIC or BIGNUMERIC by the scale.
func parseDecimal(text string, scale int) (*big.Int, error) {
	rest, negative := strings.TrimSpace(text), false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		negative, rest = rest[0] == '-', rest[1:]
	}
	exponent := 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		n, err := strconv.Atoi(rest[i+1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, errValue
		}
		exponent, rest = max(-10_000, min(n, 10_000)), rest[:i]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > 2000 || strings.Trim(digits, "0123456789") != "" {
		return nil, errValue
	}
	n, _ := new(big.Int).SetString(digits, 10)
	n = rescale(n, int64(exponent-len(fraction)+scale))
	if negative {
		n.Neg(n)
	}
	return n, checkDecimal(n, scale)
}

// rescale multiplies by a power of ten and rounds half away from zero.
func rescale(n *big.Int, power int64) *big.Int {
	if power >= 0 {
		return new(big.Int).Mul(n, pow10(power))
	}
	return divRound(n, pow10(-power))
}

// divRound divides and rounds half away from zero.
func divRound(n, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, d, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(d) >= 0 {
		if n.Sign()*d.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

var numericLimit = pow10(38)

func checkDecimal(n *big.Int, scale int) error {
	limit := bigLimit
	if scale == numericScale {
		limit = numericLimit
	}
	if n.CmpAbs(limit) >= 0 {
		return errDecimalRange
	}
	return nil
}

// formatDecimal writes an integer of 10^-scale without trailing zeros.
func formatDecimal(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	text := digits[:len(digits)-scale]
	if fraction := strings.TrimRight(digits[len(digits)-scale:], "0"); fraction != "" {
		text += "." + fraction
	}
	if n.Sign() < 0 {
		return "-" + text
	}
	return text
}

// encodeBig writes a BIGNUMERIC as tables store it: 256 bits, the most significant byte
// first and its sign turned, so that bytes sort as numbers do.
func encodeBig(n *big.Int) []byte {
	return new(big.Int).Add(n, bigLimit).FillBytes(make([]byte, 32))
}

func decodeBig(b []byte) *big.Int {
	return new(big.Int).Sub(new(big.Int).SetBytes(b), bigLimit)
}

func decimal(v driver.Value) *big.Int { return v.(duckdb.Decimal).Value }

func numeric(n *big.Int, err error) (any, error) {
	if err == nil {
		err = checkDecimal(n, numericScale)
	}
	if err != nil {
		return nil, err
	}
	return duckdb.Decimal{Width: 38, Scale: numericScale, Value: n}, nil
}

func bigNumeric(n *big.Int, err error) (any, error) {
	if err == nil {
		err = checkDecimal(n, bigNumericScale)
	}
	if err != nil {
		return nil, err
	}
	return encodeBig(n), nil
}

// decimalArithmetic is an operator on two integers of 10^-scale.
func decimalArithmetic(op string, x, y *big.Int, scale int) (*big.Int, error) {
	if y.Sign() == 0 && (op == "/" || op == "DIV" || op == "MOD") {
		return nil, errQuery("division by zero: %s / 0", formatDecimal(x, scale))
	}
	one := pow10(int64(scale))
	switch op {
	case "+":
		return new(big.Int).Add(x, y), nil
	case "-":
		return new(big.Int).Sub(x, y), nil
	case "*":
		return divRound(new(big.Int).Mul(x, y), one), nil
	case "/":
		return divRound(new(big.Int).Mul(x, one), y), nil
	case "DIV":
		return new(big.Int).Mul(new(big.Int).Quo(x, y), one), nil
	}
	return new(big.Int).Rem(x, y), nil
}

// roundDecimal rounds to digits after the point, which may be negative.
func roundDecimal(mode string, n *big.Int, digits int64, scale int) *big.Int {
	drop := int64(scale) - digits
	if drop <= 0 {
		return n
	}
	if drop > 100 {
		return new(big.Int)
	}
	unit := pow10(drop)
	quotient, rest := new(big.Int).QuoRem(n, unit, new(big.Int))
	switch {
	case mode == "ROUND":
		quotient = divRound(n, unit)
	case mode == "CEIL" && rest.Sign() > 0:
		quotient.Add(quotient, big.NewInt(1))
	case mode == "FLOOR" && rest.Sign() < 0:
		quotient.Sub(quotient, big.NewInt(1))
	}
	return quotient.Mul(quotient, unit)
}

func floatDecimal(f float64, scale int) (*big.Int, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errQuery("Illegal conversion of non-finite floating point number to numeric: %s", floatText(f))
	}
	return parseDecimal(strconv.FormatFloat(f, 'f', -1, 64), scale)
}

var decimalUDFs = []function{
	{"bq_numeric", params("VARCHAR", "DECIMAL", "DECIMAL"), "DECIMAL", func(a []driver.Value) (any, error) {
		return numeric(decimalArithmetic(a[0].(string), decimal(a[1]), decimal(a[2]), numericScale))
	}},
	{"bq_numeric_round", params("VARCHAR", "DECIMAL", "BIGINT"), "DECIMAL", func(a []driver.Value) (any, error) {
		return numeric(roundDecimal(a[0].(string), decimal(a[1]), a[2].(int64), numericScale), nil)
	}},
	{"bq_numeric_text", params("DECIMAL"), "VARCHAR", func(a []driver.Value) (any, error) {
		return formatDecimal(decimal(a[0]), numericScale), nil
	}},
	{"bq_parse_numeric", params("VARCHAR"), "DECIMAL", func(a []driver.Value) (any, error) {
		n, err := parseDecimal(a[0].(string), numericScale)
		if err != nil {
			return nil, errQuery("Invalid NUMERIC value: %s", a[0])
		}
		return numeric(n, nil)
	}},
	{"bq_float_numeric", params("DOUBLE"), "DECIMAL", func(a []driver.Value) (any, error) {
		return numeric(floatDecimal(a[0].(float64), numericScale))
	}},
	{"bq_check_numeric", params("DECIMAL", "BIGINT", "BIGINT"), "DECIMAL", func(a []driver.Value) (any, error) {
		n := roundDecimal("ROUND", decimal(a[0]), a[2].(int64), numericScale)
		if n.CmpAbs(pow10(numericScale+a[1].(int64)-a[2].(int64))) >= 0 {
			return nil, errQuery("numeric overflow: NUMERIC(%d, %d) has precision %d and scale %d", a[1], a[2], a[1], a[2])
		}
		return numeric(n, nil)
	}},
	{"bq_big", params("VARCHAR", "BLOB", "BLOB"), "BLOB", func(a []driver.Value) (any, error) {
		return bigNumeric(decimalArithmetic(a[0].(string), decodeBig(a[1].([]byte)), decodeBig(a[2].([]byte)), bigNumericScale))
	}},
	{"bq_big_text", params("BLOB"), "VARCHAR", func(a []driver.Value) (any, error) {
		return formatDecimal(decodeBig(a[0].([]byte)), bigNumericScale), nil
	}},
	{"bq_big_parse", params("VARCHAR"), "BLOB", func(a []driver.Value) (any, error) {
		n, err := parseDecimal(a[0].(string), bigNumericScale)
		if err != nil {
			return nil, errQuery("Invalid BIGNUMERIC value: %s", a[0])
		}
		return encodeBig(n), nil
	}},
	{"bq_big_int", params("BLOB"), "BIGINT", func(a []driver.Value) (any, error) {
		n := divRound(decodeBig(a[0].([]byte)), pow10(bigNumericScale))
		if !n.IsInt64() {
			return nil, errQuery("int64 out of range: %s", n)
		}
		return n.Int64(), nil
	}},
	{"bq_float_big", params("DOUBLE"), "BLOB", func(a []driver.Value) (any, error) {
		return bigNumeric(floatDecimal(a[0].(float64), bigNumericScale))
	}},
}
