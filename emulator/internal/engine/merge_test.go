package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A checkpoint in the middle of a merge moves none of the rows that the merge knows
// by their rowid.
func TestMerge_RowsHoldStill(t *testing.T) {
	const rows = 300_000
	e := newTestEngine(t, Options{})
	e.HoldApplies(true)
	table := newTestTable(t, e, "t", "id INTEGER, v INTEGER", "id")
	exec := func(query string) {
		t.Helper()
		if _, err := e.db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(name string, at int64) {
		t.Helper()
		exec(fmt.Sprintf("INSERT INTO %s SELECT 0, %[2]d + i, 0, 0, 3, %[2]d + i, 0, %[3]d::UTINYINT, i, %[2]d FROM range(%[4]d) r(i)", name, at, rowUpserted, rows))
	}
	insert(baseName(table.id), 0)
	// What few rows are left in each row group makes a checkpoint put groups together.
	exec(fmt.Sprintf("DELETE FROM %s WHERE c1 %% 16 > 0", baseName(table.id)))
	exec(table.schema.createSQL(pendingName(table.id, 0)))
	insert(pendingName(table.id, 0), rows)
	table.addPending(rows)

	tx, err := e.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range table.schema.mergeSQL(table.id, table.generations(), e.forgotten(), time.Now().UnixMicro(), false) {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(statement, "b.rowid AS") {
			exec("CHECKPOINT")
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var all, keys, changed int64
	if err := e.db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*), count(DISTINCT c1), count(*) FILTER (c2 = %d) FROM %s", rows, baseName(table.id))).Scan(&all, &keys, &changed); err != nil {
		t.Fatal(err)
	}
	if all != rows || keys != rows || changed != rows {
		t.Errorf("%d rows of %d keys, %d changed, want %d each", all, keys, changed, rows)
	}
}
