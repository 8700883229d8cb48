package googlesql

import (
	"database/sql/driver"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"beamcdc/emulator/internal/decimal"
)

var errDecimalRange = errors.New("numeric overflow")

// parseDecimal reads a decimal's text, spaces around it aside, as an integer of
// 10^-scale in the range of NUMERIC or BIGNUMERIC by the scale.
func parseDecimal(text string, scale int) (*big.Int, error) {
	n, err := decimal.Parse(strings.TrimSpace(text), scale)
	switch {
	case errors.Is(err, decimal.ErrSyntax):
		return nil, errValue
	case err != nil:
		return nil, errDecimalRange
	}
	return n, checkDecimal(n, scale)
}

func checkDecimal(n *big.Int, scale int) error {
	if decimal.Check(n, scale) != nil {
		return errDecimalRange
	}
	return nil
}

func unscaled(v driver.Value) *big.Int { return v.(duckdb.Decimal).Value }

func numeric(n *big.Int, err error) (any, error) {
	if err == nil {
		err = checkDecimal(n, decimal.NumericScale)
	}
	if err != nil {
		return nil, err
	}
	return duckdb.Decimal{Width: 38, Scale: decimal.NumericScale, Value: n}, nil
}

func bigNumeric(n *big.Int, err error) (any, error) {
	if err == nil {
		err = checkDecimal(n, decimal.BigNumericScale)
	}
	if err != nil {
		return nil, err
	}
	return decimal.Encode(n), nil
}

// decimalArithmetic is an operator on two integers of 10^-scale.
func decimalArithmetic(op string, x, y *big.Int, scale int) (*big.Int, error) {
	if y.Sign() == 0 && (op == "/" || op == "DIV" || op == "MOD") {
		return nil, errQuery("division by zero: %s / 0", decimal.Text(x, scale))
	}
	one := decimal.Pow10(int64(scale))
	switch op {
	case "+":
		return new(big.Int).Add(x, y), nil
	case "-":
		return new(big.Int).Sub(x, y), nil
	case "*":
		return decimal.Quotient(new(big.Int).Mul(x, y), one), nil
	case "/":
		return decimal.Quotient(new(big.Int).Mul(x, one), y), nil
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
	unit := decimal.Pow10(drop)
	quotient, rest := new(big.Int).QuoRem(n, unit, new(big.Int))
	switch {
	case mode == "ROUND":
		quotient = decimal.Quotient(n, unit)
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
		return numeric(decimalArithmetic(a[0].(string), unscaled(a[1]), unscaled(a[2]), decimal.NumericScale))
	}},
	{"bq_numeric_round", params("VARCHAR", "DECIMAL", "BIGINT"), "DECIMAL", func(a []driver.Value) (any, error) {
		return numeric(roundDecimal(a[0].(string), unscaled(a[1]), a[2].(int64), decimal.NumericScale), nil)
	}},
	{"bq_numeric_text", params("DECIMAL"), "VARCHAR", func(a []driver.Value) (any, error) {
		return decimal.Text(unscaled(a[0]), decimal.NumericScale), nil
	}},
	{"bq_parse_numeric", params("VARCHAR"), "DECIMAL", func(a []driver.Value) (any, error) {
		n, err := parseDecimal(a[0].(string), decimal.NumericScale)
		if err != nil {
			return nil, errQuery("Invalid NUMERIC value: %s", a[0])
		}
		return numeric(n, nil)
	}},
	{"bq_float_numeric", params("DOUBLE"), "DECIMAL", func(a []driver.Value) (any, error) {
		return numeric(floatDecimal(a[0].(float64), decimal.NumericScale))
	}},
	{"bq_check_numeric", params("DECIMAL", "BIGINT", "BIGINT"), "DECIMAL", func(a []driver.Value) (any, error) {
		n := roundDecimal("ROUND", unscaled(a[0]), a[2].(int64), decimal.NumericScale)
		if n.CmpAbs(decimal.Pow10(decimal.NumericScale+a[1].(int64)-a[2].(int64))) >= 0 {
			return nil, errQuery("numeric overflow: NUMERIC(%d, %d) has precision %d and scale %d", a[1], a[2], a[1], a[2])
		}
		return numeric(n, nil)
	}},
	{"bq_big", params("VARCHAR", "BLOB", "BLOB"), "BLOB", func(a []driver.Value) (any, error) {
		return bigNumeric(decimalArithmetic(a[0].(string), decimal.Decode(a[1].([]byte)), decimal.Decode(a[2].([]byte)), decimal.BigNumericScale))
	}},
	{"bq_big_text", params("BLOB"), "VARCHAR", func(a []driver.Value) (any, error) {
		return decimal.Text(decimal.Decode(a[0].([]byte)), decimal.BigNumericScale), nil
	}},
	{"bq_big_parse", params("VARCHAR"), "BLOB", func(a []driver.Value) (any, error) {
		n, err := parseDecimal(a[0].(string), decimal.BigNumericScale)
		if err != nil {
			return nil, errQuery("Invalid BIGNUMERIC value: %s", a[0])
		}
		return decimal.Encode(n), nil
	}},
	{"bq_big_int", params("BLOB"), "BIGINT", func(a []driver.Value) (any, error) {
		n := decimal.Quotient(decimal.Decode(a[0].([]byte)), decimal.Pow10(decimal.BigNumericScale))
		if !n.IsInt64() {
			return nil, errQuery("int64 out of range: %s", n)
		}
		return n.Int64(), nil
	}},
	{"bq_float_big", params("DOUBLE"), "BLOB", func(a []driver.Value) (any, error) {
		return bigNumeric(floatDecimal(a[0].(float64), decimal.BigNumericScale))
	}},
}
