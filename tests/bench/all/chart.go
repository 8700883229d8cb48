package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// chart is what is drawn of a command's results, a bar for each line of a table.
type chart struct {
	file, title string
	function    string // of Go's benchmarks; "" for a table of Markdown
	column      string // of the table, a unit
	target      float64
	targetText  string // "" for none
}

// bar is a line of the table.
type bar struct {
	label string
	value float64
}

// draw writes the chart of what a command printed into a directory.
func (c *chart) draw(directory, output string) error {
	var bars []bar
	if c.function != "" {
		for _, m := range measurements(output) {
			function, rest, _ := strings.Cut(m.name, "/")
			if value, ok := m.values[c.column]; ok && function == c.function {
				bars = append(bars, bar{strings.ReplaceAll(rest, "_", " "), value})
			}
		}
	} else {
		bars = column(output, c.column)
	}
	if len(bars) == 0 {
		return fmt.Errorf("drawing %s: the results have no column %q", c.file, c.column)
	}
	return os.WriteFile(filepath.Join(directory, c.file), []byte(c.svg(bars)), 0o600)
}

// column is a column of the first table of Markdown, with the lines' names.
func column(output, name string) (bars []bar) {
	at := -1
	for line := range strings.SplitSeq(output, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			if at >= 0 {
				return bars
			}
		case at < 0:
			for i, cell := range cells {
				if cell == name {
					at = i
				}
			}
		case at < len(cells):
			number, _, _ := strings.Cut(cells[at], " ") // its unit may follow
			if value, err := strconv.ParseFloat(number, 64); err == nil {
				bars = append(bars, bar{cells[0], value})
			}
		}
	}
	return bars
}

// Where things are in a chart.
const (
	chartWidth, plotLeft, plotWidth = 720, 190, 440
	barsTop, barHeight, barGap      = 34, 16, 8
)

func (c *chart) svg(bars []bar) string {
	most := c.target
	for _, b := range bars {
		most = max(most, b.value)
	}
	width := func(value float64) float64 { return plotWidth * value / most }
	bottom := barsTop + len(bars)*(barHeight+barGap)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", chartWidth, bottom+24)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", chartWidth, bottom+24)
	fmt.Fprintf(&b, `<text x="10" y="20" font-weight="bold">%s</text>`+"\n", html.EscapeString(c.title))
	for i, each := range bars {
		y := barsTop + i*(barHeight+barGap)
		color := "#1f77b4"
		if c.targetText != "" && each.value > c.target {
			color = "#d95f02"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, plotLeft-6, y+12, html.EscapeString(each.label))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, plotLeft, y, width(each.value), barHeight, color)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", plotLeft+width(each.value)+5, y+12, figures(each.value))
	}
	if c.targetText != "" {
		x := plotLeft + width(c.target)
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#333" stroke-dasharray="4 3"/>`, x, barsTop-4, bottom)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, bottom+14, html.EscapeString(c.targetText))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
