package engine

import (
	"fmt"
	"strings"
	"time"
)

// Appends is APPENDS(TABLE t, start, end): the rows that were inserted, loaded or
// streamed plainly from start up to before end, though they may be gone since. The
// zero start is the table's creation, the zero end now. After the columns come
// _CHANGE_TYPE, VARCHAR, and _CHANGE_TIMESTAMP, TIMESTAMPTZ.
//
// Changes by primary key are no appends here: BigQuery doesn't document them as such.
func (s *Snapshot) Appends(ref TableRef, start, end time.Time) (Relation, error) {
	f, err := s.frozen(ref)
	if err != nil {
		return Relation{}, err
	}
	p, err := s.period("APPENDS", f, start, end, time.Time{})
	if err != nil {
		return Relation{}, err
	}
	return f.changes(fmt.Sprintf("'INSERT' AS _op, _at AS _happened FROM %%s WHERE _kind IN (%d, %d) AND _at %s", rowInserted, rowStreamed, p), ""), nil
}

// Changes is CHANGES(TABLE t, start, end): the rows that were inserted and updated,
// as they became, and those that were deleted, as they had been. It needs
// enable_change_history, and knows nothing from before that was set. Changes by
// primary key show at the time of their apply. Times and columns are as in Appends.
func (s *Snapshot) Changes(ref TableRef, start, end time.Time) (Relation, error) {
	f, err := s.frozen(ref)
	if err != nil {
		return Relation{}, err
	}
	if f.historySince == 0 {
		return Relation{}, Invalid("CHANGES needs the table option enable_change_history: it is not set for table %s", ref)
	}
	p, err := s.period("CHANGES", f, start, end, time.UnixMicro(f.historySince))
	if err != nil {
		return Relation{}, err
	}
	return f.changes(
		fmt.Sprintf("if(_kind IN (%d, %d), 'UPDATE', 'INSERT') AS _op, _at AS _happened FROM %%s WHERE _kind > 0 AND _at %s", rowUpdated, rowReplaced, p),
		fmt.Sprintf("'DELETE' AS _op, _ended AS _happened FROM %%s WHERE _end = %d AND _ended %s", endDeleted, p),
	), nil
}

// period checks a function's times, and returns the condition that a time in
// microseconds is between them, and not before since.
func (s *Snapshot) period(function string, f *frozen, start, end, since time.Time) (string, error) {
	earliest := s.at.Add(-timeTravel)
	created := time.UnixMilli(f.created)
	switch {
	case !end.IsZero() && end.After(s.at), start.After(s.at):
		return "", Invalid("%s of table %s: a time is in the future", function, f.table.ref)
	case !end.IsZero() && start.After(end):
		return "", Invalid("%s of table %s: the start is after the end", function, f.table.ref)
	case !start.IsZero() && start.Before(earliest) && created.Before(earliest):
		return "", Invalid("%s of table %s: the start is before the time travel window of seven days", function, f.table.ref)
	}
	for _, t := range []time.Time{earliest, since} {
		if start.Before(t) {
			start = t
		}
	}
	last := s.at.UnixMicro()
	if !end.IsZero() {
		last = end.UnixMicro() - 1
	}
	return fmt.Sprintf("BETWEEN %d AND %d", start.UnixMicro(), last), nil
}

// changes is the relation of what a selection finds in the baseline and in the past,
// and another one in the past alone, "" for none. Selections lack SELECT and the columns.
func (f *frozen) changes(versions, ends string) Relation {
	names := f.schema.namedColumns()
	list := strings.Join(names, ", ")
	parts := []string{fmt.Sprintf(versions, baseName(f.table.id))}
	if f.hasHistory {
		parts = append(parts, fmt.Sprintf(versions, historyName(f.table.id)))
		if ends != "" {
			parts = append(parts, fmt.Sprintf(ends, historyName(f.table.id)))
		}
	}
	for i, part := range parts {
		parts[i] = "SELECT " + list + ", " + part
	}
	return Relation{
		SQL: fmt.Sprintf("(SELECT * EXCLUDE (_op, _happened), _op AS _CHANGE_TYPE, make_timestamptz(_happened) AS _CHANGE_TIMESTAMP FROM (%s))",
			strings.Join(parts, " UNION ALL ")),
		Table: f.table, Schema: f.schema,
	}
}
