package table

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Difference is what lies between a table as BigQuery has it and as it is wanted.
type Difference struct {
	// Statements alter the table, in GoogleSQL, in the order in which they are to run.
	Statements []string
	// Left says what no statement alters, and what to do about it.
	Left []string
}

// Difference returns what makes the table the wanted one. Nothing is dropped, renamed
// or made stricter: columns that only BigQuery has stay, and so do a wider type, a
// longer length and a NULLABLE column where the wanted ones are narrower or REQUIRED.
// What is not set in wanted (partitioning, max_staleness, a description) is anything.
func (t *Table) Difference(wanted *Table) Difference {
	d := differing{have: t, wanted: wanted}
	d.columns(t.Columns, wanted.Columns, nil)
	d.alter()
	d.options()
	d.key()
	d.layout()
	return d.Difference
}

type differing struct {
	Difference

	have, wanted *Table
	alterations  []Alteration
	described    []string // statements
}

func (d *differing) left(format string, args ...any) {
	d.Left = append(d.Left, fmt.Sprintf(format, args...))
}

func (d *differing) statement(text string) {
	d.Statements = append(d.Statements, "ALTER TABLE "+quoteName(d.have.Name.String())+"\n  "+text+";\n")
}

// columns compares the columns below path.
func (d *differing) columns(have, wanted []Column, path []string) {
	for i := range wanted {
		w := &wanted[i]
		at := append(slices.Clone(path), w.Name)
		h := findColumn(have, w.Name)
		if h == nil {
			added := cloneColumns(wanted[i : i+1])
			loosen(added)
			d.alterations = append(d.alterations, Alteration{Kind: AddColumn, Path: at, Column: added[0]})
			continue
		}
		d.column(h, w, at)
	}
}

// loosen makes columns NULLABLE: BigQuery adds no REQUIRED one.
func loosen(columns []Column) {
	for i := range columns {
		if columns[i].Mode == Required {
			columns[i].Mode = Nullable
		}
		loosen(columns[i].Fields)
	}
}

func (d *differing) column(h, w *Column, at []string) {
	name := strings.Join(at, ".")
	repeated := h.Mode == Repeated
	wider := !repeated && len(at) == 1 // a field's type, and that of elements, stays
	switch {
	case repeated != (w.Mode == Repeated),
		h.Type != w.Type && !Holds(h.Type, w.Type) && (!Holds(w.Type, h.Type) || !wider),
		h.Element != w.Element:
		d.left("column %s is of type %s, and should be of type %s: BigQuery can't change the one into the other. "+
			"Let the rule say %[2]s if that holds the values; else make a table with the right type and take a snapshot into it", name, h.SQLType(), w.SQLType())
		return
	case h.Type == Struct:
		d.columns(h.Fields, w.Fields, at)
	case h.Type != w.Type && Holds(w.Type, h.Type), h.Type == w.Type && narrower(h, w):
		if !wider {
			d.left("column %s is of type %s, and should be of type %s: BigQuery changes no type in a STRUCT or ARRAY. Make a table with the right type and take a snapshot into it",
				name, h.SQLType(), w.SQLType())
			break
		}
		d.alterations = append(d.alterations, Alteration{Kind: WidenColumn, Path: at, Column: *w})
	}
	if h.Mode == Required && w.Mode != Required {
		d.alterations = append(d.alterations, Alteration{Kind: RelaxColumn, Path: at})
	}
	if w.Description != "" && w.Description != h.Description && len(at) == 1 { // BigQuery has no statement for a field's
		d.described = append(d.described, "ALTER COLUMN "+quoteName(h.Name)+" SET OPTIONS (description = "+quoteText(w.Description)+")")
	}
}

// narrower reports whether h's parameters keep values out that w's don't.
func narrower(h, w *Column) bool {
	switch {
	case h.MaxLength != 0:
		return w.MaxLength == 0 || w.MaxLength > h.MaxLength
	case h.Precision != 0:
		return w.Precision == 0 || w.Scale > h.Scale || w.Precision-w.Scale > h.Precision-h.Scale
	}
	return false
}

// alter writes the alterations of columns: those that are added in one statement,
// since BigQuery bounds how often a table is altered.
func (d *differing) alter() {
	var added []string
	for i := range d.alterations {
		if a := &d.alterations[i]; a.Kind == AddColumn && len(a.Path) == 1 {
			added = append(added, a.action())
		}
	}
	if len(added) > 0 {
		d.statement(strings.Join(added, ",\n  "))
	}
	columns := d.have.Columns
	done := map[string]bool{}
	for i := range d.alterations {
		a := &d.alterations[i]
		switch {
		case len(a.Path) > 1:
			// All that is to become of a STRUCT is in its new type.
			if root := fold(a.Path[0]); !done[root] {
				done[root] = true
				altered := Altered(columns, d.alterations)
				c := findColumn(altered, a.Path[0])
				d.statement("ALTER COLUMN " + quoteName(c.Name) + " SET DATA TYPE " + c.SQLType())
			}
		case a.Kind != AddColumn:
			d.statement(a.action())
		}
	}
	for _, text := range d.described {
		d.statement(text)
	}
}

func (d *differing) options() {
	var options []string
	if s := d.wanted.MaxStaleness; s >= time.Second && s != d.have.MaxStaleness {
		options = append(options, "max_staleness = "+interval(s))
	}
	if text := d.wanted.Description; text != "" && text != d.have.Description {
		options = append(options, "description = "+quoteText(text))
	}
	if len(options) > 0 {
		d.statement("SET OPTIONS (" + strings.Join(options, ", ") + ")")
	}
}

func (d *differing) key() {
	switch {
	case len(d.wanted.PrimaryKey) == 0, slices.Equal(foldAll(d.have.PrimaryKey), foldAll(d.wanted.PrimaryKey)):
	case len(d.have.PrimaryKey) == 0:
		d.statement("ADD PRIMARY KEY (" + quoteNames(d.wanted.PrimaryKey) + ") NOT ENFORCED")
	default:
		d.left("its primary key is (%s), and should be (%s): its rows were merged by the old one. Make a table with the right key and take a snapshot into it, "+
			"or, if both keys tell the same rows apart, stop the pipeline, wait until all changes are applied, and run DROP PRIMARY KEY and ADD PRIMARY KEY",
			strings.Join(d.have.PrimaryKey, ", "), strings.Join(d.wanted.PrimaryKey, ", "))
	}
}

// layout compares what only tables.patch changes, or nothing does.
func (d *differing) layout() {
	n := d.have.Name
	if w := d.wanted.ClusterBy; len(w) > 0 && !slices.EqualFunc(w, d.have.ClusterBy, strings.EqualFold) {
		is := "not clustered"
		if len(d.have.ClusterBy) > 0 {
			is = "clustered by " + strings.Join(d.have.ClusterBy, ", ")
		}
		d.left("it is %s, and should be clustered by %s, which no statement alters: bq update --clustering_fields=%s '%s:%s.%s'",
			is, strings.Join(w, ", "), strings.Join(w, ","), n.Project, n.Dataset, n.Table)
	}
	if w := d.wanted.PartitionBy; w != nil && (d.have.PartitionBy == nil || !strings.EqualFold(w.Column, d.have.PartitionBy.Column) || w.Type != d.have.PartitionBy.Type) {
		is := "not partitioned by time"
		if d.have.PartitionBy != nil {
			is = "partitioned by " + d.have.partitionExpression()
		}
		d.left("it is %s, and should be partitioned by %s, which BigQuery does only when it creates a table: make a table and take a snapshot into it",
			is, d.wanted.partitionExpression())
	}
}
