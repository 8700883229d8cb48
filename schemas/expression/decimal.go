package expression

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// decimalType is CEL's name for an exact decimal: what a NUMERIC or BIGNUMERIC
// column holds.
var decimalType = cel.OpaqueType("decimal").WithTraits(
	traits.AdderType | traits.SubtractorType | traits.MultiplierType | traits.NegatorType | traits.ComparerType)

// maxDecimalDigits bounds a decimal on either side of its point. BIGNUMERIC has 77
// digits; products of products need room.
const maxDecimalDigits = 1000

// decimal is unscaled / 10^scale, with a scale of 0 at least. It doesn't change.
type decimal struct {
	unscaled *big.Int
	scale    int
}

var ten = big.NewInt(10)

// parseDecimal reads "-12.50", "1.5e3": digits on either side of the point at most
// maxDecimalDigits.
func parseDecimal(text string) (decimal, bool) {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		n, err := strconv.Atoi(text[at+1:])
		if err != nil || n > maxDecimalDigits || n < -maxDecimalDigits {
			return decimal{}, false
		}
		mantissa, exponent = text[:at], n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if len(digits) > 2*maxDecimalDigits || strings.Trim(digits, "+-") == "" || strings.ContainsAny(fraction, "+-") || strings.Contains(digits, "_") {
		return decimal{}, false
	}
	unscaled, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return decimal{}, false
	}
	return newDecimal(unscaled, len(fraction)-exponent)
}

// newDecimal returns unscaled / 10^scale without zeros that don't count. It may
// change unscaled.
func newDecimal(unscaled *big.Int, scale int) (decimal, bool) {
	if scale > 2*maxDecimalDigits || scale < -2*maxDecimalDigits {
		return decimal{}, unscaled.Sign() == 0
	}
	if scale < 0 {
		unscaled.Mul(unscaled, power(-scale))
		scale = 0
	}
	var quotient, rest big.Int
	for scale > 0 {
		if quotient.QuoRem(unscaled, ten, &rest); rest.Sign() != 0 {
			break
		}
		unscaled.Set(&quotient)
		scale--
	}
	const bitsADigit = 3.33
	if scale > maxDecimalDigits || float64(unscaled.BitLen()) > bitsADigit*float64(maxDecimalDigits+scale) {
		return decimal{}, false
	}
	return decimal{unscaled, scale}, true
}

func decimalOf(n int64) decimal { return decimal{unscaled: big.NewInt(n)} }

func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// text returns the digits, without an exponent.
func (d decimal) text() string {
	digits := d.unscaled.String()
	if d.scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if missing := d.scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-d.scale] + "." + digits[len(digits)-d.scale:]
}

// aligned returns both numbers' unscaled values at one scale.
func aligned(a, b decimal) (x, y *big.Int, scale int) {
	x, y = a.unscaled, b.unscaled
	switch {
	case a.scale < b.scale:
		x = new(big.Int).Mul(x, power(b.scale-a.scale))
	case b.scale < a.scale:
		y = new(big.Int).Mul(y, power(a.scale-b.scale))
	}
	return x, y, max(a.scale, b.scale)
}

func result(unscaled *big.Int, scale int) ref.Val {
	d, ok := newDecimal(unscaled, scale)
	if !ok {
		return types.NewErr("the decimal has more digits than can be calculated with")
	}
	return d
}

// operand returns a decimal, or a whole number as one.
func operand(v ref.Val) (decimal, bool) {
	switch v := v.(type) {
	case decimal:
		return v, true
	case types.Int:
		return decimalOf(int64(v)), true
	case types.Uint:
		return decimal{unscaled: new(big.Int).SetUint64(uint64(v))}, true
	}
	return decimal{}, false
}

// Add implements traits.Adder.
func (d decimal) Add(other ref.Val) ref.Val {
	o, ok := operand(other)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	x, y, scale := aligned(d, o)
	return result(new(big.Int).Add(x, y), scale)
}

// Subtract implements traits.Subtractor.
func (d decimal) Subtract(other ref.Val) ref.Val {
	o, ok := operand(other)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	x, y, scale := aligned(d, o)
	return result(new(big.Int).Sub(x, y), scale)
}

// Multiply implements traits.Multiplier.
func (d decimal) Multiply(other ref.Val) ref.Val {
	o, ok := operand(other)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return result(new(big.Int).Mul(d.unscaled, o.unscaled), d.scale+o.scale)
}

// Negate implements traits.Negater.
func (d decimal) Negate() ref.Val { return decimal{new(big.Int).Neg(d.unscaled), d.scale} }

// Compare implements traits.Comparer.
func (d decimal) Compare(other ref.Val) ref.Val {
	o, ok := operand(other)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	x, y, _ := aligned(d, o)
	return types.Int(x.Cmp(y))
}

// Equal implements ref.Val: 1.50 is 1.5, and decimal("1") is 1.
func (d decimal) Equal(other ref.Val) ref.Val {
	o, ok := operand(other)
	return types.Bool(ok && d.scale == o.scale && d.unscaled.Cmp(o.unscaled) == 0)
}

// ConvertToNative implements ref.Val.
func (d decimal) ConvertToNative(reflect.Type) (any, error) {
	return nil, errors.New("a decimal has no native form")
}

// ConvertToType implements ref.Val: exactly, but for a double, which is the nearest.
func (d decimal) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.StringType:
		return types.String(d.text())
	case types.IntType:
		if d.scale == 0 && d.unscaled.IsInt64() {
			return types.Int(d.unscaled.Int64())
		}
		return types.NewErr("int: the decimal is no whole number of 64 bits")
	case types.DoubleType:
		x, err := strconv.ParseFloat(d.text(), 64)
		if err != nil {
			return types.NewErr("double: the decimal is out of range")
		}
		return types.Double(x)
	case types.TypeType:
		return decimalType
	}
	return types.NewErr("a decimal is no %s", t.TypeName())
}

// Type implements ref.Val.
func (d decimal) Type() ref.Type { return decimalType }

// Value implements ref.Val.
func (d decimal) Value() any { return d }

// round returns the number with at most so many digits after the point, halves away
// from zero, as BigQuery's ROUND does.
func (d decimal) round(digits int) decimal {
	if digits >= d.scale {
		return d
	}
	unit := power(d.scale - digits)
	half := new(big.Int).Quo(unit, big.NewInt(2))
	unscaled := new(big.Int).Abs(d.unscaled)
	unscaled.Quo(unscaled.Add(unscaled, half), unit)
	if d.unscaled.Sign() < 0 {
		unscaled.Neg(unscaled)
	}
	rounded, _ := newDecimal(unscaled, digits)
	return rounded
}

func roundDecimal(v, digits ref.Val) ref.Val {
	d, ok := operand(v)
	n, whole := digits.(types.Int)
	switch {
	case !ok || !whole:
		return types.MaybeNoSuchOverloadErr(v)
	case n < 0 || n > maxDecimalDigits:
		return types.NewErr("round: there are 0 to %d digits after the point", maxDecimalDigits)
	}
	return d.round(int(n))
}

// divide returns a / b with so many digits after the point, halves away from zero.
func divide(args ...ref.Val) ref.Val {
	a, okA := operand(args[0])
	b, okB := operand(args[1])
	n, whole := args[2].(types.Int)
	switch {
	case !okA || !okB || !whole:
		return types.MaybeNoSuchOverloadErr(args[0])
	case n < 0 || n > maxDecimalDigits:
		return types.NewErr("divide: there are 0 to %d digits after the point", maxDecimalDigits)
	case b.unscaled.Sign() == 0:
		return types.NewErr("divide: division by zero")
	}
	x, y, _ := aligned(a, b)
	// Twice the quotient tells which half the rest is in.
	quotient := new(big.Int).Mul(new(big.Int).Abs(x), power(int(n)))
	quotient.Mul(quotient, big.NewInt(2)).Quo(quotient, new(big.Int).Abs(y))
	quotient.Add(quotient, big.NewInt(1)).Rsh(quotient, 1)
	if x.Sign()*y.Sign() < 0 {
		quotient.Neg(quotient)
	}
	return result(quotient, int(n))
}

func decimalFrom(v ref.Val) ref.Val {
	if d, ok := operand(v); ok {
		return d
	}
	text, ok := v.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	d, ok := parseDecimal(string(text))
	if !ok {
		return types.NewErr("decimal: the text is no decimal number")
	}
	return d
}

// decimals declares what can be done with decimals. A double is no operand: it is
// only what double() makes of one, so that no float gets into the path of a decimal.
func decimals() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function("decimal",
			unary("decimal_string", cel.StringType, decimalType, decimalFrom),
			unary("decimal_int", cel.IntType, decimalType, decimalFrom),
			unary("decimal_uint", cel.UintType, decimalType, decimalFrom),
			unary("decimal_decimal", decimalType, decimalType, decimalFrom)),
		cel.Function("round", cel.Overload("round_decimal_int", []*cel.Type{decimalType, cel.IntType}, decimalType, cel.BinaryBinding(roundDecimal))),
		cel.Function("divide", cel.Overload("divide_dyn_dyn_int", []*cel.Type{decimalType, decimalType, cel.IntType}, decimalType, cel.FunctionBinding(divide)),
			cel.Overload("divide_decimal_int_int", []*cel.Type{decimalType, cel.IntType, cel.IntType}, decimalType, cel.FunctionBinding(divide)),
			cel.Overload("divide_int_int_int", []*cel.Type{cel.IntType, cel.IntType, cel.IntType}, decimalType, cel.FunctionBinding(divide))),
		cel.Function("string", unary("decimal_to_string", decimalType, cel.StringType, converter(types.StringType))),
		cel.Function("int", unary("decimal_to_int", decimalType, cel.IntType, converter(types.IntType))),
		cel.Function("double", unary("decimal_to_double", decimalType, cel.DoubleType, converter(types.DoubleType))),
		cel.Function(operators.Negate, cel.Overload("negate_decimal", []*cel.Type{decimalType}, decimalType)),
	}
	// Their bindings are CEL's own, which ask the left operand for the trait: so a
	// whole number may be on the right only.
	for _, operator := range []string{operators.Add, operators.Subtract, operators.Multiply} {
		options = append(options, cel.Function(operator, onDecimals(operator, decimalType)...))
	}
	for _, operator := range []string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals} {
		options = append(options, cel.Function(operator, onDecimals(operator, cel.BoolType)...))
	}
	return options
}

func onDecimals(operator string, gives *cel.Type) []cel.FunctionOpt {
	var overloads []cel.FunctionOpt
	for _, right := range []*cel.Type{decimalType, cel.IntType, cel.UintType} {
		id := fmt.Sprintf("%s_decimal_%s", strings.Trim(operator, "_"), right.TypeName())
		overloads = append(overloads, cel.Overload(id, []*cel.Type{decimalType, right}, gives))
	}
	return overloads
}

func unary(id string, takes, gives *cel.Type, f func(ref.Val) ref.Val) cel.FunctionOpt {
	return cel.Overload(id, []*cel.Type{takes}, gives, cel.UnaryBinding(f))
}

func converter(to ref.Type) func(ref.Val) ref.Val {
	return func(v ref.Val) ref.Val { return v.ConvertToType(to) }
}
