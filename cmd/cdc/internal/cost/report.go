package cost

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// report is the estimate.
type report struct {
	Notes     []string
	Tables    []Traffic
	Windows   []time.Duration
	Window    time.Duration // by which the months are estimated
	Staleness []time.Duration
	Months    [][]Month // by table and staleness
	Bills     []Bill    // of all tables, by staleness

	model  Model
	prices Prices
}

// estimate estimates a month for each table and max_staleness.
func (q *request) estimate(tables []Traffic) *report {
	r := &report{Tables: tables, Windows: q.wanted, Window: q.window, Staleness: q.stale, model: q.model, prices: q.priced}
	sums := make([]Month, len(q.stale))
	for i := range tables {
		months := make([]Month, len(q.stale))
		for j, s := range q.stale {
			months[j] = q.model.month(&tables[i], q.window, s)
			sums[j].add(months[j])
		}
		r.Months = append(r.Months, months)
	}
	for _, sum := range sums {
		r.Bills = append(r.Bills, q.priced.bill(sum))
	}
	return r
}

// write writes the estimate as tables.
func (r *report) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) } // Flush tells
	say("Estimates, not a bill: list prices and a model, which docs/cost.md explains.")
	for _, note := range r.Notes {
		say("%s", note)
	}
	p := &r.prices
	say("prices: %s, %s: %v a GiB written (%v GiB free; %s), %v a TiB processed (%v TiB free; %s); a month of %v hours",
		p.Currency, p.Region, p.Write.PerGiB, p.Write.FreeGiB, p.Write.AsOf, p.OnDemand.PerTiB, p.OnDemand.FreeTiB, p.OnDemand.AsOf, p.Hours)
	say("queries: %s an hour of each table, which read %v of it where they needn't merge; without max_staleness an apply each %s (-unset_apply)",
		plain(r.model.Queries), r.model.QueryShare, short(r.model.UnsetApply))
	for i := range r.Tables {
		r.writeTable(say, i)
	}
	say("\nall tables, a month in %s, of a window of %s, less what is free", p.Currency, short(r.Window))
	say("max_staleness\twrite\tapply\tqueries\ttotal\t")
	for j, s := range r.Staleness {
		b := r.Bills[j]
		say("%s\t%.2f\t%.2f\t%.2f\t%.2f\t", staleness(s), b.Write, b.Apply, b.Query, b.Total())
	}
	return w.Flush()
}

func (r *report) writeTable(say func(string, ...any), i int) {
	t := &r.Tables[i]
	of := "given"
	if t.Sampled > 0 {
		of = "of " + counted(float64(t.Sampled), "row")
	}
	rows := number(t.Before.Rows) + " rows"
	if rows == "1 rows" {
		rows = "1 row"
	}
	say("\n%s: %s a second of %s on average (%s), table %s (%s)", t.Table, rows, size(t.Before.Bytes/t.Before.Rows), of, size(t.Baseline), t.Origin)
	written, applied, queried := 0.0, 0.0, 0.0
	for _, w := range r.Windows {
		written = max(written, t.After(w).Bytes*r.model.Hours*3600)
	}
	for _, m := range r.Months[i] {
		applied, queried = max(applied, m.ApplyBytes), max(queried, m.QueryBytes)
	}
	unit := unitOf(written, gib)
	say("window\trows/s written\trows saved\t%s written/month\t", unit.name)
	for _, w := range r.Windows {
		after := t.After(w)
		say("%s\t%s\t%.1f%%\t%s\t", short(w), number(after.Rows), 100*(1-after.Rows/t.Before.Rows), number(after.Bytes*r.model.Hours*3600/unit.bytes))
	}
	say("")
	unit = unitOf(max(applied, queried), tib)
	say("max_staleness\tapplies/month\t%s applied/month\tqueries/month\truntime merges\t%s queried/month\t", unit.name, unit.name)
	for j, s := range r.Staleness {
		m := &r.Months[i][j]
		say("%s\t%s\t%s\t%s\t%s\t%s\t", staleness(s), number(m.Applies), number(m.ApplyBytes/unit.bytes), number(m.Queries), number(m.Merges), number(m.QueryBytes/unit.bytes))
	}
}

// unit is one of bytes.
type unit struct {
	name  string
	bytes float64
}

var units = []unit{{"bytes", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", gib}, {"TiB", tib}}

// unitOf returns the largest unit of which there is one, up to a largest, that by which
// BigQuery bills; that too where there is nothing.
func unitOf(n, largest float64) unit {
	of := units[0]
	for _, u := range units[1:] {
		if u.bytes <= largest && (n >= u.bytes || n == 0) {
			of = u
		}
	}
	return of
}

// number writes three digits that count.
func number(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 3, 64), 64) // it was just written
	return plain(rounded)
}

// plain writes a number without an exponent.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func size(n float64) string {
	of := unitOf(n, tib)
	switch n {
	case 0:
		return "0 bytes"
	case 1:
		return "1 byte"
	}
	return number(n/of.bytes) + " " + of.name
}

// counted writes a number of things: "1 table", "2 tables".
func counted(n float64, of string) string {
	if n != 1 {
		of += "s"
	}
	return plain(n) + " " + of
}

func queries(n float64) string {
	if n == 1 {
		return "1 query"
	}
	return plain(n) + " queries"
}

func staleness(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return short(d)
}

// short writes 5m0s as 5m.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
