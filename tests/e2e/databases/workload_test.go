package databases

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// workload writes random transactions from several sessions, whose statements
// interleave. One goroutine runs them all, one statement at a time, and a
// statement that would have to wait for another session's lock fails: so a seed
// makes the same history each time, whatever the machine does.
type workload struct {
	t        testing.TB
	r        *rand.Rand
	d        *dialect
	db       *sql.DB
	setup    []string         // what each session begins with
	expected func(error) bool // a failure that belongs to a history: a lock, a duplicate key
	tables   []*sourceTable

	sessions []*session
	altered  bool // the late columns are there
	ended    int  // transactions, committed or rolled back
	counts   map[string]int
}

// session is one connection.
type session struct {
	conn       *sql.Conn
	open       bool // a transaction is
	left       int  // statements before it ends
	savepoints int
}

const sessions = 6

// connect opens the sessions. What they had open before is lost.
func (w *workload) connect() {
	w.t.Helper()
	w.disconnect()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	for range sessions {
		conn, err := w.db.Conn(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		s := &session{conn: conn}
		for _, statement := range w.setup {
			w.must(s, statement)
		}
		w.sessions = append(w.sessions, s)
	}
}

func (w *workload) disconnect() {
	for _, s := range w.sessions {
		_ = s.conn.Close() // the server may be gone
	}
	w.sessions = nil
}

// run makes transactions until so many have ended, and leaves others open.
func (w *workload) run(until int) {
	w.t.Helper()
	for w.ended < until {
		w.step(w.sessions[w.r.IntN(len(w.sessions))])
	}
}

// commit ends all open transactions: a change of a table's columns waits for them.
func (w *workload) commit() {
	w.t.Helper()
	for _, s := range w.sessions {
		if s.open {
			w.end(s, "COMMIT")
		}
	}
}

// step runs the session's next statement.
func (w *workload) step(s *session) {
	w.t.Helper()
	if !s.open {
		w.must(s, "BEGIN")
		s.open, s.savepoints = true, 0
		s.left = 1 + w.r.IntN(4)
		if w.r.IntN(20) == 0 {
			s.left = 30 + w.r.IntN(100) // a long one, that others overtake
		}
		return
	}
	if s.left == 0 {
		if w.r.IntN(10) == 0 {
			w.end(s, "ROLLBACK")
		} else {
			w.end(s, "COMMIT")
		}
		return
	}
	s.left--
	switch w.r.IntN(24) {
	case 0:
		s.savepoints++
		w.must(s, fmt.Sprintf("SAVEPOINT s%d", s.savepoints))
	case 1:
		if s.savepoints > 0 {
			w.must(s, fmt.Sprintf("ROLLBACK TO SAVEPOINT s%d", s.savepoints))
			w.counts["rolled back to a savepoint"]++
		}
	case 2:
		if s.savepoints > 0 {
			w.must(s, fmt.Sprintf("RELEASE SAVEPOINT s%d", s.savepoints))
			s.savepoints--
		}
	default:
		w.change(s)
	}
}

func (w *workload) end(s *session, statement string) {
	w.t.Helper()
	w.must(s, statement)
	s.open = false
	w.ended++
	w.counts[strings.ToLower(statement)]++
}

// change runs a statement that changes rows, or tries to.
func (w *workload) change(s *session) {
	w.t.Helper()
	table := w.pick()
	kind, statement := w.statement(table)
	result, err := s.conn.ExecContext(context.Background(), statement)
	if err == nil {
		if n, err := result.RowsAffected(); err == nil {
			w.counts[kind] += int(n)
		}
		return
	}
	if !w.expected(err) {
		if len(statement) > 2000 {
			statement = statement[:2000] + "…"
		}
		w.t.Fatalf("%s: %v", statement, err)
	}
	w.counts["failed statements"]++
	switch {
	case w.d == mariaDialect: // the statement alone is undone
	case s.savepoints > 0:
		w.must(s, fmt.Sprintf("ROLLBACK TO SAVEPOINT s%d", s.savepoints))
	default:
		w.end(s, "ROLLBACK")
	}
}

func (w *workload) must(s *session, statement string) {
	w.t.Helper()
	if _, err := s.conn.ExecContext(context.Background(), statement); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// pick chooses a table by the weights.
func (w *workload) pick() *sourceTable {
	total := 0
	for _, t := range w.tables {
		total += t.weight
	}
	n := w.r.IntN(total)
	for _, t := range w.tables {
		if n -= t.weight; n < 0 {
			return t
		}
	}
	panic("unreachable")
}

// statement makes a random change of a table.
func (w *workload) statement(t *sourceTable) (kind, text string) {
	name := w.d.quoted(t.name)
	switch n := w.r.IntN(20); {
	case n < 4:
		return "inserted", w.insertNew(t, 1)
	case n < 6:
		return "inserted by a multi-row statement", w.insertNew(t, 2+w.r.IntN(4))
	case n < 7:
		return "inserted or failed", w.insert(t, 1)
	case n < 9:
		return "upserted", w.insert(t, 1) + w.upsert(t)
	case n < 14, n == 15 && t.still, n == 16 && t.still:
		return "updated", "UPDATE " + name + " SET " + w.assignments(t) + " WHERE " + w.keyIs(t)
	case n < 15:
		return "updated by a multi-row statement", "UPDATE " + name + " SET " + w.assignments(t) + " WHERE " + t.several(w.r)
	case n < 17:
		return "keys changed", "UPDATE " + name + " SET " + w.keyAssignments(t) + " WHERE " + w.keyIs(t)
	case n < 19:
		return "deleted", "DELETE FROM " + name + " WHERE " + w.keyIs(t)
	default:
		return "deleted by a multi-row statement", "DELETE FROM " + name + " WHERE " + t.several(w.r)
	}
}

func (w *workload) insert(t *sourceTable, rows int) string {
	var names, tuples []string
	for _, c := range t.columns {
		if w.there(&c) {
			names = append(names, c.name)
		}
	}
	for range rows {
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = t.column(name).literal(w.r)
		}
		tuples = append(tuples, "("+strings.Join(values, ", ")+")")
	}
	return "INSERT INTO " + w.d.quoted(t.name) + " (" + w.d.quoted(names...) + ") VALUES " + strings.Join(tuples, ", ")
}

// insertNew inserts the rows whose key is not there yet, or, where the database
// can, replaces those that are.
func (w *workload) insertNew(t *sourceTable, rows int) string {
	verb, rest := w.d.verbs[w.r.IntN(len(w.d.verbs))], strings.TrimPrefix(w.insert(t, rows), "INSERT INTO ")
	return verb + rest + w.d.ignore
}

func (w *workload) upsert(t *sourceTable) string {
	clause := w.d.upsert
	if strings.Contains(clause, "%s") {
		clause = fmt.Sprintf(clause, w.d.quoted(t.key...))
	}
	var assignments []string
	for _, c := range t.columns {
		if w.there(&c) && !t.isKey(c.name) {
			assignments = append(assignments, w.d.quoted(c.name)+" = "+strings.ReplaceAll(w.d.excluded, "$", w.d.quoted(c.name)))
		}
	}
	return clause + strings.Join(assignments, ", ")
}

// there reports whether the column is in the source by now.
func (w *workload) there(c *column) bool { return !c.late || w.altered }

// assignments sets some of the columns that are not the key's.
func (w *workload) assignments(t *sourceTable) string {
	var candidates []*column
	for i := range t.columns {
		if c := &t.columns[i]; w.there(c) && !t.isKey(c.name) {
			candidates = append(candidates, c)
		}
	}
	w.r.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	n := 1 + w.r.IntN(min(3, len(candidates)))
	texts := make([]string, n)
	for i, c := range candidates[:n] {
		texts[i] = w.d.quoted(c.name) + " = " + c.literal(w.r)
	}
	return strings.Join(texts, ", ")
}

// keyAssignments sets the key and, half of the time, another column too.
func (w *workload) keyAssignments(t *sourceTable) string {
	texts := []string{w.keyTexts(t, ", ")}
	if w.r.IntN(2) == 0 {
		texts = append(texts, w.assignments(t))
	}
	return strings.Join(texts, ", ")
}

func (w *workload) keyIs(t *sourceTable) string { return w.keyTexts(t, " AND ") }

func (w *workload) keyTexts(t *sourceTable, between string) string {
	texts := make([]string, len(t.key))
	for i, name := range t.key {
		texts[i] = w.d.quoted(name) + " = " + t.column(name).literal(w.r)
	}
	return strings.Join(texts, between)
}
