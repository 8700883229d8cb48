package googlesql

import (
	"fmt"
	"strings"
	"time"
)

// Resolver finds what a statement's tables are.
type Resolver interface {
	// Table returns the relation that a reference names. An error that isn't an *Error is
	// put at the reference's place in the text.
	Table(ref *TableRef) (Relation, error)
}

// Relation is a table, a view or a function's result in DuckDB.
type Relation struct {
	// SQL is what may stand in FROM before AS: a table's name, or a query in parentheses.
	SQL string
	// Columns are its columns, named alike in DuckDB, in BigQuery's order.
	Columns []Column
	// RowID is a DuckDB column of SQL's that tells the rows of a DML statement's target
	// apart. It needn't be among Columns.
	RowID string
	// Partitioning are those of Columns whose filters leave out partitions.
	Partitioning []string
}

// Column is a column of a relation or of a result.
type Column struct {
	Name string
	Type *Type
	// Hidden columns aren't part of *: _PARTITIONTIME, _TABLE_SUFFIX.
	Hidden bool
	// Default is the expression, in GoogleSQL, of the value that INSERT gives if the
	// statement doesn't; "" means NULL. Only a DML statement's target needs it.
	Default string

	origin *origin // of a view's columns: what the view's tables have
}

// Parameter is a query parameter's type and value, which is nil for NULL, a string as a
// query job's request has it, a []any of an ARRAY's elements, or of a STRUCT's fields in
// the type's order.
type Parameter struct {
	Type  *Type
	Value any
}

// Options are what a translation depends on besides the text.
type Options struct {
	Resolver Resolver
	// Now is what CURRENT_TIMESTAMP() returns, and the like.
	Now time.Time
	// Named holds @name's parameters by the name in small letters, Positional those of ?.
	Named      map[string]Parameter
	Positional []Parameter
	// User is what SESSION_USER() returns.
	User string
}

// Translation is a query in DuckDB's SQL, and the columns that it returns, in order; their
// names in DuckDB may differ.
type Translation struct {
	SQL     string
	Columns []Column
	// Scans are what it reads besides the columns that it returns. Those of a view's
	// query learn what is read of them, and of their filters, where its Relation is used.
	Scans []*Scan
}

// Reads are the Scans of a statement whose columns are all read.
func (t Translation) Reads() []*Scan {
	for _, c := range t.Columns {
		if c.origin != nil {
			for _, r := range c.origin.reads {
				r.scan.columns[r.column] = true
			}
		}
	}
	return t.Scans
}

// Translate translates a query. Register must have been called for the database that runs it.
func (q *Query) Translate(options Options) (result Translation, err error) {
	defer rescue(q.text, &err)
	t := newTranslator(q.text, options)
	r := t.query(q.query, nil)
	result.SQL = r.sql
	if r.value != nil && r.value.Kind == Struct { // SELECT AS STRUCT returns the fields
		result.SQL = ""
		for i, f := range r.value.Fields {
			result.SQL += comma(i) + fmt.Sprintf("struct_extract(v, %s) AS %s", quoteText(r.value.fieldName(i)), quoteName(r.value.fieldName(i)))
			result.Columns = append(result.Columns, Column{Name: f.Name, Type: f.Type, origin: mixed(r.columns[0].origin)})
		}
		result.SQL = "SELECT " + result.SQL + " FROM (" + r.sql + ") AS t0(v)"
	} else {
		for _, c := range r.columns {
			result.Columns = append(result.Columns, Column{Name: c.name, Type: c.typ, origin: c.origin})
		}
	}
	nameColumns(result.Columns, q.query.offset())
	result.Scans = t.finish()
	return result, nil
}

// Text is the query as it was written.
func (q *Query) Text() string { return q.text[q.query.offset():q.end] }

// nameColumns gives names to those that have none, as BigQuery does, and refuses two
// of one name.
func nameColumns(columns []Column, at int) {
	seen := map[string]bool{}
	unnamed := 0
	for i := range columns {
		c := &columns[i]
		if c.Name == "" {
			c.Name = fmt.Sprintf("f%d_", unnamed)
			unnamed++
		}
		key := fold(c.Name)
		if seen[key] {
			fail(at, "Duplicate column names in the result are not supported. Found duplicate(s): %s", c.Name)
		}
		seen[key] = true
		c.Type = notNull(c.Type)
	}
}

// Relation returns the translation's result as a relation, for a view: its columns have
// the names, or their own if names is empty.
func (t Translation) Relation(names []string) Relation {
	r := Relation{}
	quoted := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if i < len(names) {
			c.Name = names[i]
		}
		r.Columns = append(r.Columns, c)
		quoted[i] = quoteName(c.Name)
	}
	r.SQL = "(SELECT * FROM (" + t.SQL + ") AS v(" + strings.Join(quoted, ", ") + "))"
	return r
}

// translator translates one statement.
type translator struct {
	text    string
	options Options
	aliases int
	scans   []*Scan
	reading map[columnRead]bool // what is read by what is being translated
	filter  *filtering          // the filter of partitions that is being translated; nil if none is
	filters []*filtering
	// windowed says that a SELECT has window functions, which see rows that a filter
	// of its result leaves out.
	windowed bool
}

func newTranslator(text string, options Options) *translator {
	return &translator{text: text, options: options, reading: map[columnRead]bool{}}
}

// alias returns a name for a DuckDB relation that nothing else has.
func (t *translator) alias() string {
	t.aliases++
	return fmt.Sprintf("t%d", t.aliases)
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}
