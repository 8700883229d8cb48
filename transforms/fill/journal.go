package fill

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"beamcdc/schemas/change"
)

// entry is one change of a row, as far as it is remembered.
type entry struct {
	sequence change.Sequence
	kind     change.Type
	// whole says that the change held all of the row: what it lacks was NULL.
	whole bool
	// partial says that the source's updates may lack any column: then NULL is a
	// value like others. Elsewhere what is left out is never NULL.
	partial            bool
	movedFrom, movedTo []byte
	// columns are those whose values may be asked for later, and of an entry that has
	// its event all of them. Of a DELETE they are the key's.
	columns []change.Column
	// event is what a row is made from again, without its message's data and its after
	// image; nil where no row will be.
	event *change.Event

	emitted  bool   // a row was made from it,
	revision uint32 // of this revision,
	hash     uint64 // and this content

	told     uint32 // how often the key that the row moved to was told of its columns
	toldHash uint64 // what it was told the last time
}

// compare orders entries as their changes happened. Those of one sequence are the
// same change in all but pathological input; the rest only makes the order the same
// whatever came first.
func (e *entry) compare(o *entry) int {
	if c := e.sequence.Compare(o.sequence); c != 0 {
		return c
	}
	if c := cmp.Compare(e.kind, o.kind); c != 0 {
		return -c // an UPSERT is later than a DELETE, as change.Supersede has it
	}
	return bytes.Compare(change.AppendColumns(nil, e.columns), change.AppendColumns(nil, o.columns))
}

// isRead reports whether the entry is of a row that was read from BigQuery: what comes
// in a message is one part of some.
func (e *entry) isRead() bool { return e.event != nil && e.event.Parts == 0 }

// succeed takes over what was made of the entry's change before.
func (e *entry) succeed(o *entry) {
	e.emitted, e.revision, e.hash, e.told, e.toldHash = o.emitted, o.revision, o.hash, o.told, o.toldHash
}

// journal is what is remembered of one row: its changes, the latest first.
type journal []*entry

// insert puts the entry in its place and returns it, or the one that is there
// already. A change takes the place of what was read of its row, whose values are in
// other types than its own: the row's next revision is above the one in BigQuery, which
// another one would not win over.
func (j *journal) insert(e *entry, s *settings) *entry {
	at, _ := slices.BinarySearchFunc(*j, e, func(a, b *entry) int { return b.sequence.Compare(a.sequence) })
	for ; at < len(*j); at++ {
		o := (*j)[at]
		if o.sequence != e.sequence {
			break
		}
		switch {
		case o.kind != e.kind:
		case o.isRead():
			e.succeed(o)
			(*j)[at] = e
			return e
		case e.isRead():
			if o.revision < e.revision || !o.emitted {
				o.succeed(e)
			}
			return o
		}
		mine, other := *e, *o
		if o.event == nil && o.kind == change.Upsert { // it has fewer columns: compare what both have
			mine.columns = s.kept(mine.columns, mine.partial)
		}
		switch c := mine.compare(&other); {
		case c == 0:
			return o
		case c > 0:
			*j = slices.Insert(*j, at, e)
			return e
		}
	}
	*j = slices.Insert(*j, at, e)
	return e
}

// found is what the journal knows of a column's value.
type found uint8

const (
	unknown found = iota // a change is missing
	known                // its value, NULL included
	moved                // the row had it under the key that it had before
)

// lookup returns the value that a column had just before the i-th entry's change, and
// the entry that the answer is from.
func (j journal) lookup(i int, name string, s *settings) (change.Value, *entry, found) {
	self := j[i]
	if !s.remembers(name) {
		return change.Value{}, nil, unknown
	}
	if self.movedFrom != nil {
		return change.Value{}, self, moved
	}
	for _, e := range j[i+1:] {
		if e.kind == change.Delete {
			return change.Value{}, nil, unknown // it has come to life since, by a change that is missing
		}
		v, ok := find(e.columns, name)
		switch {
		case ok && v.Kind() == change.KindUnavailable:
		case ok && v.IsNull() && !e.partial, !ok && e.whole && !e.partial:
			return change.Value{}, nil, unknown // a source leaves no NULL out: a change that set it is missing
		case ok:
			return v, e, known
		case e.whole:
			return change.Null(), e, known
		}
		if e.movedFrom != nil {
			return change.Value{}, e, moved
		}
	}
	return change.Value{}, nil, unknown
}

// row is the i-th entry's row.
type row struct {
	columns  []change.Column
	versions map[string]*entry // of the columns that were filled in
	unknown  []string          // columns that can't be filled in
	moved    []string          // columns that the row had under another key,
	from     *entry            // by which it moved
	open     bool              // what the change lacks may be more than is known here: it had it under that key
	base     *entry            // of a soft delete the change that made the row; nil else
}

// at returns the row that an UPSERT's entry, which has its event, makes.
func (j journal) at(i int, s *settings) row {
	r := row{columns: slices.Clone(j[i].columns)}
	listed := len(r.columns)
	if j[i].event.AbsentUnavailable {
		r.columns, r.from = j.withAbsent(i, r.columns)
		r.open = r.from != nil
	}
	for c := range r.columns {
		name := r.columns[c].Name
		if r.columns[c].Value.Kind() != change.KindUnavailable {
			continue
		}
		v, from, how := j.lookup(i, name, s)
		switch how {
		case known:
			r.columns[c].Value = v
			if r.versions == nil {
				r.versions = make(map[string]*entry)
			}
			r.versions[name] = from
		case moved:
			r.moved, r.from = append(r.moved, name), from
			if r.versions == nil {
				r.versions = make(map[string]*entry)
			}
			r.versions[name] = from
		case unknown:
			if c < listed {
				r.unknown = append(r.unknown, name)
			}
		}
	}
	for c := len(r.columns) - 1; c >= listed; c-- { // of these nothing says that the row had them
		if r.columns[c].Value.Kind() == change.KindUnavailable && !slices.Contains(r.moved, r.columns[c].Name) {
			r.columns = slices.Delete(r.columns, c, c+1)
		}
	}
	return r
}

// withAbsent returns the i-th entry's columns with those that changes before it had, as
// unavailable ones: the source leaves unchanged columns out, and the table may have got
// them only after this change came. from is the entry by which the row came to this key,
// if it has to be looked for under the other, too.
func (j journal) withAbsent(i int, columns []change.Column) (with []change.Column, from *entry) {
	for at, e := range j[i:] {
		if at > 0 && e.kind == change.Delete {
			return columns, nil
		}
		for _, c := range e.columns {
			if _, ok := find(columns, c.Name); !ok {
				columns = append(columns, change.Column{Name: c.Name, Value: change.Unavailable()})
			}
		}
		switch {
		case e.movedFrom != nil:
			return columns, e
		case e.whole:
			return columns, nil
		}
	}
	return columns, nil
}

// How much more is remembered than the last row needs: changes that arrive out of
// order around a delete or a changed key are put right as long as no more than this
// came between.
const (
	recentEntries = 64
	recentBytes   = 256 << 10
)

// prune drops what is not needed any more: all that the latest rows can't ask for,
// but for the most recent entries. It drops the oldest entries beyond MaxBytes, too,
// and reports whether it did.
func (j *journal) prune(s *settings) (forgot bool) {
	seen := make(map[string]bool)
	kept := (*j)[:0]
	size, recent := int64(0), 0
	ended := false // a row begins above
	for i, e := range *j {
		if e.event == nil && (i >= recentEntries || recent > recentBytes) {
			if ended {
				continue
			}
			if e.kind == change.Upsert {
				e.columns = slices.DeleteFunc(slices.Clone(e.columns), func(c change.Column) bool { return seen[strings.ToLower(c.Name)] })
				if len(e.columns) == 0 && !e.whole && e.movedFrom == nil {
					continue
				}
			}
		}
		bytes := sizeOf(e.columns)
		if len(kept) > 0 && size+bytes > s.MaxBytes {
			forgot = true
			break
		}
		size += bytes
		if e.event == nil {
			recent += int(bytes)
		}
		for _, c := range e.columns {
			if e.kind == change.Upsert && c.Value.Kind() != change.KindUnavailable {
				seen[strings.ToLower(c.Name)] = true
			}
		}
		// A soft delete keeps the row: it still asks for what was before.
		ended = ended || e.kind == change.Delete && s.soft == nil || e.whole || e.movedFrom != nil
		kept = append(kept, e)
	}
	clear((*j)[len(kept):])
	*j = kept
	return forgot
}

// sizeOf returns about how many bytes columns take.
func sizeOf(columns []change.Column) int64 {
	n := int64(0)
	for i := range columns {
		n += int64(len(columns[i].Name)+len(columns[i].Value.Text())) + 8 + sizeOf(columns[i].Value.Elems())
	}
	return n
}

// find returns a column by its name, without regard to case, as BigQuery matches names.
func find(columns []change.Column, name string) (change.Value, bool) {
	for i := range columns {
		if strings.EqualFold(columns[i].Name, name) {
			return columns[i].Value, true
		}
	}
	return change.Value{}, false
}
