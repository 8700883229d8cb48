package captured

import (
	"strings"

	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// Unwrap begins the reading of {"schema": {…}, "payload": {…}}: it returns the
// schema and leaves the Scanner in front of the payload. A schema that was used
// not long ago it knows by its bytes, and scans nothing but the payload. It
// returns false when the message is anything else, or something is wrong with
// it; then nothing is known.
func (r *Reader) Unwrap(text string) (*connect.Schema, bool) {
	rest, ok := cutName(scan.TrimSpace(text), '{', `"schema"`)
	if !ok {
		return nil, false
	}
	schema, n := r.schemas.Prefix(rest)
	if n == 0 {
		var err error
		if n, err = r.Scan.ResetPrefix(rest); err != nil || rest[0] != '{' {
			return nil, false
		}
		if schema, err = r.schemas.Schema(rest[:n]); err != nil {
			return nil, false
		}
	}
	rest, ok = cutName(scan.TrimSpace(rest[n:]), ',', `"payload"`)
	if !ok || rest == "" || rest[0] != '{' {
		return nil, false
	}
	n, err := r.Scan.ResetPrefix(rest)
	if err != nil {
		return nil, false // the error is found again, with its place in the whole message
	}
	if rest = scan.TrimSpace(rest[n:]); rest == "" || rest[0] != '}' || scan.TrimSpace(rest[1:]) != "" {
		return nil, false
	}
	r.Reset()
	r.Scan.Outline.Top.Note("schema", '{')
	r.Scan.Outline.Top.Note("payload", '{')
	return schema, true
}

// Wrapped returns the schema and the payload of {"schema": …, "payload": {…}},
// its members in either order; any other object is its own payload, and has no
// schema. The text is one that a Scanner has returned.
func (r *Reader) Wrapped(text string) (schema *connect.Schema, payload string, err error) {
	schemaText, payloadText, ok := Halves(text)
	if !ok || payloadText[0] != '{' {
		return nil, text, nil
	}
	if schema, err = r.schemas.Schema(schemaText); err != nil {
		return nil, "", outcome.Errorf(outcome.BadSchema, "%w", err)
	}
	return schema, payloadText, nil
}

// Halves returns the two members of {"schema": …, "payload": …}, in either
// order; false for an object with other members, or of which one is neither an
// object nor null. The text is one that a Scanner has returned.
func Halves(text string) (schema, payload string, ok bool) {
	if text = scan.TrimSpace(text); text[0] != '{' {
		return "", "", false
	}
	if first := scan.TrimSpace(text[1:]); !strings.HasPrefix(first, `"schema"`) && !strings.HasPrefix(first, `"payload"`) {
		return "", "", false
	}
	n := 0
	scan.EachMember(text, func(name, value string) bool {
		n++
		isHalf := value[0] == '{' || value[0] == 'n'
		switch {
		case name == `"schema"` && isHalf:
			schema = value
		case name == `"payload"` && isHalf:
			payload = value
		}
		return n <= 2
	})
	return schema, payload, n == 2 && schema != "" && payload != ""
}

// Schema returns the compiled schema of a message's JSON.
func (r *Reader) Schema(raw string) (*connect.Schema, error) { return r.schemas.Schema(raw) }

// cutName cuts a delimiter, a member's quoted name and the colon from the
// beginning of text.
func cutName(text string, delimiter byte, quoted string) (rest string, ok bool) {
	if text == "" || text[0] != delimiter {
		return "", false
	}
	if rest, ok = strings.CutPrefix(scan.TrimSpace(text[1:]), quoted); !ok {
		return "", false
	}
	if rest = scan.TrimSpace(rest); rest == "" || rest[0] != ':' {
		return "", false
	}
	return scan.TrimSpace(rest[1:]), true
}
