package diff

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"beamcdc/schemas/change"
)

// pgValue reads the text that a type writes, and gives the value that Debezium's
// schema would give it. What has no such value is a text, as which the pipeline
// judges it.
func pgValue(t pgType, text string) change.Value {
	if t.element != "" {
		if elements, ok := pgArray(pgType{name: t.element, duration: t.duration}, text); ok {
			return change.Array(elements)
		}
		return change.String(text)
	}
	switch t.name {
	case "bool":
		return change.Bool(text == "t")
	case "int2", "int4", "int8", "oid":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return change.Int64(n)
		}
	case "numeric", "money":
		return change.Decimal(text)
	case "float4", "float8":
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return change.Float64(x)
		}
	case "bytea":
		if raw, err := hex.DecodeString(strings.TrimPrefix(text, `\x`)); err == nil {
			return change.Bytes(string(raw))
		}
	case "bit", "varbit":
		return bits(text, t.bits == 1)
	case "date":
		if micros, ok := pgTime(text, time.DateOnly); ok {
			return change.Date(floorDiv(micros, 86_400_000_000))
		}
	case "time", "timetz":
		return clock(text)
	case "timestamp":
		if micros, ok := pgTime(text, "2006-01-02 15:04:05.999999"); ok {
			return change.DateTime(micros)
		}
	case "timestamptz": // the session is in UTC
		if micros, ok := pgTime(text, "2006-01-02 15:04:05.999999+00"); ok {
			return change.Timestamp(micros)
		}
	case "json", "jsonb", "hstore":
		return change.JSON(text)
	case "point":
		x, y, ok := strings.Cut(strings.Trim(text, "()"), ",")
		if ok {
			return change.String("POINT(" + x + " " + y + ")")
		}
	case "interval":
		if micros, ok := pgDuration(text); ok && t.duration {
			return change.Interval(durationText(micros))
		}
	case "geometry", "geography": // PostGIS
		if raw, err := hex.DecodeString(text); err == nil {
			return change.Bytes(string(raw))
		}
	}
	return change.String(text)
}

// pgTime reads a time in microseconds since 1970. Infinity is the greatest or the
// least, as Debezium has it, which no column of BigQuery's holds.
func pgTime(text, layout string) (int64, bool) {
	switch text {
	case "infinity":
		return math.MaxInt64, true
	case "-infinity":
		return math.MinInt64, true
	}
	at, err := time.Parse(layout, text) // not of years beyond 9999, or before Christ
	if err != nil {
		return 0, false
	}
	return at.UnixMicro(), true
}

// clock reads a time of day. What is none is a text, as which its policy is found.
func clock(text string) change.Value {
	if at, err := time.Parse("15:04:05.999999", text); err == nil {
		return change.Time(int64(at.Hour()*3600+at.Minute()*60+at.Second())*1_000_000 + int64(at.Nanosecond()/1000))
	}
	return change.String(text)
}

// bits packs a text of ones and zeros as Debezium does: the last bit is the lowest
// of the first byte, and there are no zero bytes at the end. A single bit may be a BOOL.
func bits(text string, single bool) change.Value {
	if single {
		return change.Bool(text == "1")
	}
	packed := make([]byte, (len(text)+7)/8)
	for i := range len(text) {
		if text[len(text)-1-i] == '1' {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	return change.Bytes(strings.TrimRight(string(packed), "\x00"))
}

func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// pgArray reads an array of one dimension, {a,"b c",NULL}.
func pgArray(element pgType, text string) ([]change.Column, bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}
	rest := text[1 : len(text)-1]
	elements := []change.Column{}
	for rest != "" {
		var content strings.Builder
		quoted := rest[0] == '"'
		i := 0
		if quoted {
			for i = 1; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
				if i < len(rest) {
					content.WriteByte(rest[i])
				}
			}
			i++ // the closing quote
		} else {
			for ; i < len(rest) && rest[i] != ','; i++ {
				if rest[i] == '{' { // of another dimension
					return nil, false
				}
				content.WriteByte(rest[i])
			}
		}
		value := change.Null()
		if quoted || !strings.EqualFold(content.String(), "NULL") {
			value = pgValue(element, content.String())
		}
		elements = append(elements, change.Column{Value: value})
		if i >= len(rest) {
			return elements, true
		}
		if rest[i] != ',' {
			return nil, false
		}
		rest = rest[i+1:]
	}
	return elements, true
}
