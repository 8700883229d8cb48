// Package scan reads a message's JSON: it is checked, once, and what is known to be
// JSON is then walked over, member by member. Values come out as substrings of the
// message.
package scan

import (
	"bytes"
	"errors"
	"io"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/slab"
)

// Scanner reads JSON values one after the other. It refuses what RFC 7493
// refuses, repeated names and text that isn't UTF-8, and nesting deeper than
// jsontext's 10,000. Its zero value is ready to be Reset.
type Scanner struct {
	Cursor
	// Arena gives the memory of names and texts that had to be unescaped.
	Arena slab.Arena
	// Outline is what the message's members told of its format.
	Outline Outline

	check   checker
	dec     jsontext.Decoder
	buf     bytes.Buffer
	trusted string
}

// Trust makes Reset take a text, this very string, without checking it: one that
// was written as JSON a moment ago. It holds until the next.
func (s *Scanner) Trust(text string) { s.trusted = text }

// Reset checks that text is one JSON value, and makes the Scanner walk over it.
// The text must not change while it does: what it returns are substrings of it.
// The error is an *outcome.Error.
func (s *Scanner) Reset(text string) error {
	n, err := s.ResetPrefix(text)
	if err != nil {
		return err
	}
	if rest := TrimSpace(text[n:]); rest != "" {
		return outcome.Errorf(outcome.BadJSON, "reading JSON: there is more after the value, at byte %d", len(text)-len(rest))
	}
	return nil
}

// ResetPrefix does the same of a text that only begins with a JSON value. It
// returns how long that is.
func (s *Scanner) ResetPrefix(text string) (int, error) {
	if text != "" && len(text) == len(s.trusted) && unsafe.StringData(text) == unsafe.StringData(s.trusted) {
		s.Walk(text)
		return len(text), nil
	}
	if n, tape, ok := s.check.value(text); ok {
		s.Cursor = Cursor{text: text[:n], tape: tape}
		return n, nil
	}
	// What is wrong is for jsontext to say. It reads a bytes.Buffer in place and
	// doesn't write to it.
	s.buf = *bytes.NewBuffer(unsafe.Slice(unsafe.StringData(text), len(text)))
	s.dec.Reset(&s.buf)
	if _, err := s.dec.ReadValue(); err != nil {
		return 0, badJSON(err)
	}
	n := int(s.dec.InputOffset())
	s.Walk(text[:n])
	return n, nil
}

// badJSON keeps jsontext's words, which name the offset and the member. It cuts
// them where a hostile name makes them long.
func badJSON(err error) error {
	const limit = 300
	if errors.Is(err, io.EOF) {
		err = errors.New("there is none")
	}
	if text := err.Error(); len(text) > limit {
		err = errors.New(text[:limit] + "…")
	}
	return outcome.Errorf(outcome.BadJSON, "reading JSON: %w", err)
}

// Member returns the name of an object's next member. At the object's end it
// leaves the object and returns false.
func (s *Scanner) Member() (name string, more bool) {
	if s.Peek() != '"' {
		s.bracket()
		return "", false
	}
	return s.Unquote(s.Value()), true
}

// Scalar returns the next value: a string's content, another value as it is
// written; null is "".
func (s *Scanner) Scalar() string {
	raw := s.Value()
	switch raw[0] {
	case '"':
		return s.Unquote(raw)
	case 'n':
		return ""
	}
	return raw
}

// Unquote returns the content of the string that Value has just returned.
func (s *Scanner) Unquote(raw string) string {
	if !s.escaped {
		return raw[1 : len(raw)-1]
	}
	text, err := s.Arena.Unquote(raw)
	if err != nil {
		panic("scan: a string that jsontext took can't be unescaped: " + err.Error())
	}
	return text
}
