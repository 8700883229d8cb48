package googlesql

func (p *parser) insert() *DML {
	p.accept("INTO")
	d := &DML{text: p.text, kind: "INSERT", Target: p.path(), insert: &insertClause{at: p.pos()}}
	if p.at("(") && !p.atSubquery() {
		d.insert.columns = p.names()
	}
	if p.at("VALUES") {
		p.values(d.insert, true)
		return d
	}
	if !p.atQuery() {
		p.unexpected("keyword VALUES or keyword SELECT")
	}
	d.query = p.query()
	return d
}

// values reads VALUES (…), of several rows if many.
func (p *parser) values(c *insertClause, many bool) {
	p.expect("VALUES")
	for {
		p.expect("(")
		c.rows = append(c.rows, list(p, p.valueOrDefault))
		p.expect(")")
		if !many || !p.accept(",") {
			return
		}
	}
}

func (p *parser) valueOrDefault() expr {
	if p.accept("DEFAULT") {
		return nil
	}
	return p.expr()
}

func (p *parser) update() *DML {
	d := &DML{text: p.text, kind: "UPDATE", Target: p.path()}
	d.Target.alias = p.alias()
	defer p.inScope()()
	p.nameItem(orElse(d.Target.alias, d.Target.Path[len(d.Target.Path)-1]))
	d.set = p.assignments()
	if p.accept("FROM") {
		d.from = p.fromClause()
	}
	p.expect("WHERE") // which BigQuery demands
	d.where = p.expr()
	return d
}

func (p *parser) assignments() []assignment {
	p.expect("SET")
	return list(p, func() assignment {
		a := assignment{path: []name{p.identifier()}}
		for p.accept(".") {
			a.path = append(a.path, p.nameAfterDot())
		}
		p.expect("=")
		a.value = p.valueOrDefault()
		return a
	})
}

func (p *parser) delete() *DML {
	p.accept("FROM")
	d := &DML{text: p.text, kind: "DELETE", Target: p.path()}
	d.Target.alias = p.alias()
	defer p.inScope()()
	p.nameItem(orElse(d.Target.alias, d.Target.Path[len(d.Target.Path)-1]))
	p.expect("WHERE")
	d.where = p.expr()
	return d
}

func (p *parser) merge() *DML {
	p.accept("INTO")
	d := &DML{text: p.text, kind: "MERGE", Target: p.path()}
	d.Target.alias = p.alias()
	defer p.inScope()()
	p.nameItem(orElse(d.Target.alias, d.Target.Path[len(d.Target.Path)-1]))
	p.expect("USING")
	d.from = p.fromItem()
	p.expect("ON")
	d.where = p.expr()
	for p.at("WHEN") {
		d.whens = append(d.whens, p.mergeWhen())
	}
	if len(d.whens) == 0 {
		p.unexpected("keyword WHEN")
	}
	return d
}

func (p *parser) mergeWhen() mergeWhen {
	w := mergeWhen{at: p.pos(), match: "MATCHED"}
	p.expect("WHEN")
	if p.accept("NOT") {
		w.match = "NOT MATCHED BY TARGET"
		p.expect("MATCHED")
		if p.accept("BY", "SOURCE") {
			w.match = "NOT MATCHED BY SOURCE"
		} else if p.accept("BY") {
			p.expect("TARGET")
		}
	} else {
		p.expect("MATCHED")
	}
	if p.accept("AND") {
		w.and = p.expr()
	}
	p.expect("THEN")
	pos := p.peek(0).start
	switch {
	case p.accept("UPDATE"):
		w.action, w.set = "UPDATE", p.assignments()
	case p.accept("DELETE"):
		w.action = "DELETE"
	case p.accept("INSERT"):
		w.action, w.insert = "INSERT", &insertClause{at: at(pos)}
		if p.at("(") {
			w.insert.columns = p.names()
		}
		if p.accept("ROW") {
			w.insert.row = true
		} else {
			p.values(w.insert, false)
		}
	default:
		p.unexpected("keyword INSERT, keyword UPDATE or keyword DELETE")
	}
	if (w.match == "NOT MATCHED BY TARGET") != (w.action == "INSERT") {
		fail(pos, "Syntax error: %s is not allowed for WHEN %s", w.action, w.match)
	}
	return w
}
