package pipeline

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"beamcdc/schemas/table"
)

// tables reads the list of rules.
func (y *reader) tables(node ast.Node, key string) {
	y.sequence(node, key, "- {source: public.orders, destination: shop.orders}", func(item ast.Node, key string) {
		var r table.Rule
		known := fields{
			"source":      y.scalar(&r.Source),
			"destination": y.scalar(&r.Destination),
			"primary_key": y.texts(&r.PrimaryKey, "[order_id]"),
			"columns":     func(node ast.Node, key string) { r.Columns = y.columns(node, key, 1) },
			"cluster_by":  y.texts(&r.ClusterBy, "[order_id]"),
			"partition_by": func(node ast.Node, key string) {
				p := new(table.Partition)
				y.mapping(node, key, fields{
					"column": y.scalar(&p.Column),
					"type":   y.word(&p.Type, "HOUR", "DAY", "MONTH", "YEAR"),
				})
				r.PartitionBy = p
			},
			"fill": func(node ast.Node, key string) { r.Fill = y.fill(node, key) },
			"soft_delete": func(node ast.Node, key string) {
				r.SoftDelete = new(table.SoftDelete)
				y.mapping(node, key, fields{"flag": y.scalar(&r.SoftDelete.Flag), "time": y.scalar(&r.SoftDelete.Time)})
			},
			"max_staleness": y.scalar(&r.MaxStaleness),
			"max_columns":   y.scalar(&r.MaxColumns),
			"sequence":      y.scalar(&r.Sequence),
			"history":       y.scalar(&r.History),
			"enrich":        func(node ast.Node, key string) { r.Enrich = y.steps(node, key) },
		}
		for _, w := range ruleWords {
			known[w.Key] = y.word(w.field(&r), w.Words...)
		}
		y.mapping(item, key, known)
		y.o.Tables = append(y.o.Tables, r)
	})
}

// columns reads a list of columns, or of a STRUCT's fields.
func (y *reader) columns(node ast.Node, key string, depth int) []table.Column {
	if depth > table.MaxNesting {
		y.report(node, key, fmt.Sprintf("STRUCTs are nested deeper than BigQuery's %d levels", table.MaxNesting))
		return nil
	}
	columns := []table.Column{}
	y.sequence(node, key, "- {name: order_id, type: INT64}", func(item ast.Node, key string) {
		var c, typed table.Column
		var mode, from, policy string
		scaled := false
		y.mapping(item, key, fields{
			"name":        y.scalar(&c.Name),
			"type":        y.columnType(&typed),
			"mode":        y.word(&mode, "NULLABLE", "REQUIRED", "REPEATED"),
			"fields":      func(node ast.Node, key string) { c.Fields = y.columns(node, key, depth+1) },
			"description": y.scalar(&c.Description),
			"from":        y.word(&from, texts(table.Froms)...),
			"scale":       func(node ast.Node, key string) { scaled = true; y.scale(&c.FromScale)(node, key) },
			"bad_values":  y.word(&policy, texts(table.Policies)...),
		})
		if typed.Fields != nil && c.Fields != nil {
			y.report(item, key, "its fields are given twice, in its type and as fields")
		}
		if typed.Mode != "" && mode != "" && string(typed.Mode) != mode {
			y.report(item, key, fmt.Sprintf("its type says %s, its mode %s", typed.Mode, mode))
		}
		c.Type, c.Element, c.MaxLength, c.Precision, c.Scale = typed.Type, typed.Element, typed.MaxLength, typed.Precision, typed.Scale
		c.Mode, c.From, c.BadValues = cmp.Or(typed.Mode, table.Mode(mode)), table.From(from), table.Policy(policy)
		// Whole numbers have none, so that an INT64 needs no scale.
		c.FromUnscaled = c.From == table.FromDecimal && !scaled && c.Type != table.Int64
		if c.Fields == nil {
			c.Fields = typed.Fields
		}
		columns = append(columns, c)
	})
	return columns
}

// scale returns the reader of a scale, which Oracle's may be negative.
func (y *reader) scale(field *int64) func(ast.Node, string) {
	return func(node ast.Node, key string) {
		const farthest = 10_000 // beyond every source's
		text, _, ok := y.text(node, key)
		if !ok {
			return
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < -farthest || n > farthest {
			y.report(node, key, fmt.Sprintf("%q is no number of digits after the point", text))
			return
		}
		*field = n
	}
}

// columnType returns the reader of a type as GoogleSQL writes it: "INT64",
// "NUMERIC(12,2)", "ARRAY<STRING>".
func (y *reader) columnType(c *table.Column) func(ast.Node, string) {
	return func(node ast.Node, key string) {
		var text string
		y.scalar(&text)(node, key)
		if text == "" {
			return
		}
		parsed, err := table.ParseType(text)
		if err != nil {
			problem := err.Error()
			if isCutOff(text) {
				problem += "; quote it: " + commaEnds
			}
			y.report(node, key, problem)
			return
		}
		*c = parsed
	}
}
