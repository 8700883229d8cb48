package engine

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

const mergeColumns = "id INTEGER, customer STRING, status STRING, total NUMERIC, weight FLOAT, placed TIMESTAMP, note STRING, paid BOOLEAN"

// BenchmarkMerge compares applying a million changes to a million rows with
// DuckDB's bare MERGE of the same rows. It prints both times and their ratio.
func BenchmarkMerge(b *testing.B) {
	const rows = 1_000_000
	for range b.N {
		e := newTestEngine(b, Options{DB: filepath.Join(b.TempDir(), "bench.db")})
		e.HoldApplies(true)
		t := newTestTable(b, e, "orders", mergeColumns, "id")
		const values = "'customer ' || i % 1000, 'shipped', 4.5, i % 90 + .5, make_timestamptz(1700000000000000 + i), 'left with the neighbour at number ' || i % 400, true"
		exec := func(query string) time.Duration {
			b.Helper()
			start := time.Now()
			if _, err := e.db.ExecContext(b.Context(), query); err != nil {
				b.Fatal(err)
			}
			return time.Since(start)
		}
		exec(fmt.Sprintf("INSERT INTO b%d SELECT 0, i, 0, 0, 3, i, 0, 3::UTINYINT, i, %s FROM range(%d) r(i)", t.id, values, rows))
		exec(t.schema.createSQL(pendingName(t.id, 0)))
		// Half of the keys are there, half are new, in no order.
		keys := fmt.Sprintf("(i * 7919) %% %d + %d", rows, rows/2)
		exec(fmt.Sprintf("INSERT INTO p%d_0 SELECT 0, %d + i, 0, 0, 3, %d + i, 0, 3::UTINYINT, %s, %s FROM range(%d) r(i)", t.id, rows, rows, keys, values, rows))
		t.addPending(rows)
		exec("CREATE TABLE bare(c1 BIGINT, c2 VARCHAR, c3 VARCHAR, c4 DECIMAL(38,9), c5 DOUBLE, c6 TIMESTAMPTZ, c7 VARCHAR, c8 BOOLEAN)")
		exec(fmt.Sprintf("INSERT INTO bare SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM b%d", t.id))
		exec(fmt.Sprintf("CREATE TABLE changes AS SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM p%d_0", t.id))
		exec("CHECKPOINT")
		bare := exec("MERGE INTO bare USING changes ON bare.c1 = changes.c1 WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT")
		start := time.Now()
		if err := e.Apply(b.Context(), t); err != nil {
			b.Fatal(err)
		}
		own := time.Since(start)
		b.ReportMetric(own.Seconds(), "merge_s")
		b.ReportMetric(bare.Seconds(), "duckdb_merge_s")
		b.ReportMetric(own.Seconds()/bare.Seconds(), "ratio")
	}
}
