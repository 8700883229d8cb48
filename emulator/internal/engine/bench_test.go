package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

const mergeColumns = "id INTEGER, customer STRING, status STRING, total NUMERIC, weight FLOAT, placed TIMESTAMP, note STRING, paid BOOLEAN"

// BenchmarkMerge compares applying a million changes to a million rows with DuckDB's
// bare MERGE of the same rows, in one file, both on disk when they end. Each round has
// a new file, and every second begins with the other. It prints the median of the
// rounds' ratios, of time and of the process's CPU time.
func BenchmarkMerge(b *testing.B) {
	var times, cpu, own, bare []float64
	for range b.N {
		o, d := mergeRound(b, len(times)%2 > 0)
		times, cpu = append(times, o.wall/d.wall), append(cpu, o.cpu/d.cpu)
		own, bare = append(own, o.wall), append(bare, d.wall)
	}
	b.ReportMetric(median(own), "apply_s")
	b.ReportMetric(median(bare), "duckdb_merge_s")
	b.ReportMetric(median(times), "ratio")
	b.ReportMetric(median(cpu), "cpu_ratio")
}

// cost is in seconds.
type cost struct{ wall, cpu float64 }

func measured(b *testing.B, f func()) cost {
	b.Helper()
	used := func() float64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	start, before := time.Now(), used()
	f()
	return cost{time.Since(start).Seconds(), used() - before}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func mergeRound(b *testing.B, bareFirst bool) (own, bare cost) {
	b.Helper()
	const rows = 1_000_000
	path := filepath.Join(b.TempDir(), "bench.db")
	e := newTestEngine(b, Options{DB: path})
	e.HoldApplies(true)
	t := newTestTable(b, e, "orders", mergeColumns, "id")
	const values = "'customer ' || i % 1000, 'shipped', 4.5, i % 90 + .5, make_timestamptz(1700000000000000 + i), 'left with the neighbour at number ' || i % 400, true"
	exec := func(query string) {
		b.Helper()
		if _, err := e.db.ExecContext(b.Context(), query); err != nil {
			b.Fatal(err)
		}
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

	merge := func() {
		bare = measured(b, func() {
			exec("MERGE INTO bare USING changes ON bare.c1 = changes.c1 WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT")
		})
		exec("CHECKPOINT")
	}
	apply := func() {
		own = measured(b, func() {
			if err := e.Apply(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		})
		exec("CHECKPOINT")
	}
	if bareFirst {
		merge()
		apply()
	} else {
		apply()
		merge()
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		b.Fatal(err)
	}
	return own, bare
}
