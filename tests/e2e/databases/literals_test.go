package databases

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// literal makes a random value as SQL text.
type literal = func(r *rand.Rand) string

// orNull makes NULL now and then.
func orNull(f literal) literal {
	return func(r *rand.Rand) string {
		if r.IntN(6) == 0 {
			return "NULL"
		}
		return f(r)
	}
}

// oneOf chooses among literals.
func oneOf(literals ...string) literal {
	return func(r *rand.Rand) string { return literals[r.IntN(len(literals))] }
}

// either chooses between the extremes, now and then, and a usual value.
func either(usual literal, extremes ...string) literal {
	return func(r *rand.Rand) string {
		if r.IntN(4) == 0 {
			return extremes[r.IntN(len(extremes))]
		}
		return usual(r)
	}
}

// between makes integers from low to high, inclusive.
func between(low, high int64) literal {
	return func(r *rand.Rand) string { return strconv.FormatInt(low+r.Int64N(high-low+1), 10) }
}

// decimals makes numbers of at most so many digits before and behind the point.
func decimals(before, behind int) literal {
	return func(r *rand.Rand) string {
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		b.WriteByte('0')
		for range r.IntN(before + 1) {
			b.WriteByte('0' + byte(r.IntN(10)))
		}
		if n := r.IntN(behind + 1); n > 0 {
			b.WriteByte('.')
			for range n {
				b.WriteByte('0' + byte(r.IntN(10)))
			}
		}
		return b.String()
	}
}

// quoteSQL writes a text as a literal. Neither database is told to read backslashes
// in it as escapes.
func quoteSQL(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

var alphabet = []rune("abcdefghijklmnop XYZ0123456789'\"\\/\t\n{}[]%_äß日本語🙂\u00a0")

// texts makes texts of at most so many characters.
func texts(length int) literal {
	return func(r *rand.Rand) string { return quoteSQL(randomText(r, r.IntN(length+1))) }
}

func randomText(r *rand.Rand, length int) string {
	var b strings.Builder
	for range length {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// randomHex makes the hexadecimal digits of so many bytes.
func randomHex(r *rand.Rand, bytes int) string {
	raw := make([]byte, bytes)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(raw)
}

// instants makes times from one year to another, with so many digits of a second.
func instants(from, to, digits int) literal {
	return func(r *rand.Rand) string {
		first := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		last := time.Date(to, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
		at := time.Unix(first+r.Int64N(last-first), r.Int64N(1e9)).UTC()
		layout := "2006-01-02 15:04:05"
		if digits > 0 && r.IntN(5) > 0 {
			layout += "." + strings.Repeat("0", digits)
		}
		return "'" + at.Format(layout) + "'"
	}
}

func days(from, to int) literal {
	at := instants(from, to, 0)
	return func(r *rand.Rand) string { return at(r)[:11] + "'" }
}

// clocks makes times of day.
func clocks(digits int) literal {
	at := instants(2000, 2001, digits)
	return func(r *rand.Rand) string { return "'" + at(r)[12:] }
}

// jsons makes JSON texts.
func jsons(r *rand.Rand) string {
	return quoteSQL(fmt.Sprintf(`{"zz": %d.0, "a":[1, 2.50,null, {"b": %s}], "big":9007199254740993, "n%d":true}`,
		r.IntN(100), strconv.Quote("x\u00e4y"), r.IntN(5)))
}
