package emulator

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/big"
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
	db, err := sql.Open("duckdb", filepath.Join(b.TempDir(), "own.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(b.Context(), "SET checkpoint_threshold = '256MB'"); err != nil { // as the emulator has it
		b.Fatal(err)
	}
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(b.Context(), "CREATE TABLE t(a BIGINT, b VARCHAR, c VARCHAR, d DECIMAL(38,9), e DOUBLE, f TIMESTAMPTZ, g VARCHAR, h BOOLEAN)"); err != nil {
		b.Fatal(err)
	}
	total := big.NewInt(4_500_000_000)
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
