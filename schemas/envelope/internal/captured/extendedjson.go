package captured

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/scan"
)

// extended returns the value of a field in MongoDB's Extended JSON: version 1 in
// its strict mode, and version 2, relaxed and canonical.
//
//	$numberInt, $numberLong, $numberDouble, $numberDecimal  the number, digit for digit
//	$oid, $uuid, $symbol   text
//	$date                  TIMESTAMP, of milliseconds
//	$binary                BYTES, whatever its subtype
//	$undefined             NULL
//
// Any other object is a document, and stays the JSON text that it is, as an
// array does: what is inside of them is for the destination's column.
func (r *Reader) extended(raw string) (change.Value, error) {
	if raw[0] != '{' || !strings.HasPrefix(scan.TrimSpace(raw[1:]), `"$`) {
		return r.Scan.Arena.Untyped(raw)
	}
	var name, value string
	n := 0
	scan.EachMember(raw, func(quoted, v string) bool {
		if n++; n == 1 {
			name, value = quoted, v
		}
		return true
	})
	if n > 1 && (name != `"$binary"` || n > 2) {
		return change.Raw(raw), nil
	}
	switch name {
	case `"$date"`:
		return r.extendedDate(value)
	case `"$binary"`:
		return r.extendedBinary(value)
	case `"$undefined"`:
		return change.Null(), nil
	}
	if value[0] != '"' {
		return change.Raw(raw), nil
	}
	text, err := r.Scan.Arena.Unquote(value)
	if err != nil {
		return change.Value{}, err
	}
	switch name {
	case `"$oid"`, `"$uuid"`, `"$symbol"`:
		return change.Text(text), nil
	case `"$numberInt"`, `"$numberLong"`, `"$numberDouble"`, `"$numberDecimal"`:
		return extendedNumber(text)
	}
	return change.Raw(raw), nil
}

func extendedNumber(text string) (change.Value, error) {
	switch text {
	case "NaN", "Infinity", "-Infinity":
		return change.Decimal(text), nil
	}
	if text == "" || (text[0] != '-' && (text[0] < '0' || text[0] > '9')) || !jsontext.Value(text).IsValid() {
		return change.Value{}, errors.New("it is no number of Extended JSON")
	}
	return change.Number(text), nil
}

// extendedDate reads milliseconds, or {"$numberLong": "milliseconds"}, or a text.
func (r *Reader) extendedDate(value string) (change.Value, error) {
	if value[0] == '{' {
		scan.EachMember(value, func(_, v string) bool { value = v; return false })
	}
	text := value
	if value[0] == '"' {
		var err error
		if text, err = r.Scan.Arena.Unquote(value); err != nil {
			return change.Value{}, err
		}
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case ms > math.MaxInt64/1000:
			return change.Timestamp(math.MaxInt64), nil
		case ms < math.MinInt64/1000:
			return change.Timestamp(math.MinInt64), nil
		}
		return change.Timestamp(ms * 1000), nil
	}
	t, _, err := connect.ParseTimestamp(text)
	if err != nil {
		return change.Value{}, errors.New("it is no date of Extended JSON")
	}
	return change.Timestamp(t), nil
}

// extendedBinary reads base64, or {"base64": "…", "subType": "00"}.
func (r *Reader) extendedBinary(value string) (change.Value, error) {
	if value[0] == '{' {
		object := value
		value = `""`
		scan.EachMember(object, func(name, v string) bool {
			if name == `"base64"` {
				value = v
			}
			return true
		})
	}
	if value[0] != '"' {
		return change.Value{}, errors.New("it is no binary of Extended JSON")
	}
	text, err := r.Scan.Arena.Unquote(value)
	if err != nil {
		return change.Value{}, err
	}
	b, err := base64.StdEncoding.AppendDecode(r.Scan.Arena.Reserve(base64.StdEncoding.DecodedLen(len(text))), []byte(text))
	if err != nil {
		return change.Value{}, errors.New("it is no binary of Extended JSON")
	}
	return change.Bytes(r.Scan.Arena.Keep(b)), nil
}
