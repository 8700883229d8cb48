package table

import (
	"fmt"
	"strings"
)

// Google's client for Go reads INTERVALs wrongly (cloud.google.com/go/bigquery 1.86.2,
// ParseInterval): the sign of one that begins with -0 is lost ("-0-1 0 0:0:0"), and that
// of a fraction doubled ("-4:5:6.7"). So queries give them as text.

// Star is what follows SELECT in a query of all the table's columns: "*", with REPLACE
// where INTERVALs are among them, which then are STRINGs in BigQuery's canonical form.
func (t *Table) Star() string {
	var replaced []string
	for i := range t.Columns {
		c := &t.Columns[i]
		if name := quoteName(c.Name); c.hasInterval() {
			replaced = append(replaced, c.Readable(name)+" AS "+name)
		}
	}
	if replaced == nil {
		return "*"
	}
	return "* REPLACE (" + strings.Join(replaced, ", ") + ")"
}

// Readable is the expression by which a query reads what another expression gives, a
// value of this column: itself, with the INTERVALs that it is or has inside, in arrays
// and STRUCTs too, as STRINGs in BigQuery's canonical form. An array that is NULL
// becomes an empty one, as which BigQuery stores it anyway.
func (c *Column) Readable(expression string) string { return c.readable(expression, 0) }

func (c *Column) readable(expression string, depth int) string {
	switch {
	case !c.hasInterval():
		return expression
	case c.Mode == Repeated:
		element := *c
		element.Mode = Nullable
		alias, place := fmt.Sprintf("element_%d", depth), fmt.Sprintf("place_%d", depth)
		return fmt.Sprintf("ARRAY(SELECT %s FROM UNNEST(%s) AS %s WITH OFFSET AS %s ORDER BY %[4]s)",
			element.readable(alias, depth+1), expression, alias, place)
	case c.Type == Interval:
		return "CAST(" + expression + " AS STRING)"
	}
	fields := make([]string, len(c.Fields))
	for i := range c.Fields {
		name := quoteName(c.Fields[i].Name)
		fields[i] = c.Fields[i].readable(expression+"."+name, depth) + " AS " + name
	}
	return "IF(" + expression + " IS NULL, NULL, STRUCT(" + strings.Join(fields, ", ") + "))"
}

func (c *Column) hasInterval() bool {
	if c.Type != Struct {
		return c.Type == Interval
	}
	for i := range c.Fields {
		if c.Fields[i].hasInterval() {
			return true
		}
	}
	return false
}
