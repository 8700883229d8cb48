package keyed

import (
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"beamcdc/schemas/change"
)

func init() { register.Function1x1(showMessageOf) }

func showMessageOf(row change.Row) string { return row.Message.ID + " " + row.Type.String() }

// Invariant 2: a row that no request can hold supersedes none in its window. Without a
// bound here it does, and the table depends on how windows are cut.
func TestRows_tooLarge(t *testing.T) {
	config := newCatalog(t)
	small, large := event("small", "public.orders", change.OpCreate, "id=1 v=a"), event("large", "public.orders", change.OpUpdate, "id=1 v=b")
	large.Sequence = change.NewSequence(7, 6, 6, 1)
	large.After[1].Value = change.String(string(make([]byte, 2000)))
	p, s := beam.NewPipelineWithRoot()
	rows, _, _, _, receipts, letters := Rows(s, config, RowsConfig{MaxRequestBytes: 2000}, beam.CreateList(s, []change.Event{small, large}))
	passert.Equals(s, beam.ParDo(s, showMessageOf, Coalesce(s, Window{Size: time.Minute}, rows)), "small UPSERT")
	passert.Equals(s, beam.ParDo(s, showLetter, letters), "large public.orders encode row_too_large part 0 [{1 0 1}]")
	passert.Empty(s, receipts)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
}
