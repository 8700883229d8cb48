package rowproto

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"

	"github.com/go-json-experiment/json/jsontext"
)

// maxNesting is BigQuery's limit for JSON.
// https://cloud.google.com/bigquery/docs/json-data#limitations
const maxNesting = 500

// appendJSON appends a JSON document byte for byte as the source wrote it. A
// text is a document, typed or not: "null" is JSON's null, where SQL's NULL is
// no document at all. A typed value of another kind is written as JSON.
//
// What BigQuery would change without a word is a bad value: an integer beyond 64
// bits, a typed decimal with more digits than a double keeps, and the first of
// two members of one name. A number that the source wrote with a point or an
// exponent is what FLOAT64 makes of it, the nearest double, and stays as it is.
// `bad_values: string` stores a text that is no such document as a JSON string,
// and of a typed value what JSON has no number for.
func appendJSON(e *Encoder, f *field, dst []byte, v *change.Value) ([]byte, *ValueError) {
	var text string
	quoted := false
	switch v.Kind() {
	case change.KindText, change.KindString, change.KindJSON, change.KindRaw, change.KindNumber:
		text = v.Text()
	default:
		document, err := e.appendDocument(e.text[:0], v, exactNumbers)
		if err != nil && err.Reason == ReasonBadValue && f.policy == table.PolicyString {
			quoted = true
			document, err = e.appendDocument(document[:0], v, quotedNumbers)
		}
		e.text = document
		if err != nil {
			return dst, err
		}
		text = textOf(document)
	}
	problem := checkDocument(text)
	if problem == "" {
		problem = checkNumbers(text)
	}
	if problem != "" && (f.policy != table.PolicyString || !utf8.ValidString(text)) {
		return dst, bad("%s", problem)
	}
	if problem != "" || quoted {
		e.adjust(f)
	}
	if problem == "" {
		return appendString(dst, text), nil
	}
	start := len(dst)
	dst, _ = jsontext.AppendQuote(openLength(dst), text)
	return closeLength(dst, start), nil
}

// checkDocument returns why a text is no JSON document, or "".
func checkDocument(text string) (problem string) {
	if jsontext.Value(bytesOf(text)).IsValid() {
		return ""
	}
	if jsontext.Value(bytesOf(text)).IsValid(jsontext.AllowDuplicateNames(true)) {
		return "the JSON document has two members of one name in an object, and BigQuery would drop the second"
	}
	return "the text is no JSON document"
}

// checkNumbers walks a valid document for what BigQuery can't hold.
func checkNumbers(text string) (problem string) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			if depth++; depth > maxNesting {
				return "the JSON document is nested more than 500 deep"
			}
		case '}', ']':
			depth--
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			start := i
			for i+1 < len(text) && strings.IndexByte("0123456789.eE+-", text[i+1]) >= 0 {
				i++
			}
			if problem := checkNumber(text[start : i+1]); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// endOfString returns the index of the quote that closes the string opened at start.
func endOfString(text string, start int) int {
	for i := start + 1; ; i++ {
		j := strings.IndexByte(text[i:], '"')
		i += j
		slashes := 0
		for text[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// checkNumber says whether BigQuery keeps the number: as an INT64, a UINT64 or,
// with a point or an exponent, as the nearest FLOAT64.
func checkNumber(text string) (problem string) {
	switch {
	case len(text) <= 15 && strings.IndexByte(text, 'e') < 0 && strings.IndexByte(text, 'E') < 0:
		return ""
	case strings.ContainsAny(text, ".eE"):
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return "the JSON document has a number beyond a double's range"
		}
		return ""
	}
	d, _ := parseDecimal(text)
	if d.negative {
		if _, side := d.int64(); side == 0 {
			return ""
		}
	} else if _, fits := d.uint64(); fits {
		return ""
	}
	return "the JSON document has an integer beyond 64 bits, which BigQuery would make a floating-point number"
}
