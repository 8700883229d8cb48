package keyed

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func init() {
	register.Function1x2(keyRow)
	register.Function1x1(showRow)
}

func keyRow(row change.Row) ([]byte, change.Row) { return row.Key, row }

func showRow(row change.Row) string {
	parts := 0
	for _, r := range row.Receipts {
		if r != (change.Receipt{}) {
			parts++
		}
	}
	return fmt.Sprintf("%s %v %s %d receipts, superseded %d, %d bytes", row.Key, row.Sequence, row.Data, parts, row.Superseded, row.SupersededBytes)
}

func rowOf(key string, lsn uint64, data string) change.Row {
	return change.Row{
		Table: "demo.shop.orders", Key: []byte(key), Type: change.Upsert, Sequence: change.NewSequence(0, lsn, lsn, 1), Data: []byte(data),
		Receipts: []change.Receipt{{Token: lsn, Parts: 1}},
	}
}

func TestCoalesce(t *testing.T) {
	for _, runnerOwnsSource := range []bool{false, true} {
		t.Run(fmt.Sprintf("runner owns source %v", runnerOwnsSource), func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			rows := beam.ParDo(s, keyRow, beam.CreateList(s, []change.Row{
				rowOf("a", 2, "two"), rowOf("a", 0x10, "sixteen"), rowOf("a", 9, "nine"), rowOf("b", 1, "one"),
			}))
			last := Coalesce(s, Window{Size: time.Hour, RunnerOwnsSource: runnerOwnsSource}, rows)
			passert.Equals(s, beam.ParDo(s, showRow, last),
				"a 0/10/10/1 sixteen 3 receipts, superseded 2, 7 bytes", "b 0/1/1/1 one 1 receipts, superseded 0, 0 bytes")
			result := ptest.RunAndValidate(t, p)
			got := make(map[string]int64)
			for _, c := range result.Metrics().AllMetrics().Counters() {
				if c.Namespace() == Namespace {
					got[c.Name()] += c.Result()
				}
			}
			if diff := cmp.Diff(map[string]int64{"rows_coalesced": 2, "rows_superseded": 2, "bytes_superseded": 7}, got); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCoalesce_refusesNoWindow(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a window of no time was taken")
		}
	}()
	_, s := beam.NewPipelineWithRoot()
	Coalesce(s, Window{}, beam.ParDo(s, keyRow, beam.CreateList(s, []change.Row{})))
}
