package doctor

import (
	"strings"
	"testing"
	"time"

	"beamcdc/internal/cdctest"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
)

// A table that is read, and whose applies take longer than its max_staleness allows for.
func TestUsage_staleness(t *testing.T) {
	for _, tt := range []struct {
		name         string
		maxStaleness int // minutes
		reads        bool
		want         string
	}{
		{"shorter than applies take", 10, true, "1 query read it during the last day, and of 100 background applies of its changes 5 took longer than 21m0s: with a max_staleness of 10m0s"},
		{"nobody reads", 10, false, ""},
		{"long enough", 60, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := cdctest.Start(t, time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), "shop")
			w.Table("shop.orders", tt.maxStaleness)
			if err := w.Upsert("shop", "orders", 3); err != nil {
				t.Fatal(err)
			}
			w.HoldApplies(true)
			w.Clock.Advance(time.Duration(tt.maxStaleness)*9*time.Minute/10 + 21*time.Minute)
			if err := w.ApplyDue(t.Context()); err != nil { // it is asked for, and waits
				t.Fatal(err)
			}
			if tt.reads {
				w.Run("SELECT COUNT(*) FROM shop.orders")
			}
			w.HoldApplies(false)
			if err := w.ApplyDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			o := pipeline.Options{
				Source: pipeline.Source{Subscription: "projects/p/subscriptions/s"}, Tables: []table.Rule{{Source: "a.orders", Destination: "shop.orders"}},
				Runtime: pipeline.Runtime{BigQueryRESTEndpoint: w.RESTAddr(), BigQueryGRPCEndpoint: w.GRPCAddr(), BigQueryPlaintext: true},
			}
			x := &examination{options: o}
			x.destinations(t.Context())
			if len(x.tables) != 1 || x.tables[0].ready == nil {
				t.Fatalf("%+v", x.Findings)
			}
			x.usage(t.Context())
			var found []Finding
			for _, f := range x.Findings {
				if f.Level == Unknown || f.Level == Warning && strings.Contains(f.Problem, "background applies") {
					f.Problem = strings.TrimSpace(f.Problem)
					found = append(found, f)
				}
			}
			want := tt.want
			if want != "" {
				want = "warning: " + want
			}
			wantOne(t, found, want)
		})
	}
}
