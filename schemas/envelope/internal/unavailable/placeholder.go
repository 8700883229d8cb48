// Package unavailable recognizes the placeholder that Debezium writes for a
// value that its source left out because it is unchanged: PostgreSQL's TOAST,
// Oracle's LOBs. Its shape depends on the column's type.
package unavailable

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/envelope/internal/scan"
)

// Placeholder is one text in all its shapes (PostgreSQL's connector makes them
// in UnchangedToastedPlaceholder).
type Placeholder struct {
	texts   []string // JSON strings with their quotes: the text, its base64, its hex, a map of JSON
	escaped bool     // the text may be written with escapes
	text    string
	uuid    string // the only element of a uuid[]
	codes   string // int[], bigint[], date[]: the text's bytes, without white space
	mapping string // hstore: the text as key and value, without white space
	code    string // the first of the codes
	longest int    // more than these bytes are no array of codes and no mapping
}

// New returns the placeholder of a text. As for Debezium, what begins with
// "hex:" is the hexadecimal form of the bytes.
func New(text string) (*Placeholder, error) {
	if digits, ok := strings.CutPrefix(text, "hex:"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, fmt.Errorf("reading the hexadecimal unavailable_placeholder: %w", err)
		}
		text = string(b)
	}
	if text == "" {
		return nil, fmt.Errorf("the unavailable_placeholder is empty")
	}
	quoted := quote(text)
	mapping := "{" + quoted + ":" + quoted + "}"
	p := &Placeholder{
		texts: []string{
			quoted,
			quote(base64.StdEncoding.EncodeToString([]byte(text))),
			quote(base64.URLEncoding.EncodeToString([]byte(text))),
			quote(hex.EncodeToString([]byte(text))),
			quote(mapping),
		},
		escaped: quoted[1:len(quoted)-1] != text || !isPlain(text),
		text:    text,
		uuid:    quote(nameUUID(text)),
		codes:   codes(text),
		mapping: compact(mapping),
	}
	p.code, _, _ = strings.Cut(p.codes[1:len(p.codes)-1], ",")
	p.longest = 8 * (len(p.codes) + len(p.mapping))
	return p, nil
}

func quote(text string) string {
	b, _ := jsontext.AppendQuote(nil, text) // what is no UTF-8 is replaced, as Java does
	return string(b)
}

// isPlain reports whether no writer of JSON escapes any of the text's characters.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 0x80, c == '/', c == '<', c == '>', c == '&', c == '\'':
			return false
		}
	}
	return true
}

// nameUUID is Java's UUID.nameUUIDFromBytes.
func nameUUID(text string) string {
	sum := md5.Sum([]byte(text))
	sum[6] = sum[6]&0x0F | 0x30
	sum[8] = sum[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
}

// codes is the array of the text's bytes, which Java takes for signed.
func codes(text string) string {
	b := []byte{'['}
	for i := range len(text) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(int8(text[i])), 10)
	}
	return string(append(b, ']'))
}

// compact cuts white space everywhere, inside of strings too.
func compact(text string) string {
	return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(text)
}

// Matches reports whether a JSON value is the placeholder in one of its shapes.
func (p *Placeholder) Matches(raw string) bool {
	switch raw[0] {
	case '"':
		return p.matchesText(raw)
	case '[':
		return len(raw) > 2 && p.matchesArray(raw)
	case '{':
		return len(raw) <= p.longest && strings.Contains(raw, p.texts[0][:2]) && compact(raw) == p.mapping
	}
	return false
}

func (p *Placeholder) matchesText(raw string) bool {
	if slices.Contains(p.texts, raw) {
		return true
	}
	if !p.escaped || len(raw) > 6*len(p.text)+2 || !strings.Contains(raw, `\`) {
		return false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return err == nil && string(b) == p.text
}

// matchesArray reports whether all elements are the placeholder, or all of them
// together its bytes.
func (p *Placeholder) matchesArray(raw string) bool {
	first := scan.TrimSpace(raw[1:])
	switch {
	case first[0] == '"':
		matches := false
		scan.EachElement(raw, func(element string) bool {
			matches = element[0] == '"' && (element == p.uuid || p.matchesText(element))
			return matches
		})
		return matches
	case strings.HasPrefix(first, p.code):
		return len(raw) <= p.longest && compact(raw) == p.codes
	}
	return false
}
