package table

import (
	"fmt"
	"strings"
	"time"
)

// DDL returns the CREATE TABLE statement for the table, in GoogleSQL
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-definition-language#create_table_statement).
// Names are quoted and texts escaped, whatever they hold; whether BigQuery takes
// the table is what Problems says. MaxStaleness is cut to whole seconds.
func (t *Table) DDL() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quoteName(t.Name.String()) + " (\n")
	for i := range t.Columns {
		c := &t.Columns[i]
		b.WriteString("  " + quoteName(c.Name) + " ")
		writeType(&b, c, true)
		if c.Mode == Required {
			b.WriteString(" NOT NULL")
		}
		writeColumnOptions(&b, c)
		if i < len(t.Columns)-1 || len(t.PrimaryKey) > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	if len(t.PrimaryKey) > 0 {
		b.WriteString("  PRIMARY KEY (" + quoteNames(t.PrimaryKey) + ") NOT ENFORCED\n")
	}
	b.WriteByte(')')
	if t.PartitionBy != nil {
		b.WriteString("\nPARTITION BY " + t.partitionExpression())
	}
	if len(t.ClusterBy) > 0 {
		b.WriteString("\nCLUSTER BY " + quoteNames(t.ClusterBy))
	}
	var options []string
	if t.MaxStaleness >= time.Second {
		options = append(options, "max_staleness = "+interval(t.MaxStaleness))
	}
	if t.Description != "" {
		options = append(options, "description = "+quoteText(t.Description))
	}
	if len(options) > 0 {
		b.WriteString("\nOPTIONS (\n  " + strings.Join(options, ",\n  ") + "\n)")
	}
	b.WriteString(";\n")
	return b.String()
}

// SQLType returns the column's type in GoogleSQL, as ParseType reads it: an
// ARRAY for a REPEATED column, a STRUCT with its fields.
func (c *Column) SQLType() string {
	var b strings.Builder
	writeType(&b, c, false)
	return b.String()
}

func writeType(b *strings.Builder, c *Column, options bool) {
	if c.Mode == Repeated {
		b.WriteString("ARRAY<")
		defer b.WriteByte('>')
	}
	b.WriteString(string(c.Type))
	switch {
	case len(c.Fields) > 0:
		b.WriteByte('<')
		for i := range c.Fields {
			field := &c.Fields[i]
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoteName(field.Name) + " ")
			writeType(b, field, options)
			if field.Mode == Required {
				b.WriteString(" NOT NULL")
			}
			if options {
				writeColumnOptions(b, field)
			}
		}
		b.WriteByte('>')
	case c.Element != "":
		b.WriteString("<" + string(c.Element) + ">")
	case c.MaxLength != 0:
		fmt.Fprintf(b, "(%d)", c.MaxLength)
	case c.Scale != 0:
		fmt.Fprintf(b, "(%d, %d)", c.Precision, c.Scale)
	case c.Precision != 0:
		fmt.Fprintf(b, "(%d)", c.Precision)
	}
}

func writeColumnOptions(b *strings.Builder, c *Column) {
	if c.Description != "" {
		b.WriteString(" OPTIONS (description = " + quoteText(c.Description) + ")")
	}
}

// partitionExpression names the column, cut to the partition's length.
func (t *Table) partitionExpression() string {
	p := t.PartitionBy
	if p.Column == "" {
		if p.Type == "DAY" {
			return "_PARTITIONDATE"
		}
		return "TIMESTAMP_TRUNC(_PARTITIONTIME, " + p.Type + ")"
	}
	column, typ := quoteName(p.Column), Timestamp
	if c := t.column(p.Column); c != nil {
		typ = c.Type
	}
	if typ == Date && p.Type == "DAY" {
		return column
	}
	return string(typ) + "_TRUNC(" + column + ", " + p.Type + ")"
}

// column returns the top-level column of that name without regard to case, as
// BigQuery finds it; nil for none.
func (t *Table) column(name string) *Column { return findColumn(t.Columns, name) }

func findColumn(columns []Column, name string) *Column {
	for i := range columns {
		if fold(columns[i].Name) == fold(name) {
			return &columns[i]
		}
	}
	return nil
}

func interval(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("INTERVAL %d HOUR", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("INTERVAL %d MINUTE", d/time.Minute)
	}
	return fmt.Sprintf("INTERVAL %d SECOND", d/time.Second)
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteName(name)
	}
	return strings.Join(quoted, ", ")
}

func quoteName(name string) string { return quote(name, '`') }
func quoteText(text string) string { return quote(text, '"') }

// quote writes a quoted identifier or a string literal: GoogleSQL has the same
// escapes in both
// (https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#escape_sequences).
func quote(text string, mark rune) string {
	var b strings.Builder
	b.WriteRune(mark)
	for _, r := range text { // what is not UTF-8 becomes U+FFFD
		switch {
		case r == mark || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == '\u0085':
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

// CreateView returns the statement that creates a view of a query; description is ""
// for none.
func CreateView(name Name, query, description string) string {
	options := ""
	if description != "" {
		options = " OPTIONS (description = " + quoteText(description) + ")"
	}
	return "CREATE VIEW IF NOT EXISTS " + quoteName(name.String()) + options + " AS\n" + query + ";\n"
}

// CreateDataset returns the statement that creates a dataset; location is "" for
// BigQuery's default.
func CreateDataset(project, dataset, location string) string {
	options := ""
	if location != "" {
		options = " OPTIONS (location = " + quoteText(location) + ")"
	}
	return "CREATE SCHEMA IF NOT EXISTS " + quoteName(project+"."+dataset) + options + ";\n"
}
