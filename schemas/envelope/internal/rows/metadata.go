package rows

import "beamcdc/schemas/envelope/internal/outcome"

// Metadata reads the object that says of a message's row what happened to it, and
// notes its members in the outline. m tells where the member of a name goes, nil for
// nowhere.
func (r *Rows) Metadata(m interface{ Field(name string) *string }) {
	s := r.scan
	if !s.Object() {
		r.Fail(outcome.BadEnvelope, "metadata is no object")
		return
	}
	for {
		name, more := s.Member()
		if !more {
			return
		}
		s.Outline.Metadata.Note(name, s.Peek())
		if field := m.Field(name); field != nil {
			*field = s.Scalar()
		} else {
			s.Skip()
		}
	}
}
