package googlesql

import (
	"fmt"
	"slices"
	"strings"
)

// Columns that lead a DML statement's translation.
const (
	// ActionColumn says what happens to the row: INSERT, UPDATE or DELETE.
	ActionColumn = "_action"
	// RowColumn is the target's Relation.RowID; NULL for INSERT.
	RowColumn = "_row"
)

// Translate translates a DML statement to a query that only reads. Each of its rows is a
// change of the target's: ActionColumn and RowColumn, then the target's columns as they
// are after it (after a DELETE NULL). The Translation's Columns are the target's. That
// more than one source row would change a row of the target is an error of the query.
func (d *DML) Translate(options Options) (result Translation, err error) {
	defer rescue(d.text, &err)
	t := newTranslator(d.text, options)
	s := &scope{}
	from, target, relation := t.table(d.Target)
	m := &dmlTarget{translator: t, statement: d, relation: relation, target: target, alias: t.lastAlias(), from: from}
	switch d.kind {
	case "INSERT":
		result.SQL = m.insert()
	case "UPDATE", "DELETE":
		s.vars = append(s.vars, target)
		if d.from != nil {
			m.from += ", " + t.from(d.from, s)
		}
		where := t.condition(d.where, s.within("WHERE clause"), "WHERE clause")
		t.filterBy(d.where, s, s.vars)
		values := m.nulls()
		if d.kind == "UPDATE" {
			values = m.updated(d.set, s)
		}
		result.SQL = m.single(fmt.Sprintf("SELECT '%s' AS _action, %s AS _row%s FROM %s WHERE %s", d.kind, m.rowID(), m.list(values), m.from, where))
	case "MERGE":
		result.SQL = m.merge()
	}
	result.Columns = m.columns()
	result.Scans = t.finish()
	switch own := result.Scans[0]; {
	case d.kind == "INSERT":
		result.Scans = result.Scans[1:]
	case d.changes():
		result.Scans = append(result.Scans, &Scan{Table: own.Table, All: true, Filters: own.Filters})
	}
	return result, nil
}

// changes says whether the statement may change or delete rows.
func (d *DML) changes() bool {
	return d.kind != "MERGE" || slices.ContainsFunc(d.whens, func(w mergeWhen) bool { return w.action != "INSERT" })
}

type dmlTarget struct {
	*translator
	statement *DML
	relation  Relation
	target    *rangeVar
	alias     string
	from      string
}

func (m *dmlTarget) columns() []Column {
	var columns []Column
	for _, c := range m.relation.Columns {
		if !c.Hidden {
			columns = append(columns, c)
		}
	}
	return columns
}

func (m *dmlTarget) rowID() string {
	if m.relation.RowID == "" {
		fail(m.statement.Target.offset(), "%s over a view or another relation without rows of its own is not supported", m.statement.kind)
	}
	return m.alias + "." + quoteName(m.relation.RowID)
}

func (m *dmlTarget) list(values []string) string {
	var sql strings.Builder
	for i, c := range m.columns() {
		sql.WriteString(", " + values[i] + " AS " + quoteName(c.Name))
	}
	return sql.String()
}

func (m *dmlTarget) nulls() []string {
	var values []string
	for _, c := range m.columns() {
		values = append(values, "CAST(NULL AS "+c.Type.DuckDB()+")")
	}
	return values
}

// single makes it an error that two rows change the same row of the target.
func (m *dmlTarget) single(sql string) string {
	return "SELECT CASE WHEN _row IS NOT NULL AND count(*) OVER (PARTITION BY _row) > 1 THEN bq_error('UPDATE/MERGE must match at most one source row for each target row') ELSE _action END AS _action, * EXCLUDE (_action) FROM (" + sql + ")"
}

// position finds a target's column.
func (m *dmlTarget) position(n name) int {
	for i, c := range m.columns() {
		if strings.EqualFold(c.Name, n.text) {
			return i
		}
	}
	fail(n.at, "Column %s is not present in table %s", n.text, strings.Join(m.statement.Target.Path, "."))
	return 0
}

// assign translates a value for a column; nil is DEFAULT.
func (m *dmlTarget) assign(e expr, c Column, s *scope) string {
	if e == nil {
		return m.defaultOf(c)
	}
	v := m.expr(e, s)
	return m.assignValue(v, c.Name, c.Type, e.offset())
}

func (m *dmlTarget) assignValue(v value, name string, typ *Type, at int) string {
	cast, ok := m.coerce(v, typ)
	if !ok {
		fail(at, "Value has type %s which cannot be inserted into column %s, which has type %s", v.typ, name, typ)
	}
	return cast.sql
}

func (m *dmlTarget) defaultOf(c Column) string {
	if c.Default == "" {
		return "CAST(NULL AS " + c.Type.DuckDB() + ")"
	}
	sql, err := DefaultSQL(c.Default, c.Type, m.options)
	if err != nil {
		fail(m.statement.Target.offset(), "Column %s: %s", c.Name, err)
	}
	return sql
}

// DefaultSQL translates a column's default to a DuckDB expression of the column's type.
func DefaultSQL(text string, to *Type, options Options) (sql string, err error) {
	defer rescue(text, &err)
	p := &parser{tokens: newTokens(text)}
	e := p.expr()
	if p.peek(0).kind != "<eof>" {
		p.unexpected("end of expression")
	}
	t := newTranslator(text, options)
	v, ok := t.coerce(t.expr(e, nil), to)
	if !ok {
		fail(0, "DEFAULT value has type %s which does not coerce to %s", v.typ, to)
	}
	return v.sql, nil
}

// insertColumns are the positions that an INSERT names, all if none.
func (m *dmlTarget) insertColumns(c *insertClause) []int {
	var positions []int
	if len(c.columns) == 0 {
		for i := range m.columns() {
			positions = append(positions, i)
		}
		return positions
	}
	seen := map[int]bool{}
	for _, n := range c.columns {
		i := m.position(n)
		if seen[i] {
			fail(n.at, "INSERT has columns with duplicate name: %s", n.text)
		}
		seen[i] = true
		positions = append(positions, i)
	}
	return positions
}

// inserted are a row's values in the target's order, defaults where it has none.
func (m *dmlTarget) inserted(positions []int, value func(i int) string) []string {
	values := make([]string, len(m.columns()))
	for i, c := range m.columns() {
		values[i] = m.defaultOf(c)
	}
	for i, p := range positions {
		values[p] = value(i)
	}
	return values
}

func (m *dmlTarget) insert() string {
	d := m.statement
	positions := m.insertColumns(d.insert)
	const head = "SELECT 'INSERT' AS _action, CAST(NULL AS BIGINT) AS _row"
	columns := m.columns()
	if d.query != nil {
		r := m.query(d.query, nil)
		m.readColumns(r)
		if len(r.columns) != len(positions) {
			fail(d.query.offset(), "Inserted row has wrong column count; Has %d, expected %d", len(r.columns), len(positions))
		}
		v := m.rangeOf(r, "")
		source := m.lastAlias()
		values := m.inserted(positions, func(i int) string {
			c := v.columns[i]
			return m.assignValue(value{sql: c.sql, typ: c.typ, literal: c.typ.Kind == Null}, columns[positions[i]].Name, columns[positions[i]].Type, d.query.offset())
		})
		return head + m.list(values) + " FROM (" + r.sql + ") AS " + source
	}
	rows := make([]string, len(d.insert.rows))
	for j, row := range d.insert.rows {
		rows[j] = "(" + strings.Join(m.row(row, positions, nil, d.insert.offset()), ", ") + ")"
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoteName(c.Name)
	}
	return head + ", * FROM (VALUES " + strings.Join(rows, ", ") + ") AS " + m.translator.alias() + "(" + strings.Join(names, ", ") + ")"
}

func (m *dmlTarget) row(row []expr, positions []int, s *scope, at int) []string {
	columns := m.columns()
	if len(row) != len(positions) {
		fail(at, "Inserted row has wrong column count; Has %d, expected %d", len(row), len(positions))
	}
	return m.inserted(positions, func(i int) string { return m.assign(row[i], columns[positions[i]], s) })
}

// updated are a row's values after assignments, to columns or to fields of theirs.
func (m *dmlTarget) updated(set []assignment, s *scope) []string {
	columns := m.columns()
	values := make([]string, len(columns))
	for i, c := range columns {
		values[i] = m.alias + "." + quoteName(c.Name)
	}
	seen := map[string]bool{}
	current := make([]value, len(columns))
	for i, c := range columns {
		current[i] = value{sql: values[i], typ: c.Type}
	}
	for _, a := range set {
		path := a.path
		// The target's alias may lead.
		if len(path) > 1 && strings.EqualFold(path[0].text, m.target.name) && !m.has(path[0].text) {
			path = path[1:]
		}
		i := m.position(path[0])
		parts := make([]string, len(path))
		for j, n := range path {
			parts[j] = fold(n.text)
		}
		key := strings.Join(parts, ".")
		if seen[key] {
			fail(path[0].at, "Update item %s assigned more than once", key)
		}
		seen[key] = true
		if len(path) == 1 {
			current[i] = value{sql: m.assign(a.value, columns[i], s), typ: columns[i].Type}
			continue
		}
		current[i].sql = m.updatedField(current[i], path[1:], a.value, s)
	}
	for i := range values {
		values[i] = current[i].sql
	}
	return values
}

func (m *dmlTarget) has(column string) bool {
	for _, c := range m.columns() {
		if strings.EqualFold(c.Name, column) {
			return true
		}
	}
	return false
}

// updatedField is a STRUCT with one field replaced.
func (m *dmlTarget) updatedField(v value, path []name, e expr, s *scope) string {
	if v.typ.Kind != Struct {
		fail(path[0].at, "Cannot access field %s on a value with type %s", path[0].text, v.typ)
	}
	values := make([]string, len(v.typ.Fields))
	found := false
	for i, f := range v.typ.Fields {
		part := value{sql: "struct_extract(" + v.sql + ", " + quoteText(v.typ.fieldName(i)) + ")", typ: f.Type}
		values[i] = part.sql
		if !strings.EqualFold(f.Name, path[0].text) {
			continue
		}
		found = true
		if len(path) > 1 {
			values[i] = m.updatedField(part, path[1:], e, s)
		} else {
			values[i] = m.assign(e, Column{Name: f.Name, Type: f.Type}, s)
		}
	}
	if !found {
		fail(path[0].at, "Field name %s does not exist in %s", path[0].text, v.typ)
	}
	return packStruct(v.typ, values)
}
