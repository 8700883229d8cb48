package emulator

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// deleteRetention is how long a DELETE is remembered. An older UPSERT of its key
// that arrives later than that brings the row back (docs: "Deleted data
// considerations").
const deleteRetention = 48 * time.Hour

// mergeThreshold is the number of pending changes from which on a merge pays for
// a baseline of this many rows: its cost is that of a look at the whole baseline,
// so the cost for each change stays the same however many there have been.
func mergeThreshold(baseline int64) int64 { return max(50_000, baseline/2) }

// requestMerge asks for a merge of the table, without waiting. A request that
// doesn't fit the queue is made again by the next append.
func (st *store) requestMerge(t *table) {
	if !t.mergeRequested.CompareAndSwap(false, true) {
		return
	}
	select {
	case st.merges <- t:
	default:
		t.mergeRequested.Store(false)
	}
}

func (st *store) mergeLoop() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-st.stop
		cancel()
	}()
	for {
		select {
		case t := <-st.merges:
			t.mergeRequested.Store(false)
			if err := st.merge(ctx, t); err != nil && ctx.Err() == nil {
				st.log.Error("applying pending changes", "table", t.ref, "error", err)
			}
		case <-st.stop:
			return
		}
	}
}

// merge applies a table's pending changes to its baseline. Appends and reads go
// on meanwhile.
func (st *store) merge(ctx context.Context, t *table) error {
	t.admin.Lock()
	defer t.admin.Unlock()

	t.mu.Lock()
	if t.dropped || len(t.generations()) == 0 || len(t.schema.key) == 0 {
		t.mu.Unlock()
		return nil
	}
	// From here on appends go to the next generation.
	last := t.generation
	t.generation++
	s, closed := t.schema, t.generations()
	t.mu.Unlock()

	conn, err := st.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a merge: %w", err)
	}
	forgotten := st.now().Add(-deleteRetention).UnixMicro()
	for _, statement := range s.mergeSQL(t.id, closed, forgotten) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return rollback(tx, fmt.Errorf("merging: %w", err))
		}
	}
	var rows int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+baseName(t.id)).Scan(&rows); err != nil {
		return rollback(tx, fmt.Errorf("counting the merged rows: %w", err))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing a merge: %w", err)
	}
	t.dropPending(last)
	t.rows.Store(rows)
	st.stats.merges.Add(1)
	return nil
}

func rollback(tx *sql.Tx, err error) error {
	if e := tx.Rollback(); e != nil {
		return fmt.Errorf("%w (rolling back: %w)", err, e)
	}
	return err
}

// latestSQL selects the latest pending change of each key: the one with the
// highest sequence, of equal ones the one ingested last.
func (s *schema) latestSQL(id int64, generations []generation) string {
	columns := metaColumns
	for _, c := range s.columns {
		columns += ", " + columnName(c)
	}
	var pending []string
	for _, g := range generations {
		pending = append(pending, fmt.Sprintf("SELECT %s FROM %s", columns, pendingName(id, g.number)))
	}
	return fmt.Sprintf("SELECT * FROM (%s) QUALIFY row_number() OVER (PARTITION BY %s"+
		" ORDER BY _s1 DESC, _s2 DESC, _s3 DESC, _s4 DESC, _sn DESC, _ord DESC) = 1",
		strings.Join(pending, " UNION ALL "), strings.Join(s.keyColumns(""), ", "))
}

func (s *schema) keyColumns(qualifier string) []string {
	names := make([]string, len(s.key))
	for i, position := range s.key {
		names[i] = qualifier + columnName(s.columns[position])
	}
	return names
}

// sameKey is the condition that two rows have one key. Keys are never NULL in a
// pending change, so a plain row with a NULL in its key matches none.
func (s *schema) sameKey(a, b string) string {
	conditions := make([]string, len(s.key))
	for i, position := range s.key {
		name := columnName(s.columns[position])
		conditions[i] = a + "." + name + " = " + b + "." + name
	}
	return strings.Join(conditions, " AND ")
}

// laterSQL is the condition that row a is later than row b.
func laterSQL(a, b string) string {
	order := func(q string) string {
		return fmt.Sprintf("(%[1]s._s1, %[1]s._s2, %[1]s._s3, %[1]s._s4, %[1]s._sn, %[1]s._ord)", q)
	}
	return order(a) + " > " + order(b)
}

// mergeSQL returns the statements of a merge: the latest change of each key
// replaces the rows of its key that are earlier; unless one that is later is
// there, it is the key's row now. DELETEs stay, as rows that aren't live, until
// they are older than forgotten.
func (s *schema) mergeSQL(id int64, generations []generation, forgotten int64) []string {
	base := baseName(id)
	statements := []string{
		"CREATE OR REPLACE TEMP TABLE latest AS " + s.latestSQL(id, generations),
		fmt.Sprintf("DELETE FROM %s AS b USING latest AS l WHERE %s AND %s", base, s.sameKey("b", "l"), laterSQL("l", "b")),
		fmt.Sprintf("INSERT INTO %[1]s BY NAME SELECT * FROM latest AS l WHERE NOT EXISTS (SELECT 1 FROM %[1]s AS b WHERE %[2]s)",
			base, s.sameKey("b", "l")),
		fmt.Sprintf("DELETE FROM %s WHERE NOT _live AND _at < %d", base, forgotten),
		"DROP TABLE latest",
	}
	for _, g := range generations {
		statements = append(statements, "DROP TABLE "+pendingName(id, g.number))
	}
	return statements
}

// currentSQL selects the columns of the rows that the table has with all pending
// changes applied: BigQuery's runtime merge. It leaves the table as it is.
func (s *schema) currentSQL(id int64, generations []generation) string {
	var columns []string
	for _, c := range s.columns {
		columns = append(columns, columnName(c))
	}
	columns = append(columns, "_ord")
	list := strings.Join(columns, ", ")
	if len(generations) == 0 || len(s.key) == 0 {
		return fmt.Sprintf("SELECT %s FROM %s WHERE _live", list, baseName(id))
	}
	return fmt.Sprintf(`WITH latest AS MATERIALIZED (%[1]s)
SELECT %[2]s FROM %[3]s AS b WHERE _live AND NOT EXISTS (SELECT 1 FROM latest AS l WHERE %[4]s AND %[5]s)
UNION ALL
SELECT %[2]s FROM latest AS l WHERE _live AND NOT EXISTS (SELECT 1 FROM %[3]s AS b WHERE %[4]s AND %[6]s)`,
		s.latestSQL(id, generations), list, baseName(id), s.sameKey("b", "l"), laterSQL("l", "b"), laterSQL("b", "l"))
}
