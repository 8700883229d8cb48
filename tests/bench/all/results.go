package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the tables of what a command printed: of Go's benchmarks one each, of the
// gate's limits one, and those that it printed as Markdown.
func results(output string) string {
	var b strings.Builder
	b.WriteString(tableOf(measurements(output)))
	b.WriteString(gates(output))
	inTable := false
	for line := range strings.SplitSeq(output, "\n") {
		is := strings.HasPrefix(line, "|")
		switch {
		case is:
			b.WriteString(line + "\n")
		case inTable:
			b.WriteByte('\n')
		case strings.Contains(line, "medians (least to most)"):
			b.WriteString(line + "\n\n")
		}
		inTable = is
	}
	if b.Len() == 0 && output != "" {
		const most = 4000
		return "```\n" + output[max(0, len(output)-most):] + "\n```\n"
	}
	return b.String()
}

var gated = regexp.MustCompile(`(?m)^=== RUN +TestGate/(\S+)\n.*?: (\S+) times \(at most (\S+)\), (\S+) allocations a change \(at most (\S+)\)`)

// gates are what the gate measured, with its limits. A limit of 0 allocations is none.
func gates(output string) string {
	matches := gated.FindAllStringSubmatch(output, -1)
	if matches == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("| | measured | limit | allocations | limit |\n|---|---|---|---|---|\n")
	for _, m := range matches {
		if m[5] == "0" {
			m[4], m[5] = "", ""
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(m[1:], " | "))
	}
	return b.String() + "\n"
}

// measurement is what a benchmark reported.
type measurement struct {
	name   string
	values map[string]float64 // by unit
	units  []string
}

var benchmark = regexp.MustCompile(`^Benchmark(\S+?)(-\d+)?\s+\d+\s+(.*)$`)

// measurements are those of Go's benchmarks. A unit that ends in @NAME is of a benchmark
// NAME below, which ran together with others. Of a benchmark that ran several times the
// medians count.
func measurements(output string) []measurement {
	var list []measurement
	all := make(map[string]map[string][]float64)
	for line := range strings.Lines(output) {
		match := benchmark.FindStringSubmatch(strings.TrimSpace(line))
		if match == nil {
			continue
		}
		fields := strings.Fields(match[3])
		for i := 0; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			name, unit := match[1], fields[i+1]
			if before, after, ok := strings.Cut(unit, "@"); ok {
				name, unit = name+"/"+after, before
			}
			at := slices.IndexFunc(list, func(m measurement) bool { return m.name == name })
			if at < 0 {
				at = len(list)
				list = append(list, measurement{name: name, values: make(map[string]float64)})
				all[name] = make(map[string][]float64)
			}
			m := &list[at]
			if all[name][unit] == nil {
				m.units = append(m.units, unit)
			}
			all[name][unit] = append(all[name][unit], value)
			m.values[unit] = median(all[name][unit])
		}
	}
	return list
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// tableOf has a line for each benchmark and a column for each unit, a table for each
// function. "" where there are none.
func tableOf(measured []measurement) string {
	var b strings.Builder
	for len(measured) > 0 {
		function, _, _ := strings.Cut(measured[0].name, "/")
		end := slices.IndexFunc(measured, func(m measurement) bool {
			other, _, _ := strings.Cut(m.name, "/")
			return other != function
		})
		if end < 0 {
			end = len(measured)
		}
		writeTable(&b, function, measured[:end])
		measured = measured[end:]
	}
	return b.String()
}

func writeTable(b *strings.Builder, function string, measured []measurement) {
	var units []string
	for i := range measured {
		for _, unit := range measured[i].units {
			if !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
	}
	fmt.Fprintf(b, "| %s | %s |\n|---%s|\n", function, strings.Join(units, " | "), strings.Repeat("|---", len(units)))
	for i := range measured {
		m := &measured[i]
		_, rest, _ := strings.Cut(m.name, "/")
		fmt.Fprintf(b, "| %s |", rest)
		for _, unit := range units {
			value, ok := m.values[unit]
			text := ""
			if ok {
				text = figures(value)
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// figures is a number in three figures, or all that are before its point.
func figures(value float64) string {
	text := strconv.FormatFloat(value, 'g', 3, 64)
	if strings.Contains(text, "e") || value >= 1000 || value <= -1000 {
		text = strconv.FormatFloat(value, 'f', 0, 64)
		if value > -1 && value < 1 {
			text = strconv.FormatFloat(value, 'f', 6, 64)
		}
	}
	return text
}
