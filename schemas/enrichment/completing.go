package enrichment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"beamcdc/schemas/expression"
	"beamcdc/schemas/table"
)

// CheckCompleting returns what contradicts completing the rule's rows from their other
// changes first, as fill and soft deletes do: *Problems, none of a rule that doesn't. key
// is the table's primary key, as far as it is known.
//
//   - A row's changes are found by its key, which no step may rename or mask.
//   - A row is made again when an older change comes late, after its message's data was
//     forgotten: an expression that reads data would fail then, and not before.
//   - The columns by which soft deletes and first_seen: read tell what they did are
//     theirs alone: a delete whose flag is dropped is none.
func CheckCompleting(r *table.Rule, key []string) []error {
	if !r.Completes() {
		return nil
	}
	var found []error
	own := r.OwnColumns()
	keys := newFlow(r.Enrich, &table.Table{PrimaryKey: key}).keys
	for i := range r.Enrich {
		s := &r.Enrich[i]
		report := func(at string, err error) {
			found = append(found, &Problem{Key: fmt.Sprintf("enrich[%d].%s", i, at), Err: err})
		}
		expressions, changed := expressionsOf(s), changedBy(s)
		for _, at := range slices.Sorted(maps.Keys(expressions)) {
			// What is wrong with an expression by itself is Compile's to tell.
			if compiled, err := expression.CompileRow(expressions[at], &expression.Scope{Open: true}); err == nil && compiled.ReadsData() {
				report(at, errors.New("it reads data, which a row that is completed again has no more: read row, before or attributes, or leave fill and soft deletes out"))
			}
		}
		for _, at := range slices.Sorted(maps.Keys(changed)) {
			for _, name := range changed[at] {
				switch {
				case slices.ContainsFunc(own, func(c table.Column) bool { return strings.EqualFold(c.Name, name) }):
					report(at, fmt.Errorf("column %s is made by fill or soft deletes, and no step may change it", name))
				case s.Rename != nil && has(keys[i+1], name) && !has(keys[i], name), s.Mask != nil && has(keys[i+1], name):
					report(at, fmt.Errorf("column %s is of the primary key, by which fill and soft deletes find a row's changes: no step may rename or mask it", name))
				}
			}
		}
	}
	return found
}

// expressionsOf returns a step's expressions by their keys in the configuration.
func expressionsOf(s *table.Step) map[string]string {
	of := make(map[string]string, len(s.Set)+1)
	for _, a := range s.Set {
		of["set."+a.Column] = a.Expression
	}
	if s.Where != "" {
		of["where"] = s.Where
	}
	return of
}

// changedBy returns the columns that a step writes, renames or drops, by their keys in
// the configuration.
func changedBy(s *table.Step) map[string][]string {
	of := make(map[string][]string)
	for _, a := range s.Set {
		of["set."+a.Column] = []string{a.Column}
	}
	for _, m := range s.Metadata {
		of["metadata."+m.Column] = []string{m.Column}
	}
	if s.Lookup != nil {
		for _, pair := range s.Lookup.Columns {
			of["lookup.columns."+pair.Column] = []string{pair.Column}
		}
	}
	for _, r := range s.Rename {
		of["rename."+r.From] = []string{r.From, r.To}
	}
	for i, name := range s.Drop {
		of[fmt.Sprintf("drop[%d]", i)] = []string{name}
	}
	if s.Mask != nil {
		for i, name := range s.Mask.Columns {
			of[fmt.Sprintf("mask.columns[%d]", i)] = []string{name}
		}
	}
	return of
}
