package fill

import (
	"encoding/json"
	"fmt"
	"time"

	"beamcdc/schemas/change"
)

// versions is what the versions column of a row says: the changes that its values are
// from. A row that is read tells by them which of them a change that comes again is
// older than, and which it isn't.
type versions struct {
	Row      string `json:"row"` // the sequence of the row's last change
	Revision uint32 `json:"revision,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"` // softly
	// Base is the sequence of the values that Columns doesn't list; "" for Row's, and for
	// a row that is deleted and of which no values are known.
	Base    string            `json:"base,omitempty"`
	Columns map[string]string `json:"columns,omitempty"`
}

func versionsText(e *entry, r *row) string {
	v := versions{Row: e.sequence.String(), Revision: e.revision, Deleted: e.kind == change.Delete}
	if r.base != nil {
		v.Base = r.base.sequence.String()
	}
	for name, from := range r.versions {
		if v.Columns == nil {
			v.Columns = make(map[string]string, len(r.versions))
		}
		v.Columns[name] = from.sequence.String()
	}
	text, _ := json.Marshal(v) // of texts and numbers: never fails
	return string(text)
}

// restore puts a row that was read into the journal, as the changes that it is from.
// What it doesn't tell it didn't know.
func (m *memory) restore(c *change.RowChange, s *settings) {
	stored, err := change.ReadRowChange(c.Stored)
	if err != nil {
		return // read.go wrote it
	}
	v, err := readVersions(stored.Columns, s.VersionsColumn)
	if err != nil {
		return // a row that something else wrote: nothing tells how old it is
	}
	m.put(&stored, v, s)
}

type readVersion struct {
	row, base change.Sequence
	versions
	columns map[string]change.Sequence
}

func readVersions(columns []change.Column, name string) (v readVersion, err error) {
	text, ok := find(columns, name)
	if !ok || text.IsNull() {
		return v, fmt.Errorf("it has no versions")
	}
	if err := json.Unmarshal([]byte(text.Text()), &v.versions); err != nil {
		return v, fmt.Errorf("reading its versions: %w", err)
	}
	if v.row, err = change.ParseSequence(v.Row); err != nil {
		return v, err
	}
	v.base = v.row
	if v.Base != "" {
		if v.base, err = change.ParseSequence(v.Base); err != nil {
			return v, err
		}
	}
	v.columns = make(map[string]change.Sequence, len(v.Columns))
	for name, text := range v.Columns {
		if v.columns[name], err = change.ParseSequence(text); err != nil {
			return v, err
		}
	}
	return v, nil
}

// put puts the entries of a stored row into the journal.
func (m *memory) put(stored *change.RowChange, v readVersion, s *settings) {
	own := map[string]bool{s.VersionsColumn: true}
	if s.soft != nil {
		own[s.soft.Flag], own[s.soft.Time] = true, true
	}
	event := stored.Event
	event.Sequence = v.base
	base := &entry{sequence: v.base, kind: change.Upsert, event: &event, emitted: !v.Deleted, partial: stored.Event.Partial}
	if !v.Deleted {
		base.revision = v.Revision
	}
	older := make(map[change.Sequence]*entry)
	for _, column := range stored.Columns {
		at, filled := v.columns[column.Name]
		switch {
		case own[column.Name]:
		case !filled:
			base.columns = append(base.columns, column)
		default:
			if older[at] == nil {
				older[at] = &entry{sequence: at, kind: change.Upsert, partial: base.partial}
			}
			older[at].columns = append(older[at].columns, column)
			base.columns = append(base.columns, change.Column{Name: column.Name, Value: change.Unavailable()})
		}
	}
	base.whole = len(older) == 0
	if !v.Deleted || v.Base != "" {
		m.journal.insert(base, s)
	}
	for _, e := range older {
		m.journal.insert(e, s)
	}
	if v.Deleted {
		deleted := stored.Event
		deleted.Op, deleted.Sequence = change.OpDelete, v.row
		if at, ok := find(stored.Columns, s.deletedAtColumn()); ok && at.Kind() == change.KindTimestamp {
			deleted.CommitTime = time.UnixMicro(at.Int()).UTC()
		}
		if v.Base == "" { // what it has the delete told
			deleted.Before, deleted.BeforeComplete = base.columns, true
		}
		m.journal.insert(&entry{sequence: v.row, kind: change.Delete, columns: stored.Event.Key, event: &deleted, emitted: true, revision: v.Revision}, s)
	}
}
