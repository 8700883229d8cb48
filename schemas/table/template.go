package table

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// The placeholders of a destination. Each stands for a part of the source's
// name: the last one, and the one before it.
const (
	placeholderSchema = "{schema}"
	placeholderTable  = "{table}"
)

// template is a destination in which placeholders may stand.
type template struct {
	name    Name // with placeholders in Dataset and Table
	literal bool // it has none
}

func parseTemplate(text, project string) (*template, error) {
	name, err := splitName(text, project)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", clip(text), err)
	}
	if strings.ContainsAny(name.Project, "{}") {
		return nil, fmt.Errorf("%q: a source's name can't choose the project", clip(text))
	}
	// What is legal with a letter for each placeholder is so with any legal text.
	letters := strings.NewReplacer(placeholderSchema, "a", placeholderTable, "a")
	example := Name{Project: name.Project, Dataset: letters.Replace(name.Dataset), Table: letters.Replace(name.Table)}
	if strings.ContainsAny(example.Dataset+example.Table, "{}") {
		return nil, fmt.Errorf("%q: it takes {schema} and {table} only", clip(text))
	}
	if err := example.check(); err != nil {
		return nil, fmt.Errorf("%q: %w", clip(text), err)
	}
	return &template{name: name, literal: example == name}, nil
}

func (t *template) has(placeholder string) bool {
	return strings.Contains(t.name.Dataset, placeholder) || strings.Contains(t.name.Table, placeholder)
}

// expand puts the source's parts in. They come from messages: they may hold
// nothing that has a meaning of its own in a name ("orders$20250101" is a
// partition, "a.b" two parts, a backquote the end of a quotation).
func (t *template) expand(source []string) (Name, error) {
	if t.literal {
		return t.name, nil
	}
	if len(source) == 0 {
		return Name{}, errors.New("the message names no table to put into the destination")
	}
	schema, table := "", source[len(source)-1]
	if t.has(placeholderSchema) {
		if len(source) < 2 {
			return Name{}, errors.New("the source's name has no schema to put into the destination")
		}
		schema = source[len(source)-2]
		if err := checkPart("schema", schema); err != nil {
			return Name{}, err
		}
	}
	if t.has(placeholderTable) {
		if err := checkPart("table", table); err != nil {
			return Name{}, err
		}
	}
	replace := strings.NewReplacer(placeholderSchema, schema, placeholderTable, table)
	name := Name{Project: t.name.Project, Dataset: replace.Replace(t.name.Dataset), Table: replace.Replace(t.name.Table)}
	if err := name.check(); err != nil {
		return Name{}, err
	}
	return name, nil
}

// checkPart is stricter than BigQuery is with a table's name.
func checkPart(what, part string) error {
	for _, r := range part {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' {
			return fmt.Errorf("the source's %s %q has %q, which can't be put into the destination", what, clip(part), r)
		}
	}
	return nil
}
