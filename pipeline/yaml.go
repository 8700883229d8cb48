package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"beamcdc/internal/spelling"
)

// Load reads a configuration file, or gs://BUCKET/NAME. Its error says only that it can't be
// read; what is wrong in it is kept for Validate, which reports everything at
// once, after flags have had their say.
func Load(path string) (Options, error) {
	text, err := readFile(path)
	if err != nil {
		return Options{}, fmt.Errorf("reading the configuration: %w", err)
	}
	return Parse(path, text), nil
}

// Parse reads a configuration from its text. The name stands for the file in
// findings. What is wrong in the text is kept for Validate.
func Parse(name string, text []byte) Options {
	o := Options{file: name, positions: make(map[string]position)}
	y := reader{o: &o, anchors: make(map[string]ast.Node), budget: len(text) + maxAliased}
	if line := tooDeep(text); line > 0 {
		y.reportLine(line, "", fmt.Sprintf("it is nested more than %d deep", maxDepth))
		return o
	}
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		y.syntax(err)
		return o
	}
	if len(file.Docs) > 1 && file.Docs[1].Body != nil {
		y.report(file.Docs[1].Body, "", "a second YAML document: the configuration is one")
	}
	if len(file.Docs) > 0 && file.Docs[0].Body != nil {
		y.document(file.Docs[0].Body)
	}
	return o
}

// maxDepth is far beyond any configuration. The parser's time grows with the
// square of the depth, so what is deeper is refused before it is parsed.
const maxDepth = 1000

// tooDeep returns the line at which brackets, or a line's dashes, nest deeper
// than maxDepth, 0 where none do. Brackets in texts count too: there are never so many.
func tooDeep(text []byte) int {
	line, brackets, dashes := 1, 0, 0
	for _, c := range text {
		switch c {
		case '\n':
			line, dashes = line+1, 0
		case '[', '{':
			brackets++
		case ']', '}':
			brackets--
		case '-', '?':
			dashes++
		}
		if brackets > maxDepth || dashes > maxDepth {
			return line
		}
	}
	return 0
}

// maxAliased bounds what aliases can make of a short file: values beyond those
// that its bytes can hold. A list of 200 columns can be repeated some 150 times.
const maxAliased = 100_000

// reader reads the nodes of one file into its options.
type reader struct {
	o       *Options
	anchors map[string]ast.Node
	budget  int
}

// fields are the keys that a mapping may have, and who reads their values.
type fields map[string]func(node ast.Node, key string)

// document reads the whole file.
func (y *reader) document(node ast.Node) {
	o := y.o
	y.mapping(node, "", fields{
		"source": func(node ast.Node, key string) {
			y.mapping(node, key, fields{
				"subscription":              y.scalar(&o.Source.Subscription),
				"format":                    y.scalar(&o.Source.Format),
				"epoch":                     y.scalar(&o.Source.Epoch),
				"unavailable_placeholder":   y.scalar(&o.Source.UnavailablePlaceholder),
				"flat_prefix":               y.scalar(&o.Source.FlatPrefix),
				"flat_fields":               y.scalar(&o.Source.FlatFields),
				"avro_schema":               y.scalar(&o.Source.AvroSchema),
				"schema_registry":           y.scalar(&o.Source.SchemaRegistry),
				"schema_registry_auth_file": y.scalar(&o.Source.SchemaRegistryAuthFile),
			})
		},
		"create_tables":   y.scalar(&o.CreateTables),
		"unlisted_tables": y.scalar(&o.UnlistedTables),
		"window":          y.scalar(&o.Window),
		"tables":          y.tables,
		"dead_letters": func(node ast.Node, key string) {
			y.mapping(node, key, fields{
				"topic":     y.scalar(&o.DeadLetters.Topic),
				"table":     y.scalar(&o.DeadLetters.Table),
				"directory": y.scalar(&o.DeadLetters.Directory),
				"data":      y.scalar(&o.DeadLetters.Data),
				"key":       y.scalar(&o.DeadLetters.Key),
			})
		},
		"runtime": func(node ast.Node, key string) {
			known := make(fields)
			for _, s := range settings {
				if name, ok := strings.CutPrefix(s.Key, "runtime."); ok {
					known[name] = y.scalar(s.field(o))
				}
			}
			y.mapping(node, key, known)
		},
	})
}

// mapping reads a mapping: it reports keys that are not known and keys that
// come twice, and notes where each key is.
func (y *reader) mapping(node ast.Node, key string, known fields) {
	node = y.resolve(node, key)
	var pairs []*ast.MappingValueNode
	switch node := node.(type) {
	case nil:
		return
	case *ast.MappingNode:
		pairs = node.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{node}
	case *ast.NullNode:
		y.report(node, key, "it has no value")
		return
	default:
		y.report(node, key, "it must hold keys: "+wordList(known))
		return
	}
	seen := make(map[string]int)
	for i, pair := range pairs {
		name := pair.Key.GetToken().Value
		path := join(key, name)
		line := pair.Key.GetToken().Position.Line
		read, ok := known[name]
		switch {
		case !ok:
			y.unknownKey(pairs[:i], line, name, path, known)
			continue
		case seen[name] > 0:
			y.reportLine(line, path, fmt.Sprintf("it is set twice, in line %d before", seen[name]))
			continue
		}
		seen[name] = line
		y.o.positions[path] = position{line: line}
		if value := y.resolve(pair.Value, path); value != nil {
			read(value, path)
		}
	}
}

// unknownKey reports a key that is not known, and what may have been meant. In {…}
// a comma ends a value: what is left of "NUMERIC(10,2)" becomes a key.
func (y *reader) unknownKey(before []*ast.MappingValueNode, line int, name, path string, known fields) {
	if len(before) > 0 {
		last := before[len(before)-1]
		switch {
		case !isCutOff(last.Value.GetToken().Value):
		case last.Key.GetToken().Value == "type": // columnType reports it
			return
		default:
			y.reportLine(line, path, "unknown key; quote the value before it: "+commaEnds)
			return
		}
	}
	problem := "unknown key; "
	if meant := spelling.Nearest(name, slices.Sorted(maps.Keys(known))); meant != "" {
		problem += "did you mean " + meant + "? "
	}
	y.reportLine(line, path, problem+"here are "+wordList(known))
}

const commaEnds = "a comma ends a value in {…}"

// isCutOff reports whether a value opens a bracket that it doesn't close.
func isCutOff(text string) bool {
	return strings.Count(text, "(")+strings.Count(text, "<") > strings.Count(text, ")")+strings.Count(text, ">")
}

// sequence calls each with the items of a list and their keys, "key[0]".
func (y *reader) sequence(node ast.Node, key, what string, each func(node ast.Node, key string)) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		y.report(node, key, "it must be a list, such as "+what)
		return
	}
	for i, item := range list.Values {
		path := fmt.Sprintf("%s[%d]", key, i)
		y.o.positions[path] = position{line: item.GetToken().Position.Line}
		if item = y.resolve(item, path); item != nil {
			each(item, path)
		}
	}
}

// scalar returns the reader of a scalar that field points to.
func (y *reader) scalar(field any) func(ast.Node, string) {
	return func(node ast.Node, key string) {
		text, isText, ok := y.text(node, key)
		if !ok {
			return
		}
		if _, wantsText := field.(*string); wantsText && !isText {
			y.report(node, key, fmt.Sprintf("%s is not text; put it in quotes", text))
			return
		}
		if err := setScalar(field, text); err != nil {
			y.report(node, key, err.Error())
		}
	}
}

// word returns the reader of a text that must be one of these words, in any
// case. YAML's null counts as the word, where null is one; no value does not.
func (y *reader) word(field *string, words ...string) func(ast.Node, string) {
	return func(node ast.Node, key string) {
		text, ok := "null", true
		if node.Type() != ast.NullType || !slices.Contains(words, text) || node.GetToken().Type == token.ImplicitNullType {
			text, _, ok = y.text(node, key)
		}
		if !ok {
			return
		}
		i := slices.IndexFunc(words, func(word string) bool { return strings.EqualFold(word, text) })
		if i < 0 {
			y.report(node, key, fmt.Sprintf("%q is none of %s", text, strings.Join(words, ", ")))
			return
		}
		*field = words[i]
	}
}

// texts returns the reader of a list of texts.
func (y *reader) texts(field *[]string, example string) func(ast.Node, string) {
	return func(node ast.Node, key string) {
		y.sequence(node, key, example, func(item ast.Node, key string) {
			var text string
			y.scalar(&text)(item, key)
			*field = append(*field, text)
		})
	}
}

// text returns a scalar as it is written, and whether YAML takes it for text.
func (y *reader) text(node ast.Node, key string) (text string, isText, ok bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true, true
	case *ast.LiteralNode:
		return node.Value.Value, true, true
	case *ast.NullNode:
		y.report(node, key, "it has no value")
		return "", false, false
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, false, true
	}
	y.report(node, key, "it must be a single value")
	return "", false, false
}

// resolve returns what an anchor or alias stands for, nil when there is nothing to read.
func (y *reader) resolve(node ast.Node, key string) ast.Node {
	if y.budget--; y.budget < 0 {
		if y.budget == -1 {
			y.report(node, key, "the file's aliases make too much of it")
		}
		return nil
	}
	switch n := node.(type) {
	case *ast.AnchorNode:
		y.anchors[n.Name.GetToken().Value] = n.Value
		return y.resolve(n.Value, key)
	case *ast.AliasNode:
		value, ok := y.anchors[n.Value.GetToken().Value]
		if !ok {
			y.report(n, key, fmt.Sprintf("alias *%s has no anchor before it", n.Value.GetToken().Value))
			return nil
		}
		return y.resolve(value, key)
	case *ast.TagNode:
		y.report(n, key, "YAML tags mean nothing here")
		return nil
	}
	return node
}

func (y *reader) report(node ast.Node, key, problem string) {
	y.reportLine(node.GetToken().Position.Line, key, problem)
}

func (y *reader) reportLine(line int, key, problem string) {
	y.o.findings = append(y.o.findings, Finding{File: y.o.file, Line: line, Key: key, Problem: problem})
}

// syntax reports a text that is no YAML.
func (y *reader) syntax(err error) {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		y.reportLine(e.GetToken().Position.Line, "", "it is no YAML: "+e.GetMessage())
		return
	}
	y.reportLine(0, "", "it is no YAML: "+err.Error())
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// wordList returns the keys in order, for a finding.
func wordList(known fields) string {
	words := make([]string, 0, len(known))
	for word := range known {
		words = append(words, word)
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
