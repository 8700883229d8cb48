package emulator

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/duckdb/duckdb-go/v2"
)

const (
	benchColumns     = "id INTEGER, customer STRING, status STRING, total NUMERIC, weight FLOAT, placed TIMESTAMP, note STRING, paid BOOLEAN"
	benchRequestRows = 500
	benchConnections = 4
)

func benchRow(i int) string {
	return fmt.Sprintf(`{"id":%d,"customer":"customer %d","status":"shipped","total":"EAAAAAA=","weight":%d.5,"placed":%d,"note":"left with the neighbour at number %d","paid":true,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"0/%X/%X/1"}`,
		i, i%1000, i%90, 1_700_000_000_000_000+int64(i), i%400, 100_000+i, i)
}

// BenchmarkAppend compares four connections that append requests of 500 rows, in
// a file, with DuckDB's own appender fed the same rows, one flush a request. It
// prints both rates and their ratio.
func BenchmarkAppend(b *testing.B) {
	e := newEnv(b, Options{DB: filepath.Join(b.TempDir(), "bench.db")})
	e.table("orders", benchColumns, "id")
	const requests = 40
	prepared := make([][]*storagepb.AppendRowsRequest, benchConnections)
	writers := make([]*writer, benchConnections)
	for c := range prepared {
		writers[c] = e.writer("orders", true)
		for r := range requests {
			rows := make([]string, benchRequestRows)
			for i := range rows {
				rows[i] = benchRow((c*requests+r)*benchRequestRows + i)
			}
			prepared[c] = append(prepared[c], writers[c].request(rows...))
		}
	}
	b.ResetTimer()
	start, cpu := time.Now(), cpuTime(b)
	for range b.N {
		var wg sync.WaitGroup
		for c, w := range writers {
			wg.Go(func() {
				for _, r := range prepared[c] {
					if err := w.stream.Send(r); err != nil {
						b.Error(err)
						return
					}
				}
			})
			wg.Go(func() {
				for range prepared[c] {
					r, err := w.stream.Recv()
					if err != nil && !errors.Is(err, io.EOF) || r.GetError() != nil {
						b.Error(err, r.GetError())
						return
					}
				}
			})
		}
		wg.Wait()
	}
	rows := float64(b.N * requests * benchRequestRows * benchConnections)
	rate, used := rows/time.Since(start).Seconds(), cpuTime(b)-cpu
	b.StopTimer()
	b.ReportMetric(rate, "rows/s")
	b.ReportMetric(used.Seconds()/rows*1e6, "cpu_µs/row")
	cpu = cpuTime(b)
	own := benchAppender(b, requests*benchConnections)
	b.ReportMetric(own, "duckdb_rows/s")
	b.ReportMetric((cpuTime(b)-cpu).Seconds()/float64(requests*benchRequestRows*benchConnections)*1e6, "duckdb_cpu_µs/row")
	b.ReportMetric(rate/own, "ratio")
}

// cpuTime is the process's CPU time: what a busy machine doesn't change. For the
// emulator it includes the client's half, and the merges.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// benchAppender is the rate of DuckDB's appender alone.
func benchAppender(b *testing.B, requests int) float64 {
	st, err := openStore(b.Context(), filepath.Join(b.TempDir(), "own.db"), nil, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = st.db.Close() }()
	conn, err := st.db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(b.Context(), "CREATE TABLE t(a BIGINT, b VARCHAR, c VARCHAR, d DECIMAL(38,9), e DOUBLE, f TIMESTAMPTZ, g VARCHAR, h BOOLEAN)"); err != nil {
		b.Fatal(err)
	}
	total, err := parseDecimal("4.5", numericScale)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([][]driver.Value, requests*benchRequestRows)
	for i := range rows {
		rows[i] = []driver.Value{
			int64(i), fmt.Sprintf("customer %d", i%1000), "shipped",
			duckdb.Decimal{Width: 38, Scale: 9, Value: total},
			float64(i%90) + .5,
			time.UnixMicro(1_700_000_000_000_000 + int64(i)), fmt.Sprintf("left with the neighbour at number %d", i%400), true,
		}
	}
	start := time.Now()
	err = conn.Raw(func(c any) error {
		a, err := duckdb.NewAppenderFromConn(c.(driver.Conn), "", "t")
		if err != nil {
			return err
		}
		for i, row := range rows {
			if err := a.AppendRow(row...); err != nil {
				return err
			}
			if (i+1)%benchRequestRows == 0 {
				if err := a.Flush(); err != nil {
					return err
				}
			}
		}
		return a.Close()
	})
	if err != nil {
		b.Fatal(err)
	}
	return float64(len(rows)) / time.Since(start).Seconds()
}

// BenchmarkMerge compares applying a million changes to a million rows with
// DuckDB's bare MERGE of the same rows. It prints both times and their ratio.
func BenchmarkMerge(b *testing.B) {
	const rows = 1_000_000
	for range b.N {
		e := newEnv(b, Options{DB: filepath.Join(b.TempDir(), "bench.db")})
		e.table("orders", benchColumns, "id")
		t, err := e.catalog.table(tableRef{"p", "d", "orders"})
		if err != nil {
			b.Fatal(err)
		}
		const values = "'customer ' || i % 1000, 'shipped', 4.5, i % 90 + .5, make_timestamptz(1700000000000000 + i), 'left with the neighbour at number ' || i % 400, true"
		exec := func(query string) time.Duration {
			b.Helper()
			start := time.Now()
			if _, err := e.store.db.ExecContext(b.Context(), query); err != nil {
				b.Fatal(err)
			}
			return time.Since(start)
		}
		exec(fmt.Sprintf("INSERT INTO b%d SELECT 0, i, 0, 0, 3, i, 0, true, i, %s FROM range(%d) r(i)", t.id, values, rows))
		exec(t.schema.createSQL(pendingName(t.id, 0)))
		// Half of the keys are there, half are new, in no order.
		keys := fmt.Sprintf("(i * 7919) %% %d + %d", rows, rows/2)
		exec(fmt.Sprintf("INSERT INTO p%d_0 SELECT 0, %d + i, 0, 0, 3, %d + i, 0, true, %s, %s FROM range(%d) r(i)", t.id, rows, rows, keys, values, rows))
		t.addPending(rows)
		exec("CREATE TABLE bare(c1 BIGINT, c2 VARCHAR, c3 VARCHAR, c4 DECIMAL(38,9), c5 DOUBLE, c6 TIMESTAMPTZ, c7 VARCHAR, c8 BOOLEAN)")
		exec(fmt.Sprintf("INSERT INTO bare SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM b%d", t.id))
		exec(fmt.Sprintf("CREATE TABLE changes AS SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM p%d_0", t.id))
		exec("CHECKPOINT")
		bare := exec("MERGE INTO bare USING changes ON bare.c1 = changes.c1 WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT")
		start := time.Now()
		if err := e.store.merge(b.Context(), t); err != nil {
			b.Fatal(err)
		}
		own := time.Since(start)
		b.ReportMetric(own.Seconds(), "merge_s")
		b.ReportMetric(bare.Seconds(), "duckdb_merge_s")
		b.ReportMetric(own.Seconds()/bare.Seconds(), "ratio")
	}
}
