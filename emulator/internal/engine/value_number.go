package engine

import (
	"math"
	"math/big"
	"strconv"

	"github.com/duckdb/duckdb-go/v2"

	"beamcdc/emulator/internal/decimal"
)

// decimalFromFloat converts a double exactly, but for the digits beyond the scale.
func decimalFromFloat(f float64, scale int) (*big.Int, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, decimal.ErrSyntax
	}
	// One digit beyond any scale would do if it weren't rounded itself.
	return decimal.Parse(strconv.FormatFloat(f, 'f', 60, 64), scale)
}

// decimalFromBytes reads BigDecimalByteStringEncoder's form: the unscaled value
// as a two's complement, least significant byte first.
func decimalFromBytes(b []byte) (*big.Int, error) {
	if len(b) > 32 {
		return nil, decimal.ErrRange
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
		return decimal.BigNumericScale
	}
	return decimal.NumericScale
}

// DecimalInteger is a whole number as a NUMERIC or BIGNUMERIC column stores it.
func (c *Column) DecimalInteger(n *big.Int) (any, error) {
	return c.decimalValue(new(big.Int).Mul(n, decimal.Pow10(int64(c.decimalScale()))))
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
	n, err := decimal.Parse(text, c.decimalScale())
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
			unit := decimal.Pow10(drop)
			n = new(big.Int).Mul(decimal.Quotient(n, unit), unit)
		}
		if limit := decimal.Pow10(int64(scale) + c.Precision - c.Scale); n.CmpAbs(limit) >= 0 {
			return nil, decimal.ErrRange
		}
	}
	if err := decimal.Check(n, scale); err != nil {
		return nil, err
	}
	if c.Kind == KindNumeric {
		return duckdb.Decimal{Width: 38, Scale: decimal.NumericScale, Value: n}, nil
	}
	return decimal.Encode(n), nil
}
