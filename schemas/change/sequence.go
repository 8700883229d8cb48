package change

import (
	"fmt"
	"math/bits"
	"strings"
)

// MaxSections and MaxSectionDigits are BigQuery's limits on a
// _CHANGE_SEQUENCE_NUMBER.
const (
	MaxSections      = 4
	MaxSectionDigits = 16
)

// Sequence is BigQuery's _CHANGE_SEQUENCE_NUMBER: one to four sections, each an
// unsigned 64-bit number. The zero Sequence has no section and means that there
// is none; it is no valid sequence of a CDC row.
//
// All rows of one table should have the same number of sections: BigQuery does
// not document how "FFF" ranks against "FFF/0".
type Sequence struct {
	sections [MaxSections]uint64
	count    uint8
}

// NewSequence returns the sequence with the given sections, most significant
// first. It panics unless there are one to four: the number of sections is
// written in the program, never read from input.
func NewSequence(sections ...uint64) Sequence {
	if len(sections) == 0 || len(sections) > MaxSections {
		panic(fmt.Sprintf("change.NewSequence: %d sections, want 1 to %d", len(sections), MaxSections))
	}
	var s Sequence
	s.count = uint8(copy(s.sections[:], sections))
	return s
}

// ParseSequence reads BigQuery's text form: one to four sections joined by "/",
// each of 1 to 16 hexadecimal digits of either case.
func ParseSequence(text string) (Sequence, error) {
	var s Sequence
	rest, more := text, true
	for more {
		var section string
		section, rest, more = strings.Cut(rest, "/")
		if s.count == MaxSections {
			return Sequence{}, fmt.Errorf("sequence %q has more than %d sections", clip(text), MaxSections)
		}
		n, err := parseSection(section)
		if err != nil {
			return Sequence{}, fmt.Errorf("sequence %q, section %d: %w", clip(text), s.count+1, err)
		}
		s.sections[s.count] = n
		s.count++
	}
	return s, nil
}

// parseSection is stricter than strconv.ParseUint: no sign, no prefix, no
// underscore, no blank.
func parseSection(text string) (uint64, error) {
	if text == "" {
		return 0, fmt.Errorf("it is empty")
	}
	if len(text) > MaxSectionDigits {
		return 0, fmt.Errorf("it has %d digits, more than %d", len(text), MaxSectionDigits)
	}
	var n uint64
	for i := range len(text) {
		digit := text[i]
		switch {
		case '0' <= digit && digit <= '9':
			digit -= '0'
		case 'a' <= digit && digit <= 'f':
			digit -= 'a' - 10
		case 'A' <= digit && digit <= 'F':
			digit -= 'A' - 10
		default:
			return 0, fmt.Errorf("%q is no hexadecimal digit", digit)
		}
		n = n<<4 | uint64(digit)
	}
	return n, nil
}

// clip bounds what a hostile message can put into an error.
func clip(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}

// IsZero reports whether there is no sequence.
func (s Sequence) IsZero() bool { return s.count == 0 }

// Sections returns the sections, most significant first.
func (s Sequence) Sections() []uint64 { return s.sections[:s.count:s.count] }

// Last returns the last section: the ordinal that tells a changed key's DELETE
// from its UPSERT. It is 0 for no sequence.
func (s Sequence) Last() uint64 {
	if s.count == 0 {
		return 0
	}
	return s.sections[s.count-1]
}

// WithLast returns the sequence with its last section replaced; no sequence
// stays none.
func (s Sequence) WithLast(section uint64) Sequence {
	if s.count > 0 {
		s.sections[s.count-1] = section
	}
	return s
}

// Compare returns -1, 0 or +1 as s is earlier than, equal to or later than o.
// Sections are compared one by one as unsigned numbers. Where one sequence is
// the beginning of the other the shorter is earlier.
func (s Sequence) Compare(o Sequence) int {
	for i := range min(s.count, o.count) {
		switch a, b := s.sections[i], o.sections[i]; {
		case a < b:
			return -1
		case a > b:
			return +1
		}
	}
	switch {
	case s.count < o.count:
		return -1
	case s.count > o.count:
		return +1
	}
	return 0
}

// Append appends BigQuery's text form to dst: upper case, no zero padding.
func (s Sequence) Append(dst []byte) []byte {
	for i, section := range s.Sections() {
		if i > 0 {
			dst = append(dst, '/')
		}
		const digits, digitBits = "0123456789ABCDEF", 4
		for shift := (max(bits.Len64(section), 1) - 1) &^ (digitBits - 1); shift >= 0; shift -= digitBits {
			dst = append(dst, digits[section>>shift&0xF])
		}
	}
	return dst
}

// Padded returns BigQuery's text form with each section padded to 16 digits, so that
// the texts of sequences of one length compare as they do. "" is no sequence.
func (s Sequence) Padded() string {
	sections := make([]string, s.count)
	for i, section := range s.Sections() {
		sections[i] = fmt.Sprintf("%016X", section)
	}
	return strings.Join(sections, "/")
}

// String returns BigQuery's text form, "" for no sequence.
func (s Sequence) String() string { return string(s.Append(nil)) }
