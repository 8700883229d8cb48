package change

import "fmt"

// RevisionBits is how many bits a revision takes in a sequence: six hexadecimal digits.
const RevisionBits = 24

// MaxRevision is the highest revision.
const MaxRevision = 1<<RevisionBits - 1

// MaxRevisedEpoch is the highest first section of a sequence that a revision fits below.
const MaxRevisedEpoch = 1<<(64-RevisionBits) - 1

// WithRevision returns the sequence with a revision below its last section: the
// number that the sections make, laid end to end, is shifted to the left by
// RevisionBits. Sequences keep their order and their number of sections, and of one
// sequence the higher revision is later:
//
//	0/16B3748/16B3748/1 in revision 2 is 0/16B3748000000/16B3748000000/1000002
//
// All rows of a table must have one, or none. Begun with late, they win over the
// rows from before, since they are higher numbers.
//
// A row that is written again with more of its columns known has the position of its
// last change as before. Equal sequences would leave to the order of ingestion which
// of the two stays, and that to whichever worker was faster.
//
// It is an error that the first section, the epoch, is above MaxRevisedEpoch, or the
// revision above MaxRevision.
func (s Sequence) WithRevision(revision uint32) (Sequence, error) {
	switch {
	case s.count == 0:
		return s, nil
	case s.sections[0] > MaxRevisedEpoch:
		return s, fmt.Errorf("the sequence's first section, %X, is above %X: it leaves no room for a revision", s.sections[0], uint64(MaxRevisedEpoch))
	case revision > MaxRevision:
		return s, fmt.Errorf("revision %d of a row is above %d", revision, MaxRevision)
	}
	revised := Sequence{count: s.count}
	low := uint64(revision)
	for i := int(s.count) - 1; i >= 0; i-- {
		revised.sections[i] = s.sections[i]<<RevisionBits | low
		low = s.sections[i] >> (64 - RevisionBits)
	}
	return revised, nil
}
