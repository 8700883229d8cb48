package rowproto

import (
	"fmt"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// CompilePlain is [Compile] for a table that takes plain rows: it needs no primary
// key, and its rows carry neither change type nor sequence. AppendPlain encodes
// them; the methods that need a key are not for such a plan.
func CompilePlain(t *table.Table) (*Plan, error) {
	p := &Plan{table: t, name: t.Name.String(), plain: true}
	if err := p.compile(t); err != nil {
		return nil, fmt.Errorf("compiling the schema of %s: %w", p.name, err)
	}
	p.encoders.New = func() any { return p.NewEncoder() }
	return p, nil
}

// AppendPlain appends the row without _CHANGE_TYPE and _CHANGE_SEQUENCE_NUMBER: to
// be appended to the table as it is. The error is a *ValueError; dst is then
// returned as it was.
func (e *Encoder) AppendPlain(dst []byte, row []change.Column) ([]byte, error) {
	e.adjusted, e.ignoreUnknown = e.adjusted[:0], false
	out, err := e.appendRow(dst, row, RowOptions{})
	if err != nil {
		err.Table = e.plan.name
		return dst, err
	}
	return out, nil
}
