package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

func (p *parser) caseExpr() expr {
	e := &caseExpr{at: p.operator()}
	if !p.at("WHEN") {
		e.of = p.expr()
	}
	for p.accept("WHEN") {
		w := whenThen{when: p.expr()}
		p.expect("THEN")
		w.then = p.expr()
		e.whens = append(e.whens, w)
	}
	if len(e.whens) == 0 {
		p.unexpected("keyword WHEN")
	}
	if p.accept("ELSE") {
		e.other = p.expr()
	}
	p.expect("END")
	return e
}

func (p *parser) cast(safe bool) expr {
	e := &castExpr{at: p.operator(), safe: safe}
	p.expect("(")
	e.of = p.expr()
	p.expect("AS")
	e.to = p.typeName()
	if p.at("FORMAT") {
		fail(p.peek(0).start, "Not supported: CAST with FORMAT")
	}
	p.expect(")")
	return e
}

func (p *parser) extract() expr {
	e := &extractExpr{at: p.operator()}
	p.expect("(")
	e.part = p.part()
	p.expect("FROM")
	e.of = p.expr()
	if p.accept("AT") {
		if !p.accept("TIME") {
			p.unexpected("keyword TIME")
		}
		p.expect("ZONE")
		e.zone = p.expr()
	}
	p.expect(")")
	return e
}

// part reads a date part, which may be WEEK(MONDAY).
func (p *parser) part() name {
	n := p.identifier()
	n.text = strings.ToUpper(n.text)
	if n.text == "WEEK" && p.accept("(") {
		n.text += "(" + strings.ToUpper(p.identifier().text) + ")"
		p.expect(")")
	}
	return n
}

func (p *parser) interval() expr {
	e := &intervalExpr{at: p.operator()}
	e.of = p.expr()
	e.part = strings.ToUpper(p.identifier().text)
	if p.accept("TO") {
		e.to = strings.ToUpper(p.identifier().text)
	}
	return e
}

// array reads ARRAY(query), ARRAY<type>[…] and ARRAY[…].
func (p *parser) array() expr {
	e := &arrayExpr{at: p.operator()}
	if p.accept("(") {
		s := &subqueryExpr{at: e.at, kind: "ARRAY", query: p.query()}
		p.expect(")")
		return s
	}
	if p.accept("<") {
		e.element = p.typeName()
		p.closeType()
	}
	return p.arrayItems(e)
}

func (p *parser) arrayItems(e *arrayExpr) expr {
	p.expect("[")
	if !p.at("]") {
		e.items = list(p, p.expr)
	}
	p.expect("]")
	return e
}

// structure reads STRUCT(…) and STRUCT<…>(…).
func (p *parser) structure() expr {
	e := &structExpr{at: p.operator()}
	if p.at("<") {
		e.fields = p.structType()
	}
	p.expect("(")
	if !p.at(")") {
		e.items = list(p, func() selectItem {
			item := selectItem{at: p.pos(), of: p.expr()}
			if p.accept("AS") {
				item.alias = p.identifier().text
			}
			return item
		})
	}
	p.expect(")")
	return e
}

// call reads a function's arguments, and what may follow them.
func (p *parser) call(pos at, function string) expr {
	c := &callExpr{at: pos, name: function}
	if rest, ok := strings.CutPrefix(function, "SAFE."); ok {
		c.name, c.safe = rest, true
	}
	p.expect("(")
	if p.accept("DISTINCT") {
		c.distinct = true
	}
	for !p.at(")") {
		if !p.callModifier(c) {
			c.args = append(c.args, p.argument(c))
			if p.accept(",") {
				continue
			}
			for p.callModifier(c) {
			}
		}
		break
	}
	p.expect(")")
	if p.accept("OVER") {
		if p.atIdentifier() {
			n := p.identifier()
			c.over = &window{at: at(n.at), base: n.text}
		} else {
			c.over = p.windowSpecification()
		}
	}
	return c
}

func (p *parser) callModifier(c *callExpr) bool {
	switch {
	case p.accept("IGNORE", "NULLS"):
		c.nulls = "IGNORE"
	case p.accept("RESPECT", "NULLS"):
		c.nulls = "RESPECT"
	case p.accept("HAVING"):
		switch {
		case p.accept("MAX"):
			c.having = "MAX"
		case p.accept("MIN"):
			c.having = "MIN"
		default:
			p.unexpected("keyword MAX or keyword MIN")
		}
		c.havingOf = p.expr()
	case p.accept("ORDER", "BY"):
		c.orderBy = list(p, p.orderItem)
	case p.accept("LIMIT"):
		c.limit = p.expr()
	default:
		return false
	}
	return true
}

func (p *parser) argument(c *callExpr) expr {
	pos := p.pos()
	switch {
	case p.at("*"):
		p.next++
		return &starExpr{at: pos}
	case p.peek(0).kind == token.TokenIdent && p.peek(1).is("=>"):
		n := p.identifier()
		p.next++
		return &namedArg{at: pos, name: n, of: p.expr()}
	case p.peek(0).is("WEEK") && p.peek(1).is("(") && len(c.args) > 0:
		n := p.part()
		return &pathExpr{at: pos, names: []name{n}}
	case p.atSubquery() && !p.at("("):
		return &subqueryExpr{at: pos, query: p.query()}
	}
	e := p.expr()
	if p.at("->") {
		fail(p.peek(0).start, "Not supported: lambdas")
	}
	return e
}

func (p *parser) windowSpecification() *window {
	w := &window{at: p.pos()}
	if p.atIdentifier() {
		w.base = p.identifier().text
		return w
	}
	p.expect("(")
	if p.atIdentifier() {
		w.base = p.identifier().text
	}
	if p.accept("PARTITION", "BY") {
		w.partitionBy = list(p, p.expr)
	}
	if p.accept("ORDER", "BY") {
		w.orderBy = list(p, p.orderItem)
	}
	if p.at("ROWS") || p.at("RANGE") {
		f := &frame{unit: string(p.take().kind)}
		if p.accept("BETWEEN") {
			f.from = p.bound()
			p.expect("AND")
			f.to = p.bound()
		} else {
			f.from = p.bound()
			f.to = bound{kind: "CURRENT ROW"}
		}
		w.frame = f
	}
	p.expect(")")
	return w
}

func (p *parser) bound() bound {
	for _, kind := range []string{"UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING", "CURRENT ROW"} {
		if p.accept(strings.Fields(kind)...) {
			return bound{kind: kind}
		}
	}
	b := bound{n: p.expr()}
	switch {
	case p.accept("PRECEDING"):
		b.kind = "PRECEDING"
	case p.accept("FOLLOWING"):
		b.kind = "FOLLOWING"
	default:
		p.unexpected("keyword PRECEDING or keyword FOLLOWING")
	}
	return b
}
