package fill

import (
	"hash/fnv"
	"slices"
	"time"

	"beamcdc/schemas/change"
)

// memory is what is remembered of one row of a table.
type memory struct {
	journal journal
	// held are changes that wait for what completes their rows, the first first. Their
	// entries have the columns; they have their messages and receipts.
	held []held

	touched time.Time // when the last change came
	timer   time.Time // when the timer fires; zero where it isn't set
}

// held is a change that waits.
type held struct {
	change.RowChange
	at      time.Time // when it came
	columns []string  // which it lacks
	again   bool      // it was made too often to be made once more: of dead letters
	joined  int64     // changes that come to rest with it: of dead letters
}

// outcome is what is to be done once a change is remembered.
type outcome struct {
	rows []change.RowChange // complete ones
	// waiting are rows that lack what they had under the key that they had before.
	waiting []waitingRow
	told    []moving // what rows that moved to other keys had
	letters []held   // changes that can't be completed

	joined int64 // changes that come to rest with the row of another

	filled bool // the row has values that were filled in
	held   bool // the change waits
	forgot bool // the row is larger than what may be remembered
}

// take remembers a change and returns what is to be done.
func (m *memory) take(c change.RowChange, s *settings, now time.Time) outcome {
	m.touched = now
	if c.Stored != nil {
		m.restore(&c, s)
	}
	e := m.remember(&c, s)
	o := m.settle(&c, e, s, now)
	m.tell(&o, &c, s)
	m.strip(s)
	o.forgot = m.journal.prune(s)
	return o
}

// remember puts the change into the journal and returns its entry.
func (m *memory) remember(c *change.RowChange, s *settings) *entry {
	event := c.Event
	event.Message.Data = nil // what it held is in the columns
	return m.journal.insert(&entry{
		sequence: event.Sequence, kind: c.Type, partial: event.Partial, movedFrom: c.MovedFrom, movedTo: c.MovedTo,
		whole:   c.Type == change.Upsert && !hasUnavailable(c.Columns) && !event.AbsentUnavailable,
		columns: c.Columns, event: &event,
	}, s)
}

func hasUnavailable(columns []change.Column) bool {
	return slices.ContainsFunc(columns, func(c change.Column) bool { return c.Value.Kind() == change.KindUnavailable })
}

// settle makes the latest row that can be made; c is the change that came, and e its
// entry. What is below that row comes to rest with it, for it holds all that they
// knew. What is above it waits.
func (m *memory) settle(c *change.RowChange, e *entry, s *settings, now time.Time) (o outcome) {
	var lacking []string // columns, of c's own row
	for i, of := range m.journal {
		if of.event == nil {
			continue
		}
		r := m.rowAt(i, s, c.Read)
		if len(r.unknown) > 0 {
			if of == e {
				lacking = r.unknown
			}
			continue
		}
		if of.sequence.Compare(e.sequence) < 0 {
			break // it was made before, and c says nothing of it
		}
		before := len(m.held)
		made := m.make(i, c, e, &r, s)
		o.joined = int64(before - len(m.held))
		if len(r.moved) > 0 || r.open {
			o.waiting = append(o.waiting, waitingRow{RowChange: made, from: moveOf(c.Table, r.from.movedFrom, c.Key, r.from.sequence), columns: r.moved})
		} else {
			o.rows = append(o.rows, made)
			o.filled = len(r.versions) > 0
		}
		return o
	}
	if len(lacking) == 0 {
		// c's own row can be made, but for rows above it that can't: c is below one
		// that was made before.
		lacking = []string{""}
	}
	waits := held{RowChange: *c, at: now, columns: lacking}
	waits.Columns, waits.Stored = nil, nil
	if s.FirstSeen == "reject" {
		o.letters = append(o.letters, waits)
	} else {
		m.held = append(m.held, waits)
		o.held = true
	}
	return o
}

// rowAt returns the row that the i-th entry makes, which has its event.
func (m *memory) rowAt(i int, s *settings, read bool) row {
	e := m.journal[i]
	switch {
	case e.kind == change.Upsert:
		return m.journal.at(i, s)
	case s.soft == nil:
		return row{columns: e.columns}
	}
	// A soft delete keeps the row as it was before, one of a row that was deleted already
	// (a tombstone after its delete) as the other did.
	for j := i + 1; j < len(m.journal); j++ {
		before := m.journal[j]
		if before.kind == change.Upsert && before.event != nil {
			r := m.journal.at(j, s)
			r.base = before
			return r
		}
	}
	switch {
	case e.event.BeforeComplete && !hasUnavailable(e.event.Before):
		return row{columns: slices.Clone(e.event.Before)}
	case read || e.emitted: // BigQuery has no such row either
		return row{columns: slices.Clone(e.columns)}
	}
	return row{unknown: []string{""}}
}

// make makes the i-th entry's row, r, because of the change c, whose entry is of.
func (m *memory) make(i int, c *change.RowChange, of *entry, r *row, s *settings) change.RowChange {
	e := m.journal[i]
	made := change.RowChange{Event: *e.event, Table: c.Table, Key: c.Key, Type: e.kind, Columns: r.columns, Receipts: c.Receipts}
	if s.soft != nil {
		made.Type = change.Upsert
		made.Columns = slices.Concat(r.columns, s.deletedColumns(e.kind == change.Delete, m.deletedAt(i)))
	}
	made.Event.AbsentUnavailable = r.open // what the journal doesn't know nobody does
	if e == of {
		made.Event.Message = c.Event.Message // with its data
	} else {
		made.Cause = c.Event.Message
	}
	// Invariant 1: what waited below this row comes to rest with it.
	waiting := m.held[:0]
	for _, h := range m.held {
		if h.Event.Sequence.Compare(e.sequence) > 0 {
			waiting = append(waiting, h)
			continue
		}
		made.Receipts = append(slices.Clip(made.Receipts), h.Receipts...)
	}
	clear(m.held[len(waiting):])
	m.held = waiting

	hash := contentOf(&made, e, r, s)
	if e.emitted && e.hash != hash {
		e.revision++
	}
	e.emitted, e.hash = true, hash
	made.Revision = e.revision << waitingBits
	if s.reads() && made.Type == change.Upsert {
		made.Columns = append(made.Columns, change.Column{Name: s.VersionsColumn, Value: change.String(versionsText(e, r))})
	}
	return made
}

// deletedAt returns when the i-th entry's row was deleted; zero where nothing tells. A
// tombstone has no commit time: its delete before it has.
func (m *memory) deletedAt(i int) time.Time {
	for _, e := range m.journal[i:] {
		if e.kind != change.Delete || e.event == nil {
			break
		}
		if !e.event.CommitTime.IsZero() {
			return e.event.CommitTime
		}
	}
	return time.Time{}
}

// waitingBits are the low bits of a revision, which tell rows apart that were
// completed by what they had under another key.
const waitingBits = 10

// maxCompletions is how often a row is completed again by what it had under another key.
const maxCompletions = 1<<waitingBits - 1

// contentOf returns a hash of what the entry's row says, and of which changes its values
// are from where the table holds that: a value may be the same as that of an earlier
// change, and still win over those between.
func contentOf(c *change.RowChange, e *entry, r *row, s *settings) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{byte(c.Type)}) // never fails
	_, _ = h.Write(change.AppendColumns(nil, c.Columns))
	if s.reads() {
		_, _ = h.Write([]byte(versionsText(&entry{sequence: e.sequence, kind: e.kind}, r)))
	}
	if r.from != nil {
		_, _ = h.Write(r.from.sequence.Append(nil))
	}
	return h.Sum64()
}

// strip forgets what no row will be made from again.
func (m *memory) strip(s *settings) {
	emitted := false       // the latest entry that is
	based := s.soft == nil // what the delete above keeps is behind
	for i, e := range m.journal {
		waits := slices.ContainsFunc(m.held, func(h held) bool { return h.Event.Sequence == e.sequence })
		needed := i == 0 || waits || e.emitted && !emitted || !based && (e.kind == change.Upsert || i < recentEntries)
		emitted = emitted || e.emitted
		switch {
		case e.kind == change.Upsert:
			based = true
		case needed:
			based = s.soft == nil
		}
		if needed || e.event == nil {
			continue
		}
		e.event = nil
		if e.kind == change.Upsert {
			e.columns = s.kept(e.columns, e.partial)
		}
	}
}

// expire returns the changes that have waited for too long, and forgets the row when
// nothing has come for it for too long. next is when to look again, zero for never.
func (m *memory) expire(s *settings, now time.Time) (letters []held, forget bool, next time.Time) {
	waiting := m.held[:0]
	for _, h := range m.held {
		if h.at.Add(s.HoldFor).After(now) {
			waiting = append(waiting, h)
		} else {
			letters = append(letters, h)
		}
	}
	m.held = waiting
	next = m.due(s)
	return letters, len(m.held) == 0 && s.KeepFor > 0 && !m.touched.Add(s.KeepFor).After(now), next
}

// due returns when expire has something to do, zero for never.
func (m *memory) due(s *settings) time.Time {
	switch {
	case len(m.held) > 0:
		return m.held[0].at.Add(s.HoldFor)
	case s.KeepFor > 0:
		return m.touched.Add(s.KeepFor)
	}
	return time.Time{}
}
