package engine

import (
	"errors"
	"strings"
)

// maxSections and maxSectionDigits bound a _CHANGE_SEQUENCE_NUMBER
// (docs: "_CHANGE_SEQUENCE_NUMBER format").
const (
	maxSections      = 4
	maxSectionDigits = 16
)

// Sequence is a _CHANGE_SEQUENCE_NUMBER: up to four unsigned 64-bit sections,
// compared one by one as numbers. The zero sequence is a row's that has none.
//
// Where the sections that one has are those of the other, the one with fewer is
// the earlier: BigQuery doesn't document how "FFF" ranks against "FFF/0". A row
// without a sequence is earlier than any with one: BigQuery calls that order
// unpredictable.
type Sequence struct {
	sections [maxSections]uint64
	count    uint8
}

var errSequence = errors.New("it must be 1 to 4 sections of 1 to 16 hexadecimal digits, separated by /")

// ParseSequence reads a _CHANGE_SEQUENCE_NUMBER. Its error is the reason without the text.
func ParseSequence(text string) (Sequence, error) {
	var s Sequence
	for rest, more := text, true; more; {
		var section string
		section, rest, more = strings.Cut(rest, "/")
		if s.count == maxSections || section == "" || len(section) > maxSectionDigits {
			return Sequence{}, errSequence
		}
		var n uint64
		for _, digit := range []byte(section) {
			switch {
			case '0' <= digit && digit <= '9':
				digit -= '0'
			case 'a' <= digit && digit <= 'f':
				digit -= 'a' - 10
			case 'A' <= digit && digit <= 'F':
				digit -= 'A' - 10
			default:
				return Sequence{}, errSequence
			}
			n = n<<4 | uint64(digit)
		}
		s.sections[s.count] = n
		s.count++
	}
	return s, nil
}
