package googlesql

import "fmt"

// merge translates MERGE: target and source are joined in full, the first clause that
// holds for a pair tells its action, and pairs without one are dropped.
func (m *dmlTarget) merge() string {
	d := m.statement
	both := &scope{vars: []*rangeVar{m.target}}
	source := &scope{}
	sourceSQL := m.translator.from(d.from, source)
	for _, v := range source.vars {
		both.add(v, d.from.offset())
	}
	mark := m.translator.alias()
	// Each side is marked, for an outer join's NULLs look like a row of NULLs.
	target := fmt.Sprintf("(SELECT *, true AS %s_t FROM %s) AS %s", mark, m.relation.SQL, m.alias)
	sourceItem := sourceMark(sourceSQL, mark)
	on := m.condition(d.where, both, "MERGE ON condition")
	m.filterBy(d.where, both, []*rangeVar{m.target})

	clause, action := "CASE", "CASE _clause"
	columns := m.columns()
	cases := make([]string, len(columns))
	for i, w := range d.whens {
		s := both
		when := ""
		switch w.match {
		case "MATCHED":
			when = fmt.Sprintf("%s_t AND %s_s", mark, mark)
		case "NOT MATCHED BY TARGET":
			when = fmt.Sprintf("%s_t IS NULL", mark)
			s = &scope{vars: source.vars}
		case "NOT MATCHED BY SOURCE":
			when = fmt.Sprintf("%s_s IS NULL", mark)
			s = &scope{vars: []*rangeVar{m.target}}
		}
		if w.and != nil {
			when += " AND " + m.condition(w.and, s, "WHEN clause condition")
		}
		clause += fmt.Sprintf(" WHEN %s THEN %d", when, i+1)
		action += fmt.Sprintf(" WHEN %d THEN '%s'", i+1, w.action)
		values := m.nulls()
		switch w.action {
		case "UPDATE":
			values = m.updated(w.set, s)
		case "INSERT":
			values = m.mergeInsert(w.insert, s)
		}
		for j, v := range values {
			cases[j] += fmt.Sprintf(" WHEN %d THEN %s", i+1, v)
		}
	}
	for j := range cases {
		cases[j] = "CASE _clause" + cases[j] + " END"
	}
	inner := fmt.Sprintf("SELECT %s END AS _clause, %s END AS _action, CASE WHEN _action != 'INSERT' THEN %s END AS _row%s FROM %s FULL JOIN %s ON %s",
		clause, action, m.rowID(), m.list(cases), target, sourceItem, on)
	return m.single("SELECT * EXCLUDE (_clause) FROM (" + inner + ") WHERE _clause IS NOT NULL")
}

// sourceMark adds a column to MERGE's source that is true in all its rows, beside the
// source's own alias.
func sourceMark(source, mark string) string {
	return fmt.Sprintf("(%s CROSS JOIN (SELECT true AS %s_s) AS %s_m)", source, mark, mark)
}

func (m *dmlTarget) mergeInsert(c *insertClause, s *scope) []string {
	positions := m.insertColumns(c)
	if !c.row {
		return m.row(c.rows[0], positions, s, c.offset())
	}
	// INSERT ROW takes the source's columns, by position as VALUES would.
	var outputs []output
	for _, v := range s.vars {
		outputs = append(outputs, starOf(v, nil)...)
	}
	for _, o := range outputs {
		m.read(o.origin)
	}
	if len(outputs) != len(positions) {
		fail(c.offset(), "INSERT ROW has wrong column count; Has %d, expected %d", len(outputs), len(positions))
	}
	columns := m.columns()
	return m.inserted(positions, func(i int) string {
		column := columns[positions[i]]
		return m.assignValue(outputs[i].value, column.Name, column.Type, c.offset())
	})
}
