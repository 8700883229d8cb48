package rowproto

// The short ways: nearly all numbers are short and plainly written, and are read in one
// pass. What these functions don't take, they leave to those that take everything; what
// they take, they read as those do.

// shortInt reads an integer of up to 18 digits as JSON writes it.
func shortInt(text string) (n int64, ok bool) {
	digits := text
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > 18 {
		return 0, false
	}
	for i := range len(digits) {
		c := digits[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if len(digits) != len(text) {
		n = -n
	}
	return n, true
}

// shortFloat reads a decimal of up to 15 digits without an exponent, other than zero.
// Doubles tell all of those apart, so that its digits come back; and both of what is
// divided here is exact, so that the quotient is the nearest double.
func shortFloat(text string) (x float64, ok bool) {
	const most = len(powersOfTen) - 1
	digits := text
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > most+1 {
		return 0, false
	}
	n, dot := int64(0), -1
	for i := range len(digits) {
		switch c := digits[i]; {
		case isDigit(c):
			n = n*10 + int64(c-'0')
		case c == '.' && dot < 0:
			dot = i
		default:
			return 0, false
		}
	}
	count, places := len(digits), 0
	if dot >= 0 {
		count, places = count-1, count-1-dot
	}
	if n == 0 || count > most {
		return 0, false
	}
	x = float64(n) / powersOfTen[places]
	if len(digits) != len(text) {
		x = -x
	}
	return x, true
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortDecimal returns the text of a decimal without an exponent, as it is to be written:
// without zeros that don't count. Of those that the limits allow it takes all that begin
// with another digit than 0, or with "0.".
func shortDecimal(text string, limits *decimalLimits) (canonical string, ok bool) {
	digits := text
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	whole := len(digits)
	significant := 0 // up to the last digit that counts
	for i := range len(digits) {
		switch c := digits[i]; {
		case c == '.' && whole == len(digits):
			whole = i
		case !isDigit(c):
			return "", false
		case c != '0' || whole == len(digits):
			significant = i + 1
		}
	}
	switch {
	case whole == 0, digits[0] == '0' && significant <= 1:
		return "", false // no digit before the point; zero, which may have a sign
	case digits[0] == '0' && whole > 1:
		return "", false
	case int64(whole) > limits.integer, int64(significant-whole-1) > limits.fraction, limits.bound != "" && int64(whole) == limits.integer:
		return "", false
	}
	return text[:len(text)-len(digits)+significant], true
}

// shortUnscaled reads the base64, in the standard alphabet, of a decimal's unscaled value
// of up to six bytes. Encoder.base64Decimal reads all of them, and says what is wrong.
func shortUnscaled(text string) (n int64, ok bool) {
	if len(text) != 4 && len(text) != 8 {
		return 0, false
	}
	sextets := len(text)
	for sextets > len(text)-2 && text[sextets-1] == '=' {
		sextets--
	}
	bits := uint64(0)
	for i := range sextets {
		sextet := sextetOf[text[i]]
		if sextet < 0 {
			return 0, false
		}
		bits = bits<<6 | uint64(sextet)
	}
	size := sextets * 6 / 8 * 8 // of the bytes, in bits
	stray := sextets*6 - size
	if bits&(1<<stray-1) != 0 {
		return 0, false
	}
	n = int64(bits>>stray<<(64-size)) >> (64 - size)
	if size > 8 && n == n<<(72-size)>>(72-size) {
		return 0, false // its first byte says nothing
	}
	return n, true
}

// sextetOf is what the characters of the standard alphabet stand for; -1 for others.
var sextetOf = func() (values [256]int8) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range values {
		values[i] = -1
	}
	for i := range len(alphabet) {
		values[alphabet[i]] = int8(i)
	}
	return values
}()

// appendScaled appends n / 10^scale as a NUMERIC, unless the column can't hold it. n is
// from shortUnscaled.
func appendScaled(dst []byte, n, scale int64, limits *decimalLimits) (out []byte, ok bool) {
	for scale > 0 && n%10 == 0 {
		n, scale = n/10, scale-1
	}
	var text [40]byte
	if scale < 0 || scale > int64(len(text)/2) || scale > limits.fraction {
		return dst, false
	}
	at, places := len(text), int64(0)
	for rest := max(n, -n); rest > 0 || places <= scale; places++ {
		if places == scale && scale > 0 {
			at--
			text[at] = '.'
		}
		at--
		text[at] = byte('0' + rest%10)
		rest /= 10
	}
	if places-scale > limits.integer {
		return dst, false
	}
	if n < 0 {
		at--
		text[at] = '-'
	}
	return appendString(dst, textOf(text[at:])), true
}
