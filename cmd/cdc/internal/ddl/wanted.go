package ddl

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// wanted returns the table that a rule implies, of a source, nil where nothing was
// told of one, for which lacking has the reason. The notes are for the user. The error
// joins all reasons why BigQuery wouldn't take it. With hints the columns say what their
// values mean without a schema, else a note does.
func wanted(m table.Match, s *Source, lacking func(source string) string, hints bool) (t *table.Table, notes []string, err error) {
	rule := *m.Rule
	if s == nil {
		s = &Source{Name: rule.Source}
		for i := range rule.Columns {
			if rule.Columns[i].Type == "" {
				return nil, nil, fmt.Errorf("table %v: its rule's column %s has no type, and %s", m.Name, rule.Columns[i].Name, lacking(rule.Source))
			}
		}
		if len(rule.Columns) == 0 {
			return nil, nil, fmt.Errorf("table %v: its rule has no columns, and %s", m.Name, lacking(rule.Source))
		}
	}
	f := &flow{columns: slices.Clone(s.Columns), key: slices.Clone(s.Key), notes: slices.Clone(s.Notes), hints: hints}
	if table.GrowthOf(m.Rule) != nil {
		f.legalize()
	}
	for i := range rule.Enrich {
		f.step(&rule.Enrich[i], rule.Columns)
	}
	if len(rule.PrimaryKey) == 0 {
		rule.PrimaryKey = f.key
	}
	if loose(m.Rule) {
		f.loosen(rule.PrimaryKey)
	}
	if rule.Columns, err = f.merge(m.Rule); err != nil {
		return nil, f.notes, fmt.Errorf("table %v: %w", m.Name, err)
	}
	for _, name := range s.Unbounded {
		if c := find(rule.Columns, name); c != nil && c.Type == table.BigNumeric {
			f.note(unbounded, name)
		}
	}
	if !hints {
		f.hint(m.Rule)
	}
	t, err = table.FromRule(m.Name, &rule)
	if err != nil {
		return nil, f.notes, err
	}
	t.Description = s.Description
	return t, f.notes, nil
}

// loose reports whether the pipeline may have to write NULL where a source has NOT NULL:
// a row that isn't complete, a hidden row of a delete, or a bad value.
func loose(rule *table.Rule) bool {
	return rule.Completes() || rule.Truncates == catalog.Recreate || table.Policy(rule.BadValues) == table.PolicyNull
}

// flow is what becomes of a source's columns on their way to the table.
type flow struct {
	columns []table.Column
	key     []string
	notes   []string
	untyped []string // columns that a step makes and nothing types
	hints   bool     // the columns keep what their values mean without a schema
}

func (f *flow) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// legalize gives the columns the names that the pipeline gives them, where BigQuery
// doesn't take the source's.
func (f *flow) legalize() {
	for i := range f.columns {
		c := &f.columns[i]
		legal := table.LegalName(c.Name)
		for j := range f.key {
			if f.key[j] == c.Name {
				f.key[j] = legal
			}
		}
		c.Name = legal
	}
}

func (f *flow) loosen(key []string) {
	for i := range f.columns {
		if c := &f.columns[i]; c.Mode == table.Required && !contains(key, c.Name) {
			c.Mode = table.Nullable
		}
	}
}

// merge returns the table's columns: the rule's and the source's.
func (f *flow) merge(rule *table.Rule) ([]table.Column, error) {
	typed := len(rule.Columns) > 0
	var columns []table.Column
	for _, c := range rule.Columns {
		of := find(f.columns, c.Name)
		switch {
		case c.Type == "" && of == nil:
			return nil, fmt.Errorf("its rule's column %s has no type, and the source has no such column; give the type, or take the column out", c.Name)
		case c.Type == "":
			typed = false
			hinted := *of
			hinted.Name, hinted.From, hinted.FromScale, hinted.FromUnscaled, hinted.BadValues = c.Name, c.From, c.FromScale, c.FromUnscaled, c.BadValues
			if c.Mode != "" {
				hinted.Mode = c.Mode
			}
			if c.Description != "" {
				hinted.Description = c.Description
			}
			c = hinted
		case of != nil:
			c.Description = cmp.Or(c.Description, of.Description)
			if f.hints && c.From == "" && c.Type == of.Type {
				c.From, c.FromScale, c.FromUnscaled = of.From, of.FromScale, of.FromUnscaled
			}
		}
		columns = append(columns, c)
	}
	var ignored []string
	for _, c := range f.columns {
		switch {
		case find(columns, c.Name) != nil:
		case typed && rule.UnknownColumns == "ignore":
			ignored = append(ignored, c.Name)
		default:
			if !f.hints {
				c.From, c.FromScale, c.FromUnscaled = "", 0, false
			}
			columns = append(columns, c)
		}
	}
	if !typed { // settings of some columns: the source's order is the table's
		slices.SortStableFunc(columns, func(a, b table.Column) int { return cmp.Compare(f.place(a.Name), f.place(b.Name)) })
	}
	if len(ignored) > 0 {
		f.note("left out, since the rule doesn't list them and unknown_columns is ignore: %s", strings.Join(ignored, ", "))
	}
	for _, name := range f.untyped {
		if find(columns, name) == nil {
			return nil, fmt.Errorf("column %s is made by a step of enrich, which doesn't tell its type; list it with its type under the rule's columns", name)
		}
	}
	return columns, nil
}

// place returns a column's place in the source; those that it lacks come last.
func (f *flow) place(name string) int {
	if i := index(f.columns, name); i >= 0 {
		return i
	}
	return len(f.columns)
}

// hint says what the rule has to say of columns whose values a message without a
// schema doesn't type.
func (f *flow) hint(rule *table.Rule) {
	var missing []string
	for i := range f.columns {
		c := &f.columns[i]
		if own := find(rule.Columns, c.Name); c.From == "" || own != nil && (own.From != "" || own.Type != "" && own.Type != c.Type) {
			continue
		}
		hint := fmt.Sprintf("{name: %s, from: %s}", inYAML(c.Name), c.From)
		if c.From == table.FromDecimal {
			hint = fmt.Sprintf("{name: %s, from: %s, scale: %d}", inYAML(c.Name), c.From, c.FromScale)
		}
		if c.From == table.FromUnsigned {
			f.note("column %s is unsigned, which no schema of Debezium's tells: the rule's columns need %s, unless bigint.unsigned.handling.mode is precise", c.Name, hint)
			continue
		}
		missing = append(missing, hint)
	}
	if len(missing) > 0 {
		f.note("if messages come without Debezium's schema, the rule's columns need\n  - %s", strings.Join(missing, "\n  - "))
	}
}

// plainName is a name that YAML takes for a text, within {…} too.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// inYAML writes a name as the configuration takes it.
func inYAML(name string) string {
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n": // which some readers take for values
	default:
		if plainName.MatchString(name) {
			return name
		}
	}
	return strconv.Quote(name)
}
