package emulator

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/duckdb/duckdb-go/v2"

	"beamcdc/emulator/internal/engine"
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

const benchRequests = 40 // of a connection, in a round

// BenchmarkAppend compares four connections that append requests of 500 rows with
// DuckDB's own appender fed the same rows, one flush a request: each into a file of its
// own, in rounds, every second of which begins with the other. The client's half runs
// in this process too. It prints the median of the rounds' ratios of rates: of appends
// alone, and with the background apply of what was appended counted in (applied_ratio);
// and that of the CPU time for a row.
func BenchmarkAppend(b *testing.B) {
	e := newEnv(b, Options{DB: filepath.Join(b.TempDir(), "bench.db")})
	e.HoldApplies(true) // in its own time, not in DuckDB's
	e.table("orders", benchColumns, "id")
	prepared := make([][]*storagepb.AppendRowsRequest, benchConnections)
	writers := make([]*writer, benchConnections)
	for c := range prepared {
		writers[c] = e.writer("orders", true)
		for r := range benchRequests {
			rows := make([]string, benchRequestRows)
			for i := range rows {
				rows[i] = benchRow((c*benchRequests+r)*benchRequestRows + i)
			}
			prepared[c] = append(prepared[c], writers[c].request(rows...))
		}
	}
	own := newBenchAppender(b)
	var rates, ownRates, ratios, applied, used []float64
	const rows = float64(benchConnections * benchRequests * benchRequestRows)
	emulator := func() (appends, apply benchCost) {
		appends = measured(b, func() { sendAll(b, writers, prepared) })
		return appends, measured(b, func() { benchApply(b, e, "orders") })
	}
	sendAll(b, writers, prepared) // the connections' schemas, files' first pages
	benchApply(b, e, "orders")
	own.append(b)
	b.ResetTimer()
	for i := range b.N {
		var appends, apply, bare benchCost
		if i%2 > 0 {
			bare = measured(b, func() { own.append(b) })
			appends, apply = emulator()
		} else {
			appends, apply = emulator()
			bare = measured(b, func() { own.append(b) })
		}
		rates, ownRates = append(rates, rows/appends.wall), append(ownRates, rows/bare.wall)
		ratios = append(ratios, bare.wall/appends.wall)
		applied = append(applied, bare.wall/(appends.wall+apply.wall))
		used = append(used, bare.cpu/appends.cpu)
	}
	b.ReportMetric(median(rates), "rows/s")
	b.ReportMetric(median(ownRates), "duckdb_rows/s")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(applied), "applied_ratio")
	b.ReportMetric(median(used), "cpu_ratio")
}

// sendAll sends each writer's requests and waits for all answers.
func sendAll(b *testing.B, writers []*writer, requests [][]*storagepb.AppendRowsRequest) {
	var wg sync.WaitGroup
	for c, w := range writers {
		wg.Go(func() {
			for _, r := range requests[c] {
				if err := w.stream.Send(r); err != nil {
					b.Error(err)
					return
				}
			}
		})
		wg.Go(func() {
			for range requests[c] {
				r, err := w.stream.Recv()
				if err != nil && !errors.Is(err, io.EOF) || r.GetError() != nil {
					b.Error(err, r.GetError())
					return
				}
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// benchApply applies a table's pending changes.
func benchApply(b *testing.B, e *env, table string) {
	b.Helper()
	t, err := e.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: table})
	if err == nil {
		err = e.engine.Apply(b.Context(), t)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// benchCost is in seconds. CPU time is the process's: what a busy machine changes little.
type benchCost struct{ wall, cpu float64 }

func measured(b *testing.B, f func()) benchCost {
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
	return benchCost{time.Since(start).Seconds(), used() - before}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// benchAppender is DuckDB's appender alone, with the benchmark's rows.
type benchAppender struct {
	conn *sql.Conn
	rows [][]driver.Value
}

func newBenchAppender(b *testing.B) *benchAppender {
	b.Helper()
	db, err := sql.Open("duckdb", filepath.Join(b.TempDir(), "own.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	for _, statement := range []string{
		"SET checkpoint_threshold = '256MB'", // as the emulator has it
		"CREATE TABLE t(a BIGINT, b VARCHAR, c VARCHAR, d DECIMAL(38,9), e DOUBLE, f TIMESTAMPTZ, g VARCHAR, h BOOLEAN)",
	} {
		if _, err := conn.ExecContext(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
	total := big.NewInt(4_500_000_000)
	rows := make([][]driver.Value, benchConnections*benchRequests*benchRequestRows)
	for i := range rows {
		rows[i] = []driver.Value{
			int64(i), fmt.Sprintf("customer %d", i%1000), "shipped",
			duckdb.Decimal{Width: 38, Scale: 9, Value: total},
			float64(i%90) + .5,
			time.UnixMicro(1_700_000_000_000_000 + int64(i)), fmt.Sprintf("left with the neighbour at number %d", i%400), true,
		}
	}
	return &benchAppender{conn, rows}
}

func (a *benchAppender) append(b *testing.B) {
	b.Helper()
	err := a.conn.Raw(func(c any) error {
		appender, err := duckdb.NewAppenderFromConn(c.(driver.Conn), "", "t")
		if err != nil {
			return err
		}
		for i, row := range a.rows {
			if err := appender.AppendRow(row...); err != nil {
				return err
			}
			if (i+1)%benchRequestRows == 0 {
				if err := appender.Flush(); err != nil {
					return err
				}
			}
		}
		return appender.Close()
	})
	if err != nil {
		b.Fatal(err)
	}
}
