package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

func (p *parser) atQuery() bool { return p.at("SELECT") || p.at("WITH") || p.at("(") }

// query reads [WITH …] body [ORDER BY …] [LIMIT … [OFFSET …]].
func (p *parser) query() *query {
	defer p.enter()()
	defer p.inScope()()
	q := &query{at: p.pos()}
	if p.accept("WITH") {
		q.recursive = p.accept("RECURSIVE")
		q.with = list(p, func() cte {
			c := cte{name: p.identifier()}
			p.expect("AS", "(")
			if q.recursive {
				p.scope.ctes[fold(c.name.text)] = true
			}
			c.query = p.query()
			p.expect(")")
			p.scope.ctes[fold(c.name.text)] = true
			return c
		})
	}
	q.body = p.setOperation()
	if p.accept("ORDER", "BY") {
		q.orderBy = list(p, p.orderItem)
	}
	if p.accept("LIMIT") {
		q.limit = p.expr()
		if p.accept("OFFSET") {
			q.skip = p.expr()
		}
	}
	if p.at("FOR") || p.at("|>") {
		fail(p.peek(0).start, "Not supported: %s", strings.ToUpper(p.peek(0).text))
	}
	return q
}

func (p *parser) setOperation() queryBody {
	left := p.queryPrimary()
	first := ""
	for n := 0; ; n++ {
		p.chain(n, maxChain)
		op := ""
		pos := p.pos()
		for _, w := range []string{"UNION", "INTERSECT", "EXCEPT"} {
			if p.accept(w) {
				op = w
			}
		}
		if op == "" {
			return left
		}
		switch {
		case p.accept("DISTINCT"):
			op += " DISTINCT"
		case op == "UNION" && p.accept("ALL"):
			op += " ALL"
		default:
			fail(p.peek(0).start, "Syntax error: Expected keyword %s but got %q", map[bool]string{true: "ALL or keyword DISTINCT", false: "DISTINCT"}[op == "UNION"], p.word())
		}
		if first != "" && first != op {
			fail(int(pos), "Syntax error: Different set operations cannot be used in the same query without using parentheses for grouping")
		}
		first = op
		left = &setNode{at: at(left.offset()), op: op, left: left, right: p.queryPrimary()}
	}
}

// word is the next lexeme as it is written.
func (p *parser) word() string {
	x := p.peek(0)
	return p.text[x.start:x.end]
}

func (p *parser) queryPrimary() queryBody {
	if p.accept("(") {
		q := p.query()
		p.expect(")")
		return q
	}
	if !p.at("SELECT") {
		p.unexpected(`"(" or keyword SELECT`)
	}
	return p.selectQuery()
}

func (p *parser) selectQuery() *selectNode {
	defer p.inScope()()
	s := &selectNode{at: p.pos()}
	p.expect("SELECT")
	if p.sees("WITH") {
		fail(p.peek(0).start, "Not supported: SELECT WITH DIFFERENTIAL_PRIVACY")
	}
	if p.accept("AS", "STRUCT") {
		s.as = "STRUCT"
	} else if p.accept("AS", "VALUE") {
		s.as = "VALUE"
	}
	if p.accept("DISTINCT") {
		s.distinct = true
	} else {
		p.accept("ALL")
	}
	if s.as == "" && p.accept("AS", "STRUCT") {
		s.as = "STRUCT"
	} else if s.as == "" && p.accept("AS", "VALUE") {
		s.as = "VALUE"
	}
	for {
		s.items = append(s.items, p.selectItem())
		// A comma may end the list.
		if !p.accept(",") || p.at("FROM") || p.at(token.TokenEOF) || p.at(")") {
			break
		}
	}
	if p.accept("FROM") {
		s.from = p.fromClause()
	}
	if p.accept("WHERE") {
		s.where = p.expr()
	}
	if p.sees("GROUP", "BY") {
		s.group = p.groupBy()
	}
	if p.accept("HAVING") {
		s.having = p.expr()
	}
	if p.accept("QUALIFY") {
		s.qualify = p.expr()
	}
	if p.accept("WINDOW") {
		s.windows = list(p, func() namedWindow {
			w := namedWindow{name: p.identifier()}
			p.expect("AS")
			w.window = p.windowSpecification()
			return w
		})
	}
	return s
}

func (p *parser) groupBy() *grouping {
	g := &grouping{at: p.pos()}
	p.expect("GROUP", "BY")
	switch {
	case p.accept("ALL"):
		g.all = true
		return g
	case p.sees("GROUPING", "SETS"), p.sees("CUBE", "("):
		fail(p.peek(0).start, "Not supported: GROUP BY %s", strings.ToUpper(p.word()))
	case p.accept("ROLLUP", "("):
		g.rollup = true
		g.items = list(p, p.expr)
		p.expect(")")
		return g
	}
	g.items = list(p, p.expr)
	return g
}

func (p *parser) selectItem() selectItem {
	item := selectItem{at: p.pos()}
	if p.accept("*") {
		item.star = true
	} else {
		item.of = p.expr()
		// The expression's path stops before .*
		if p.accept(".") {
			p.expect("*")
			item.star = true
		}
	}
	if !item.star {
		item.alias = p.alias()
		return item
	}
	if p.accept("EXCEPT") {
		item.except = p.names()
	}
	if p.accept("REPLACE", "(") {
		item.replace = list(p, func() selectItem {
			r := selectItem{at: p.pos(), of: p.expr()}
			p.accept("AS")
			r.alias = p.identifier().text
			return r
		})
		p.expect(")")
	}
	return item
}

func (p *parser) orderItem() orderItem {
	o := orderItem{of: p.expr()}
	if p.at("COLLATE") {
		fail(p.peek(0).start, "Not supported: COLLATE")
	}
	if p.accept("DESC") {
		o.desc = true
	} else {
		p.accept("ASC")
	}
	if p.accept("NULLS") {
		switch {
		case p.accept("FIRST"):
			o.nulls = "FIRST"
		case p.accept("LAST"):
			o.nulls = "LAST"
		default:
			p.unexpected("keyword FIRST or keyword LAST")
		}
	}
	return o
}
