// Package scan reads a message's JSON once, member by member. Values come out
// as substrings of the message.
package scan

import (
	"bytes"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/envelope/internal/outcome"
)

// Scanner reads one JSON value. Its zero value must be Reset before use. It
// refuses what RFC 7493 refuses, repeated names and text that isn't UTF-8, and
// nesting deeper than jsontext's 10,000.
type Scanner struct {
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

// Token reads a '{', '}', '[' or ']'.
func (s *Scanner) Token() error {
	if _, err := s.dec.ReadToken(); err != nil {
		return badJSON(err)
	}
	return nil
}

// Value reads the next value and returns it byte for byte. Of an object's
// members it reads the name first, in its quotes.
func (s *Scanner) Value() (string, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return "", badJSON(err)
	}
	end := int(s.dec.InputOffset())
	return s.text[end-len(v) : end], nil
}

// Skip reads the next value and forgets it.
func (s *Scanner) Skip() error {
	if err := s.dec.SkipValue(); err != nil {
		return badJSON(err)
	}
	return nil
}

// Offset returns how much of the text has been read.
func (s *Scanner) Offset() int { return int(s.dec.InputOffset()) }

// End checks that nothing but white space is left.
func (s *Scanner) End() error {
	for i := s.Offset(); i < len(s.text); i++ {
		switch s.text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return outcome.Errorf(outcome.BadJSON, "reading JSON: there is more after the value, at byte %d", i)
		}
	}
	return nil
}

// badJSON keeps jsontext's words: they name offset and member, no value.
func badJSON(err error) error { return outcome.Errorf(outcome.BadJSON, "reading JSON: %w", err) }
