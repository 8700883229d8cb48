package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The chart's measures, in pixels.
const (
	chartWidth  = 720
	panelHeight = 90
	panelGap    = 34
	plotLeft    = 70
	plotRight   = chartWidth - 120
)

// line is one of a panel's, with a value for each sample.
type line struct {
	name, color string
	value       func(*sample) float64
}

// panel is a part of the chart with a scale of its own, from 0.
type panel struct {
	title string
	lines []line
}

const (
	blue   = "#1f77b4"
	orange = "#d95f02"
)

func panels() []panel {
	const mega = 1 << 20
	return []panel{
		{"messages/s", []line{
			{"published", blue, func(s *sample) float64 { return float64(s.rate) }},
			{"acked", orange, func(s *sample) float64 { return s.acked }},
		}},
		{"publish to acked, s", []line{
			{"p50", blue, func(s *sample) float64 { return s.p50.Seconds() }},
			{"p99", orange, func(s *sample) float64 { return s.p99.Seconds() }},
		}},
		{"memory, MB", []line{
			{"heap alive", blue, func(s *sample) float64 { return float64(s.heap) / mega }},
			{"of the system", orange, func(s *sample) float64 { return float64(s.memory) / mega }},
		}},
		{"goroutines", []line{{"goroutines", blue, func(s *sample) float64 { return float64(s.goroutines) }}}},
		{"connections", []line{
			{"sockets", blue, func(s *sample) float64 { return float64(s.sockets) }},
			{"BigQuery streams", orange, func(s *sample) float64 { return float64(s.streams) }},
		}},
		{"messages not acked, thousands", []line{
			{"taken", blue, func(s *sample) float64 { return float64(s.outstanding) / 1000 }},
			{"in Pub/Sub", orange, func(s *sample) float64 { return float64(s.waiting) / 1000 }},
		}},
	}
}

// chart draws a run's samples over time, as SVG.
func chart(r *result) string {
	all := panels()
	height := len(all)*(panelHeight+panelGap) + 40
	end := time.Second
	if len(r.samples) > 0 {
		end = r.samples[len(r.samples)-1].at
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", chartWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", chartWidth, height)
	for i, p := range all {
		top := i*(panelHeight+panelGap) + 24
		p.draw(&b, r.samples, end, top)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%v</text>`+"\n", plotRight, height-22, end.Round(time.Second))
	fmt.Fprintf(&b, `<text x="%d" y="%d">0</text>`+"\n</svg>\n", plotLeft, height-22)
	return b.String()
}

func (p *panel) draw(b *strings.Builder, samples []sample, end time.Duration, top int) {
	most := 0.0
	for _, l := range p.lines {
		for i := range samples {
			most = max(most, l.value(&samples[i]))
		}
	}
	most = roundUp(most)
	bottom := top + panelHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", plotLeft, top-6, p.title)
	fmt.Fprintf(b, `<path d="M%d %dH%dM%d %dH%d" stroke="#ccc"/>`+"\n", plotLeft, top, plotRight, plotLeft, bottom, plotRight)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%g</text><text x="%d" y="%d" text-anchor="end">0</text>`+"\n", plotLeft-6, top+4, most, plotLeft-6, bottom+4)
	for n, l := range p.lines {
		var points strings.Builder
		for i := range samples {
			s := &samples[i]
			x := plotLeft + float64(plotRight-plotLeft)*s.at.Seconds()/end.Seconds()
			y := float64(bottom) - panelHeight*max(l.value(s), 0)/most
			fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.TrimSpace(points.String()), l.color)
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotRight+8, top+12+16*n, l.color, l.name)
	}
}

// roundUp returns the end of a scale: 1, 2 or 5 times a power of ten.
func roundUp(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, times := range []float64{1, 2, 5} {
		if most <= times*power {
			return times * power
		}
	}
	return 10 * power
}
