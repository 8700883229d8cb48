package fill

import (
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
	source   string // the table at the source
	told     moving // its told is 0 while the old key has said nothing
	children []move // moves on from the new key, which may ask for what this one has
	rows     []chainedRow

	touched time.Time // when something came that needs it
	timer   time.Time // when the timer fires; zero where it isn't set
}

// isEmpty reports whether nothing is remembered.
func (m *moveMemory) isEmpty() bool {
	return m.told.told == 0 && len(m.children) == 0 && len(m.rows) == 0
}

// chainedRow is a row of the new key that lacks what it had under the old one.
type chainedRow struct {
	change.RowChange
	columns []string  // that it lacks
	at      time.Time // when it came
	emitted bool
	minor   uint32 // of its revision
	hash    uint64
	owed    uint32 // changes that no row was made for since they came
}

// completed is what a move made.
type completed struct {
	rows    []change.RowChange
	letters []held // rows that can't be completed

	joined   int64 // changes that have no row of their own
	repeated int64 // rows that no change has come for
	overflow int64 // rows that there was no room for
}

// moves are those of one table.
type moves interface {
	get(id move) (*moveMemory, error) // an empty one where none is remembered
	put(id move, m *moveMemory) error
}

// hear takes what a row had that moved, and makes the rows that can be made now.
func hear(all moves, t moving, now time.Time) (made completed, err error) {
	m, err := all.get(t.move)
	if err != nil || t.told <= m.told.told {
		return made, err
	}
	m.source, m.told, m.touched = t.source, t, now
	if err := all.put(t.move, m); err != nil {
		return made, err
	}
	if t.parent != "" {
		parent, err := all.get(t.parent)
		if err != nil {
			return made, err
		}
		if !slices.Contains(parent.children, t.move) {
			parent.source, parent.touched = t.source, now
			parent.children = append(parent.children, t.move)
			if err := all.put(t.parent, parent); err != nil {
				return made, err
			}
		}
	}
	seen := map[move]bool{}
	for next := []move{t.move}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		m, err := all.get(next[0])
		if err != nil {
			return made, err
		}
		if err := made.complete(all, next[0], m); err != nil {
			return made, err
		}
		next = append(next, m.children...)
	}
	return made, nil
}

// wait takes a row that lacks what it had under another key, and makes it if that is
// known.
func wait(all moves, w waitingRow, s *settings, now time.Time) (made completed, err error) {
	m, err := all.get(w.from)
	if err != nil {
		return made, err
	}
	m.source, m.touched = w.Event.Table, now
	row := chainedRow{RowChange: w.RowChange, columns: w.columns, at: now, owed: 1}
	at := slices.IndexFunc(m.rows, func(o chainedRow) bool { return row.compare(&o) >= 0 })
	switch {
	case at < 0:
		m.rows = append(m.rows, row)
	case row.compare(&m.rows[at]) == 0: // the same, whose changes came again
		if m.rows[at].emitted {
			row.emitted, row.minor, row.hash = true, m.rows[at].minor, m.rows[at].hash
		}
		if m.rows[at].owed > 0 { // it may wait though it was made: what it lacks is unknown again
			row.Receipts = append(slices.Clip(row.Receipts), m.rows[at].Receipts...)
			row.owed += m.rows[at].owed
			row.at = m.rows[at].at
		}
		m.rows[at] = row
	default:
		m.rows = slices.Insert(m.rows, at, row)
	}
	if err := made.complete(all, w.from, m); err != nil {
		return made, err
	}
	if letters := m.shrink(s.MaxBytes); len(letters) > 0 {
		made.overflow = int64(len(letters))
		made.letters = append(made.letters, letters...)
		err = all.put(w.from, m)
	}
	return made, err
}

// shrink gives up the earliest rows that wait until the others have no more than most
// bytes, but for the latest.
func (m *moveMemory) shrink(most int64) (letters []held) {
	size := int64(0)
	for i := range m.rows {
		size += sizeOf(m.rows[i].Columns)
		if i == 0 || size <= most {
			continue
		}
		for j := len(m.rows) - 1; j >= i; j-- {
			if r := &m.rows[j]; r.owed > 0 {
				letters = append(letters, r.held())
			}
		}
		clear(m.rows[i:])
		m.rows = m.rows[:i]
		break
	}
	return letters
}

// held is the dead letter of a row that waits, and of the changes that wait with it.
func (r *chainedRow) held() held {
	return held{RowChange: r.RowChange, columns: r.columns, joined: int64(r.owed) - 1}
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
func (c *completed) complete(all moves, id move, m *moveMemory) error {
	for i := range m.rows {
		r := &m.rows[i]
		columns, missing, err := fillIn(all, id, r)
		if err != nil {
			return err
		}
		if missing {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write(change.AppendColumns(nil, columns)) // never fails
		hash := h.Sum64()
		below := m.rows[i+1:]
		receipts, owed := r.Receipts, r.owed
		for j := range below {
			receipts = append(slices.Clip(receipts), below[j].Receipts...)
			owed += below[j].owed
		}
		if r.emitted && r.hash == hash && owed == 0 {
			return all.put(id, m)
		}
		m.rows = m.rows[:i+1]
		if owed == 0 {
			c.repeated++
		} else {
			c.joined += int64(owed) - 1
		}
		if r.emitted && r.hash != hash {
			if r.minor == maxCompletions {
				// The table keeps it as it was made last.
				c.letters = append(c.letters, held{RowChange: r.RowChange, columns: r.columns, again: true})
				c.letters[len(c.letters)-1].Receipts = receipts
				r.hash, r.owed, r.Receipts = hash, 0, nil
				return all.put(id, m)
			}
			r.minor++
		}
		of := r.RowChange
		of.Columns, of.Receipts = columns, receipts
		of.Revision |= r.minor
		of.Event.AbsentUnavailable = false // no more is known
		// It is made again when more of what it had is known. Until then the table has
		// it: its message is not needed.
		r.emitted, r.hash, r.owed, r.Receipts, r.Cause, r.Event.Message.Data = true, hash, 0, nil, change.Message{}, nil
		c.rows = append(c.rows, of)
		return all.put(id, m)
	}
	return all.put(id, m)
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

// touch keeps a move, and those that it asks, from being forgotten while rows need
// them. It writes seldom: keep_for is about hours.
func touch(all moves, id move, keepFor time.Duration, now time.Time) error {
	seen := map[move]bool{}
	for id != "" && !seen[id] {
		seen[id] = true
		m, err := all.get(id)
		if err != nil || m.isEmpty() {
			return err
		}
		if now.Sub(m.touched) > keepFor/4 {
			m.touched = now
			if err := all.put(id, m); err != nil {
				return err
			}
		}
		id = m.told.parent
	}
	return nil
}

// expire takes the rows that have waited for too long, and forgets the move when
// nothing has needed it for too long.
func (m *moveMemory) expire(s *settings, now time.Time) (letters []held, forget bool) {
	kept := m.rows[:0]
	for _, r := range m.rows {
		if r.owed > 0 && !r.at.Add(s.HoldFor).After(now) {
			letters = append(letters, r.held())
			if !r.emitted {
				continue
			}
			r.owed, r.Receipts = 0, nil // the table has it as it was made the last time
		}
		kept = append(kept, r)
	}
	clear(m.rows[len(kept):])
	m.rows = kept
	waits := slices.ContainsFunc(m.rows, func(r chainedRow) bool { return r.owed > 0 })
	return letters, !waits && s.KeepFor > 0 && !m.touched.Add(s.KeepFor).After(now)
}

// due returns when expire has something to do, zero for never.
func (m *moveMemory) due(s *settings) (at time.Time) {
	for i := range m.rows {
		if r := &m.rows[i]; r.owed > 0 && (at.IsZero() || r.at.Add(s.HoldFor).Before(at)) {
			at = r.at.Add(s.HoldFor)
		}
	}
	if at.IsZero() && s.KeepFor > 0 && !m.isEmpty() {
		return m.touched.Add(s.KeepFor)
	}
	return at
}
