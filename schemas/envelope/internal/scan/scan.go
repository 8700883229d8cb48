// Package scan reads a message's JSON once, member by member. Values come out
// as substrings of the message.
package scan

import (
	"bytes"
	"errors"
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
}

// Reset makes the Scanner read text, which must not change while it does. The
// substrings that it returns are text's.
func (s *Scanner) Reset(text string) {
	s.text = text
	// The decoder reads a bytes.Buffer in place and doesn't write to it.
	s.buf = *bytes.NewBuffer(unsafe.Slice(unsafe.StringData(text), len(text)))
	s.dec.Reset(&s.buf)
}

// Peek returns the kind of the next token: '{', '}', '[', ']', '"', '0', 't',
// 'f', 'n', or 0 at an error or the end.
func (s *Scanner) Peek() jsontext.Kind { return s.dec.PeekKind() }

// Object begins to read an object. It returns false for any other value, which
// it reads and forgets.
func (s *Scanner) Object() (bool, error) {
	if s.Peek() != '{' {
		return false, s.Skip()
	}
	return true, s.delimiter()
}

// Member reads the name of an object's next member. At the object's end it
// reads that and returns false.
func (s *Scanner) Member() (name string, more bool, err error) {
	if s.Peek() != '"' {
		return "", false, s.delimiter()
	}
	raw, err := s.Value()
	if err != nil {
		return "", false, err
	}
	name, err = s.Arena.Unquote(raw)
	return name, err == nil, err
}

// delimiter reads a '{' or '}'; anything else is an error that the decoder knows.
func (s *Scanner) delimiter() error {
	if _, err := s.dec.ReadToken(); err != nil {
		return badJSON(err)
	}
	return nil
}

// Value reads the next value and returns it byte for byte.
func (s *Scanner) Value() (string, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return "", badJSON(err)
	}
	end := int(s.dec.InputOffset())
	return s.text[end-len(v) : end], nil
}

// Scalar reads a string's content, or another value as it is written; null is "".
func (s *Scanner) Scalar() (string, error) {
	raw, err := s.Value()
	if err != nil {
		return "", err
	}
	switch raw[0] {
	case '"':
		return s.Arena.Unquote(raw)
	case 'n':
		return "", nil
	}
	return raw, nil
}

// Skip reads the next value and forgets it.
func (s *Scanner) Skip() error {
	if err := s.dec.SkipValue(); err != nil {
		return badJSON(err)
	}
	return nil
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
