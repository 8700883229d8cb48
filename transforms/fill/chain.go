package fill

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"beamcdc/schemas/change"
)

// A row keeps its values under a new key, and its key's memory has them under the old
// one. Keys that a row had one after the other make a chain of any length; all the
// moves of a table are in one place, so that a value is found at its other end.

// moveMemory is what is remembered of one move.
type moveMemory struct {
	told     moving // its told is 0 while the old key has said nothing
	children []move // moves on from the new key, which may ask for what this one has
	rows     []chainedRow
}

// chainedRow is a row of the new key that lacks what it had under the old one.
type chainedRow struct {
	change.RowChange
	columns []string  // that it lacks
	at      time.Time // when it came
	emitted bool
	minor   uint32 // of its revision
	hash    uint64
}

// moves are those of one table.
type moves interface {
	get(id move) (*moveMemory, error) // an empty one where none is remembered
	put(id move, m *moveMemory) error
}

// hear takes what a row had that moved, and returns the rows that can be made now.
func hear(all moves, t moving) ([]change.RowChange, error) {
	m, err := all.get(t.move)
	if err != nil || t.told <= m.told.told {
		return nil, err
	}
	m.told = t
	if err := all.put(t.move, m); err != nil {
		return nil, err
	}
	if t.parent != "" {
		parent, err := all.get(t.parent)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(parent.children, t.move) {
			parent.children = append(parent.children, t.move)
			if err := all.put(t.parent, parent); err != nil {
				return nil, err
			}
		}
	}
	var made []change.RowChange
	seen := map[move]bool{}
	for next := []move{t.move}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		m, err := all.get(next[0])
		if err != nil {
			return nil, err
		}
		rows, err := complete(all, next[0], m)
		if err != nil {
			return nil, err
		}
		made = append(made, rows...)
		next = append(next, m.children...)
	}
	return made, nil
}

// wait takes a row that lacks what it had under another key, and returns it if that
// is known.
func wait(all moves, w waitingRow, now time.Time) ([]change.RowChange, error) {
	m, err := all.get(w.from)
	if err != nil {
		return nil, err
	}
	row := chainedRow{RowChange: w.RowChange, columns: w.columns, at: now}
	at := slices.IndexFunc(m.rows, func(o chainedRow) bool { return row.compare(&o) >= 0 })
	switch {
	case at < 0:
		m.rows = append(m.rows, row)
	case row.compare(&m.rows[at]) == 0: // the same, whose changes came again
		if m.rows[at].emitted {
			row.emitted, row.minor, row.hash = true, m.rows[at].minor, m.rows[at].hash
		} else {
			row.Receipts = append(slices.Clip(row.Receipts), m.rows[at].Receipts...)
		}
		m.rows[at] = row
	default:
		m.rows = slices.Insert(m.rows, at, row)
	}
	return complete(all, w.from, m)
}

// compare orders rows of one key.
func (r *chainedRow) compare(o *chainedRow) int {
	if c := r.Event.Sequence.Compare(o.Event.Sequence); c != 0 {
		return c
	}
	return int(int64(r.Revision) - int64(o.Revision))
}

// complete makes the latest of the move's rows that can be made, if it is not as it
// was made before, and puts the move.
func complete(all moves, id move, m *moveMemory) (made []change.RowChange, err error) {
	for i := range m.rows {
		r := &m.rows[i]
		columns, missing, err := fillIn(all, id, r)
		if err != nil {
			return nil, err
		}
		if missing {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write(change.AppendColumns(nil, columns)) // never fails
		hash := h.Sum64()
		below := m.rows[i+1:]
		receipts := r.Receipts
		for j := range below {
			receipts = append(slices.Clip(receipts), below[j].Receipts...)
		}
		if r.emitted && r.hash == hash && len(receipts) == 0 {
			return nil, all.put(id, m)
		}
		if r.emitted && r.hash != hash {
			if r.minor++; r.minor >= 1<<waitingBits {
				return nil, fmt.Errorf("a row of %s was completed more than %d times by what it had under another key", r.Table, 1<<waitingBits-1)
			}
		}
		of := r.RowChange
		of.Columns, of.Receipts = columns, receipts
		of.Revision |= r.minor
		of.Event.AbsentUnavailable = false // no more is known
		// It is made again when more of what it had is known. Until then the table has
		// it: its message is not needed.
		r.emitted, r.hash, r.Receipts, r.Cause, r.Event.Message.Data = true, hash, nil, change.Message{}, nil
		m.rows = m.rows[:i+1]
		return []change.RowChange{of}, all.put(id, m)
	}
	return nil, all.put(id, m)
}

// fillIn returns the row's columns with what it had under the old key.
func fillIn(all moves, id move, r *chainedRow) (columns []change.Column, missing bool, err error) {
	columns = slices.Clone(r.Columns)
	if r.Event.AbsentUnavailable {
		if columns, err = withMoved(all, id, columns); err != nil {
			return nil, false, err
		}
	}
	for i := range columns {
		if !slices.ContainsFunc(r.columns, func(name string) bool { return strings.EqualFold(name, columns[i].Name) }) {
			continue
		}
		v, ok, err := resolve(all, id, columns[i].Name)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			return nil, true, nil
		}
		columns[i].Value = v
	}
	return columns, false, nil
}

// withMoved returns the columns with those that the row had under other keys: the source
// leaves unchanged columns out.
func withMoved(all moves, id move, columns []change.Column) ([]change.Column, error) {
	seen := map[move]bool{}
	for id != "" && !seen[id] {
		seen[id] = true
		m, err := all.get(id)
		if err != nil {
			return nil, err
		}
		for _, c := range m.told.columns {
			if _, ok := find(columns, c.Name); !ok {
				columns = append(columns, c)
			}
		}
		if m.told.whole {
			break
		}
		id = m.told.parent
	}
	return columns, nil
}

// resolve returns what a row that moved had in a column, under whichever key.
func resolve(all moves, id move, name string) (v change.Value, ok bool, err error) {
	seen := map[move]bool{}
	for id != "" && !seen[id] {
		seen[id] = true
		m, err := all.get(id)
		if err != nil || m.told.told == 0 {
			return v, false, err
		}
		v, ok := find(m.told.columns, name)
		switch {
		case ok && v.IsNull() && !m.told.partial:
			return v, false, nil // a source leaves no NULL out: a change that set it is missing
		case ok:
			return v, true, nil
		case m.told.whole:
			return change.Null(), m.told.partial, nil
		}
		id = m.told.parent
	}
	return v, false, nil
}

// expireRows takes the rows that have waited for too long.
func (m *moveMemory) expireRows(s *settings, now time.Time) (letters []held, next time.Time) {
	kept := m.rows[:0]
	for _, r := range m.rows {
		due := r.at.Add(s.HoldFor)
		switch {
		case r.emitted:
		case due.After(now):
			if next.IsZero() || due.Before(next) {
				next = due
			}
		default:
			letters = append(letters, held{RowChange: r.RowChange, columns: r.columns})
			continue
		}
		kept = append(kept, r)
	}
	m.rows = kept
	return letters, next
}
