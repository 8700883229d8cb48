package ddl

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"beamcdc/internal/printable"
	"beamcdc/schemas/table"
)

// ruled is a rule with the key and the columns that its table is to have.
type ruled struct {
	source, destination string
	table               *table.Table
}

// writeRules writes rules as the configuration has them. What can't be one is told in the
// end: the others are written.
func writeRules(out io.Writer, notes []string, plan []Statements) error {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString(remark("", note))
	}
	b.WriteString("# In the place of the rules that have these sources, or before the pattern that they match:\n" +
		"# the rules' other settings are to be kept. BigQuery's tables were not looked at.\ntables:\n")
	bad, written := 0, 0
	for i := range plan {
		s := &plan[i]
		if s.rule == nil && s.Err == nil { // a dataset, a history: no rule's columns
			continue
		}
		for _, note := range s.Notes {
			b.WriteString(remark("  ", "note: "+note))
		}
		if s.Err != nil {
			bad++
			b.WriteString(remark("  ", s.About+": error: "+s.Err.Error()))
			continue
		}
		written++
		s.rule.write(&b)
	}
	if written == 0 {
		b.WriteString("  []\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	switch {
	case bad == 1:
		return errors.New("one table's rule can't be told: its comment says why")
	case bad > 1:
		return fmt.Errorf("the rules of %d tables can't be told: their comments say why", bad)
	}
	return nil
}

func (r *ruled) write(b *strings.Builder) {
	_, _ = fmt.Fprintf(b, "  - source: %s\n    destination: %s\n", dotted(r.source), dotted(r.destination))
	if len(r.table.PrimaryKey) > 0 {
		key := make([]string, len(r.table.PrimaryKey))
		for i, name := range r.table.PrimaryKey {
			key[i] = inYAML(name)
		}
		_, _ = fmt.Fprintf(b, "    primary_key: [%s]\n", strings.Join(key, ", "))
	}
	b.WriteString("    columns:\n")
	for i := range r.table.Columns {
		b.WriteString("      - " + columnYAML(&r.table.Columns[i]) + "\n")
	}
}

// columnYAML writes a column, or a STRUCT's field, on one line.
func columnYAML(c *table.Column) string {
	typed := *c
	typed.Mode, typed.Fields = "", nil
	typ := typed.SQLType()
	if strings.ContainsAny(typ, "(<") { // a comma ends a value in {…}
		typ = strconv.Quote(typ)
	}
	parts := []string{"name: " + inYAML(c.Name), "type: " + typ}
	if mode := cmp.Or(c.Mode, table.Nullable); mode != table.Nullable {
		parts = append(parts, "mode: "+string(mode))
	}
	if len(c.Fields) > 0 {
		fields := make([]string, len(c.Fields))
		for i := range c.Fields {
			fields[i] = columnYAML(&c.Fields[i])
		}
		parts = append(parts, "fields: ["+strings.Join(fields, ", ")+"]")
	}
	if c.From != "" {
		parts = append(parts, "from: "+string(c.From))
		if c.From == table.FromDecimal && !c.FromUnscaled {
			parts = append(parts, "scale: "+strconv.FormatInt(c.FromScale, 10))
		}
	}
	if c.BadValues != "" {
		parts = append(parts, "bad_values: "+string(c.BadValues))
	}
	if c.Description != "" {
		parts = append(parts, "description: "+strconv.Quote(c.Description))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// plainTable is a name of parts that YAML takes for a text.
var plainTable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// dotted writes a table's name as the configuration takes it.
func dotted(name string) string {
	if plainTable.MatchString(name) {
		return name
	}
	return inYAML(name)
}

// remark writes a text as YAML's comments, each line of it.
func remark(indent, text string) string {
	text = strings.TrimRight(printable.Lines(text), "\n")
	return indent + "# " + strings.ReplaceAll(text, "\n", "\n"+indent+"# ") + "\n"
}
