package pipeline

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"beamcdc/schemas/table"
)

// steps reads the list of a rule's steps.
func (y *reader) steps(node ast.Node, key string) []table.Step {
	steps := []table.Step{}
	y.sequence(node, key, "- rename: {cust: customer}", func(item ast.Node, key string) {
		var s table.Step
		kinds := 0
		one := func(read func(ast.Node, string)) func(ast.Node, string) {
			return func(node ast.Node, key string) { kinds++; read(node, key) }
		}
		y.mapping(item, key, fields{
			"lookup": one(func(node ast.Node, key string) { s.Lookup = y.lookup(node, key) }),
			"set": one(func(node ast.Node, key string) {
				s.Set = []table.Assignment{}
				y.texted(node, key, func(name, text string) {
					s.Set = append(s.Set, table.Assignment{Column: name, Expression: text})
				})
			}),
			"where": one(y.scalar(&s.Where)),
			"metadata": one(func(node ast.Node, key string) {
				s.Metadata = []table.MetadataColumn{}
				y.texted(node, key, func(name, text string) {
					s.Metadata = append(s.Metadata, table.MetadataColumn{Column: name, Of: table.Metadata(text)})
				})
			}),
			"rename": one(func(node ast.Node, key string) {
				s.Rename = []table.Renaming{}
				y.texted(node, key, func(name, text string) { s.Rename = append(s.Rename, table.Renaming{From: name, To: text}) })
			}),
			"drop": one(y.texts(&s.Drop, "[note]")),
			"mask": one(func(node ast.Node, key string) { s.Mask = y.mask(node, key) }),
		})
		switch {
		case kinds > 1:
			y.report(item, key, "it is more than one step; begin each with a dash of its own: steps are taken in order")
		case kinds == 1 && s.Kind() == "": // the value that it has could not be read, or is empty
			y.report(item, key, "the step says nothing")
		}
		steps = append(steps, s)
	})
	return steps
}

func (y *reader) lookup(node ast.Node, key string) *table.Lookup {
	l := new(table.Lookup)
	y.mapping(node, key, fields{
		"csv":        y.scalar(&l.CSV),
		"json_lines": y.scalar(&l.JSONLines),
		"parquet":    y.scalar(&l.Parquet),
		"table":      y.scalar(&l.Table),
		"query":      y.scalar(&l.Query),
		"nulls":      y.scalar(&l.Nulls),
		"key":        y.pairs(&l.Key),
		"columns":    y.pairs(&l.Columns),
		"refresh":    y.scalar(&l.Refresh),
		"on_miss":    y.word(&l.OnMiss, table.MissNull, table.MissReject, table.MissDefaults),
		"defaults": func(node ast.Node, key string) {
			y.entries(node, key, func(name string, node ast.Node, key string) {
				if text, _, ok := y.text(node, key); ok { // a number's text, too
					l.Defaults = append(l.Defaults, table.Default{Column: name, Value: text})
				}
			})
		},
	})
	return l
}

func (y *reader) mask(node ast.Node, key string) *table.Mask {
	m := new(table.Mask)
	y.mapping(node, key, fields{
		"columns": y.texts(&m.Columns, "[email]"),
		"by":      y.word(&m.By, table.MaskWords...),
		"keep":    y.scalar(&m.Keep),
		"key": func(node ast.Node, key string) {
			m.Key = new(table.SecretKey)
			y.mapping(node, key, fields{
				"secret": y.scalar(&m.Key.Secret),
				"file":   y.scalar(&m.Key.File),
				"env":    y.scalar(&m.Key.Environment),
			})
		},
	})
	return m
}

// pairs returns the reader of columns that are held against others: {customer_id: id},
// or [id] where both have one name.
func (y *reader) pairs(pairs *[]table.ColumnPair) func(ast.Node, string) {
	return func(node ast.Node, key string) {
		if _, isList := node.(*ast.SequenceNode); isList {
			var names []string
			y.texts(&names, "[id]")(node, key)
			for _, name := range names {
				*pairs = append(*pairs, table.ColumnPair{Column: name, Reference: name})
			}
			return
		}
		y.texted(node, key, func(name, text string) {
			*pairs = append(*pairs, table.ColumnPair{Column: name, Reference: text})
		})
	}
}

// texted calls each with the keys of a mapping and their texts.
func (y *reader) texted(node ast.Node, key string, each func(name, text string)) {
	y.entries(node, key, func(name string, node ast.Node, key string) {
		var text string
		y.scalar(&text)(node, key)
		each(name, text)
	})
}

// entries calls each with the values of a mapping whose keys are names of columns.
func (y *reader) entries(node ast.Node, key string, each func(name string, node ast.Node, key string)) {
	node = y.resolve(node, key)
	var pairs []*ast.MappingValueNode
	switch node := node.(type) {
	case nil:
		return
	case *ast.MappingNode:
		pairs = node.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{node}
	default:
		y.report(node, key, "it must hold columns, such as {name: …}")
		return
	}
	seen := make(map[string]int)
	for _, pair := range pairs {
		name := pair.Key.GetToken().Value
		path, line := join(key, name), pair.Key.GetToken().Position.Line
		if seen[name] > 0 {
			y.reportLine(line, path, fmt.Sprintf("it is set twice, in line %d before", seen[name]))
			continue
		}
		seen[name] = line
		y.o.positions[path] = position{line: line}
		if value := y.resolve(pair.Value, path); value != nil {
			each(name, value, path)
		}
	}
}
