// Package scan reads a message's JSON once, member by member. Values come out
// as substrings of the message.
package scan

import (
	"bytes"
	"errors"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/slab"
)

// Scanner reads one JSON value. It must be Reset before use. It refuses what
// RFC 7493 refuses, repeated names and text that isn't UTF-8, and nesting
// deeper than jsontext's 10,000.
type Scanner struct {
	// Arena gives the memory of names and texts that had to be unescaped.
	Arena slab.Arena
	// Outline is what the message's members told of its format.
	Outline Outline

	dec  jsontext.Decoder
	buf  bytes.Buffer
	text string
	at   int // where the token begins that Peek returned

	escape  int  // where the next backslash is; less than at when that isn't known
	escaped bool // the last token has one
}

// Reset makes the Scanner read text, which must not change while it does. The
// substrings that it returns are text's.
func (s *Scanner) Reset(text string) {
	s.text, s.escape = text, -1
	// The decoder reads a bytes.Buffer in place and doesn't write to it.
	s.buf = *bytes.NewBuffer(unsafe.Slice(unsafe.StringData(text), len(text)))
	s.dec.Reset(&s.buf)
}

// Peek returns the first byte of the next token, which tells its kind, or 0 at
// the end. It checks nothing: what is read next does.
func (s *Scanner) Peek() byte {
	for i := int(s.dec.InputOffset()); i < len(s.text); i++ {
		switch c := s.text[i]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			s.at = i
			return c
		}
	}
	s.at = len(s.text)
	return 0
}

// Object begins to read an object. It returns false for any other value, which
// it reads and forgets.
func (s *Scanner) Object() (bool, error) {
	if s.Peek() != '{' {
		return false, s.Skip()
	}
	_, err := s.token()
	return true, err
}

// Member reads the name of an object's next member. At the object's end it
// reads that and returns false.
func (s *Scanner) Member() (name string, more bool, err error) {
	more = s.Peek() == '"'
	raw, err := s.token()
	if err != nil || !more {
		return "", false, err
	}
	name, err = s.Unquote(raw)
	return name, true, err
}

// token reads a token that was peeked at and returns it byte for byte.
func (s *Scanner) token() (string, error) {
	if _, err := s.dec.ReadToken(); err != nil {
		return "", badJSON(err)
	}
	end := int(s.dec.InputOffset())
	if s.escape < s.at {
		// A token is escaped if the next backslash is in it. To keep that one's place
		// is to look at each byte of the message once, whatever the tokens.
		s.escape = len(s.text)
		if i := strings.IndexByte(s.text[s.at:], '\\'); i >= 0 {
			s.escape = s.at + i
		}
	}
	s.escaped = s.escape < end
	return s.text[s.at:end], nil
}

// Unquote returns the content of the string that Value has just returned.
func (s *Scanner) Unquote(raw string) (string, error) {
	if s.escaped {
		return s.Arena.Unquote(raw)
	}
	return raw[1 : len(raw)-1], nil
}

// Value reads the next value and returns it byte for byte.
func (s *Scanner) Value() (string, error) {
	if c := s.Peek(); c != '{' && c != '[' {
		return s.token()
	}
	if _, err := s.dec.ReadValue(); err != nil {
		return "", badJSON(err)
	}
	return s.text[s.at:s.dec.InputOffset()], nil
}

// Scalar reads a string's content, or another value as it is written; null is "".
func (s *Scanner) Scalar() (string, error) {
	raw, err := s.Value()
	if err != nil {
		return "", err
	}
	switch raw[0] {
	case '"':
		return s.Unquote(raw)
	case 'n':
		return "", nil
	}
	return raw, nil
}

// Skip reads the next value and forgets it.
func (s *Scanner) Skip() error {
	_, err := s.Value()
	return err
}

// Rest returns what has not been read yet.
func (s *Scanner) Rest() string { return s.text[s.dec.InputOffset():] }

// End checks that nothing but white space is left.
func (s *Scanner) End() error {
	if rest := TrimSpace(s.Rest()); rest != "" {
		return outcome.Errorf(outcome.BadJSON, "reading JSON: there is more after the value, at byte %d", len(s.text)-len(rest))
	}
	s.Outline.Complete = true
	return nil
}

// badJSON keeps jsontext's words, which name the offset and the member. It cuts
// them where a hostile name makes them long.
func badJSON(err error) error {
	const limit = 300
	if text := err.Error(); len(text) > limit {
		err = errors.New(text[:limit] + "…")
	}
	return outcome.Errorf(outcome.BadJSON, "reading JSON: %w", err)
}
