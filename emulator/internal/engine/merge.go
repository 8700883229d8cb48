package engine

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// deleteRetention is how long a DELETE is remembered. An older UPSERT of its key
// that arrives later than that brings the row back (docs: "Deleted data
// considerations").
const deleteRetention = 48 * time.Hour

// forgotten is the time of ingestion before which a DELETE is forgotten.
func (e *Engine) forgotten() int64 { return e.now().Add(-deleteRetention).UnixMicro() }

func rollback(tx *sql.Tx, err error) error {
	if e := tx.Rollback(); e != nil {
		return fmt.Errorf("%w (rolling back: %w)", err, e)
	}
	return err
}

// pendingSQL selects all pending changes.
func (s *Schema) pendingSQL(id int64, generations []generation) string {
	names := []string{metaColumns}
	for _, c := range s.Columns {
		names = append(names, columnName(c))
	}
	columns := strings.Join(names, ", ")
	var pending []string
	for _, g := range generations {
		pending = append(pending, fmt.Sprintf("SELECT %s FROM %s", columns, pendingName(id, g.number)))
	}
	return strings.Join(pending, " UNION ALL ")
}

// winnersSQL selects the latest pending change of each key, by its place in the
// order of ingestion: the one with the highest sequence, of equal ones the one
// ingested last.
func (s *Schema) winnersSQL(pending string) string {
	return fmt.Sprintf("SELECT arg_max(_ord, (_s1, _s2, _s3, _s4, _sn, _ord)) AS winner FROM (%s) GROUP BY %s",
		pending, strings.Join(s.keyColumns(""), ", "))
}

// latestSQL selects the pending changes that won.
func latestSQL(pending, winners string) string {
	return fmt.Sprintf("SELECT * FROM (%s) AS p SEMI JOIN (%s) AS w ON p._ord = w.winner", pending, winners)
}

func (s *Schema) keyColumns(qualifier string) []string {
	names := make([]string, len(s.Key))
	for i, position := range s.Key {
		names[i] = qualifier + columnName(s.Columns[position])
	}
	return names
}

// sameKey is the condition that two rows have one key. Keys are never NULL in a
// pending change, so a plain row with a NULL in its key matches none.
func (s *Schema) sameKey(a, b string) string {
	conditions := make([]string, len(s.Key))
	for i, position := range s.Key {
		name := columnName(s.Columns[position])
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

// lostSQL selects the pending changes that a later one of their key beats, by their
// place in the order of ingestion: most often few of them.
func (s *Schema) lostSQL(pending string) string {
	keys := strings.Join(s.keyColumns(""), ", ")
	return fmt.Sprintf(`WITH repeated AS (SELECT %[2]s FROM (%[1]s) GROUP BY %[2]s HAVING count(*) > 1),
rivals AS MATERIALIZED (SELECT * FROM (%[1]s) AS p SEMI JOIN repeated AS r ON %[3]s)
SELECT _ord FROM rivals ANTI JOIN (%[4]s) AS w ON _ord = w.winner`,
		pending, keys, s.sameKey("p", "r"), s.winnersSQL("FROM rivals"))
}

// mergeSQL returns the statements of a merge: the latest change of each key
// replaces the rows of its key that are earlier; unless one that is later is
// there, it is the key's row now. DELETEs stay, as rows that aren't live; those
// of the baseline that are older than forgotten don't count. Times are in
// microseconds. With history, live rows that end are kept.
//
// Rows are deleted and inserted, not updated: DuckDB reclaims deleted rows at its
// checkpoints, while the versions that updates leave pile up in memory.
//
// Changes and rows meet once, in a table of the pairs; what follows finds them by
// _ord and by DuckDB's rowid. A checkpoint moves rows, but not while a transaction
// lasts that deleted some, or tried to: so that comes first.
func (s *Schema) mergeSQL(id int64, generations []generation, forgotten, now int64, history bool) []string {
	base, pending := baseName(id), s.pendingSQL(id, generations)
	statements := []string{
		fmt.Sprintf("DELETE FROM %s WHERE _kind = 0 AND _at < %d", base, forgotten),
		"CREATE OR REPLACE TEMP TABLE lost AS " + s.lostSQL(pending),
		fmt.Sprintf(`CREATE OR REPLACE TEMP TABLE met AS SELECT b.rowid AS _row, l._ord, l._kind, %s AS _later, b._kind > 0 AS _live
FROM %s AS b JOIN (SELECT * FROM (%s) AS p ANTI JOIN lost ON p._ord = lost._ord) AS l ON %s`,
			laterSQL("l", "b"), base, pending, s.sameKey("b", "l")),
		"INSERT INTO lost SELECT _ord FROM met WHERE NOT _later",
	}
	kind := "l._kind AS _kind"
	if history {
		statements = append(statements, fmt.Sprintf(
			"INSERT INTO %s BY NAME SELECT b.*, %d AS _ended, if(m._kind = 0, %d, %d) AS _end FROM %s AS b JOIN met AS m ON b.rowid = m._row WHERE m._later AND m._live",
			historyName(id), now, endDeleted, endReplaced, base))
		kind = fmt.Sprintf("if(l._kind > 0 AND l._ord IN (SELECT _ord FROM met WHERE _later AND _live), %d, l._kind)::UTINYINT AS _kind", rowReplaced)
	}
	statements = append(statements,
		fmt.Sprintf("DELETE FROM %s AS b USING (SELECT _row FROM met WHERE _later) AS m WHERE b.rowid = m._row", base),
		fmt.Sprintf("INSERT INTO %s BY NAME SELECT * REPLACE (if(l._kind > 0, %d, l._at) AS _at, %s) FROM (%s) AS l ANTI JOIN lost ON l._ord = lost._ord",
			base, now, kind, pending),
		"DROP TABLE lost", "DROP TABLE met")
	for _, g := range generations {
		statements = append(statements, "DROP TABLE "+pendingName(id, g.number))
	}
	return statements
}

// currentSQL selects the columns of the rows that the table has with all pending
// changes applied, and rowMeta: BigQuery's runtime merge. It leaves the table as it is.
func (s *Schema) currentSQL(id int64, generations []generation, forgotten int64) string {
	list := func(qualifier, at string) string {
		names := make([]string, 0, len(s.Columns)+3)
		for _, c := range s.Columns {
			names = append(names, qualifier+columnName(c))
		}
		return strings.Join(append(names, qualifier+"_ord", at, qualifier+"_kind"), ", ")
	}
	base := baseName(id)
	if len(generations) == 0 || len(s.Key) == 0 {
		return fmt.Sprintf("SELECT %s FROM %s WHERE _kind > 0", list("", "_at"), base)
	}
	pending := s.pendingSQL(id, generations)
	// A row of the baseline counts unless a later change of its key is pending, a
	// pending change unless a later row of its key is in the baseline.
	return fmt.Sprintf(`WITH latest AS MATERIALIZED (%[1]s), known AS (SELECT * FROM %[3]s WHERE _kind > 0 OR _at >= %[8]d)
SELECT %[2]s FROM %[3]s AS b LEFT JOIN latest AS l ON %[4]s WHERE b._kind > 0 AND (l._ord IS NULL OR NOT %[5]s)
UNION ALL
SELECT %[6]s FROM latest AS l ANTI JOIN (SELECT l._ord AS outdated FROM latest AS l JOIN known AS b ON %[4]s WHERE %[7]s) AS o
ON l._ord = o.outdated WHERE l._kind > 0`,
		latestSQL(pending, s.winnersSQL(pending)), list("b.", "b._at"), base, s.sameKey("b", "l"), laterSQL("l", "b"), list("l.", "NULL::BIGINT"), laterSQL("b", "l"), forgotten)
}
