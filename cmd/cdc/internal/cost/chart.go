package cost

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The chart's measures, in pixels.
const (
	chartWidth, barHeight, barGap = 760, 26, 14
	chartLeft, chartRight         = 90, 110
	chartTop, chartBottom         = 84, 56
)

// svg draws a bar for each max_staleness: what a month of all tables costs, by what for.
func (r *report) svg() []byte {
	var b strings.Builder
	height := chartTop + len(r.Bills)*(barHeight+barGap) + chartBottom
	text := func(x, y float64, anchor, style, words string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, style, html.EscapeString(words))
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" role="img">`+"\n", chartWidth, height, chartWidth, height)
	fmt.Fprintf(&b, "<title>Estimated cost a month by max_staleness</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", chartWidth, height)
	text(chartLeft, 24, "start", ` font-size="16" font-weight="bold"`, fmt.Sprintf("Estimated %s a month by max_staleness", r.prices.Currency))
	parts := []struct{ name, color string }{{"rows written", "#4477aa"}, {"background applies", "#ccbb44"}, {"queries and runtime merges", "#aa3377"}}
	at := float64(chartLeft)
	for _, p := range parts {
		fmt.Fprintf(&b, `<rect x="%.1f" y="42" width="12" height="12" fill="%s"/>`+"\n", at, p.color)
		text(at+18, 53, "start", "", p.name)
		at += 48 + 7.2*float64(len(p.name))
	}
	most := 0.0
	for _, bill := range r.Bills {
		most = max(most, bill.Total())
	}
	step := tick(most)
	scale := (chartWidth - chartLeft - chartRight) / max(most, step)
	bottom := float64(height - chartBottom)
	for n := 0.0; n <= max(most, step)*1.0001; n += step {
		x := chartLeft + n*scale
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x, chartTop-8, x, bottom)
		text(x, bottom+16, "middle", ` fill="#555555"`, fmt.Sprintf("%g", n))
	}
	for j, bill := range r.Bills {
		y := float64(chartTop + j*(barHeight+barGap))
		x := float64(chartLeft)
		text(x-8, y+barHeight-8, "end", "", staleness(r.Staleness[j]))
		for k, cost := range []float64{bill.Write, bill.Apply, bill.Query} {
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, cost*scale, barHeight, parts[k].color)
			x += cost * scale
		}
		text(x+6, y+barHeight-8, "start", "", fmt.Sprintf("%.2f", bill.Total()))
	}
	text(chartLeft, float64(height-14), "start", ` fill="#555555" font-size="11"`, fmt.Sprintf(
		"%s, a window of %s, %s an hour of each; list prices of %s and %s; a model, no bill",
		counted(float64(len(r.Tables)), "table"), short(r.Window), queries(r.model.Queries), r.prices.Write.AsOf, r.prices.OnDemand.AsOf))
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// tick returns a round distance of which some are up to most.
func tick(most float64) float64 {
	if most <= 0 {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step < 2:
		return step / 5
	case most/step < 5:
		return step / 2
	default:
		return step
	}
}
