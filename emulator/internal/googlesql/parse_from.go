package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

// fromClause reads from items between commas and joins, which associate to the left.
func (p *parser) fromClause() fromNode {
	left := p.joins(p.fromItem())
	for n := 0; p.at(","); n++ {
		p.chain(n, maxChain)
		pos := p.pos()
		p.next++
		left = p.joins(&joinNode{at: pos, kind: "CROSS", left: left, right: p.fromItem()})
	}
	return left
}

func (p *parser) joins(left fromNode) fromNode {
	for n := 0; ; n++ {
		p.chain(n, maxChain)
		j := &joinNode{at: p.pos(), left: left}
		switch {
		case p.accept("JOIN"), p.accept("INNER", "JOIN"):
			j.kind = "INNER"
		case p.accept("CROSS", "JOIN"):
			j.kind = "CROSS"
		case p.at("LEFT"), p.at("RIGHT"), p.at("FULL"):
			j.kind = strings.ToUpper(p.take().text)
			p.accept("OUTER")
			p.expect("JOIN")
		case p.at("NATURAL"):
			fail(p.peek(0).start, "Not supported: NATURAL JOIN")
		default:
			return left
		}
		j.right = p.fromItem()
		if j.kind != "CROSS" {
			switch {
			case p.accept("ON"):
				j.on = p.expr()
			case p.at("USING"):
				p.next++
				j.using = p.names()
			}
		}
		left = j
	}
}

func (p *parser) fromItem() fromNode {
	defer p.enter()()
	pos := p.pos()
	var item fromNode
	switch {
	case p.at("UNNEST"):
		item = p.unnest()
	case p.sees("APPENDS", "("), p.sees("CHANGES", "("):
		ref := p.changeFunction()
		ref.alias = p.alias()
		p.see(ref)
		item = ref
	case p.accept("("):
		if p.atSubquery() {
			q := p.query()
			p.expect(")")
			alias := p.alias()
			p.nameItem(alias)
			item = &subqueryRef{at: pos, query: q, alias: alias}
		} else {
			item = p.fromClause()
			p.expect(")")
		}
	default:
		ref := p.path()
		if p.at("(") {
			fail(ref.offset(), "Table-valued function not found: %s", strings.Join(ref.Path, "."))
		}
		ref.alias = p.alias()
		if p.accept("FOR") {
			if !p.accept("SYSTEM_TIME") {
				p.expect("SYSTEM", "TIME")
			}
			p.expect("AS", "OF")
			ref.asOf = p.expr()
			if ref.alias == "" {
				ref.alias = p.alias()
			}
		}
		p.see(ref)
		item = ref
		if p.accept("WITH") {
			p.expect("OFFSET")
			u := &unnestRef{at: ref.at, of: pathOf(ref), alias: ref.alias, ordinal: true, position: p.alias()}
			item = u
		}
	}
	for _, w := range []string{"TABLESAMPLE", "PIVOT", "UNPIVOT", "MATCH_RECOGNIZE"} {
		if p.at(token.TokenKind(w)) {
			fail(p.peek(0).start, "Not supported: %s", w)
		}
	}
	return item
}

// pathOf is a FROM item's path as an expression, for one that turns out to be an array.
func pathOf(ref *TableRef) *pathExpr {
	path := &pathExpr{at: ref.at}
	for _, part := range ref.Path {
		path.names = append(path.names, name{part, ref.offset()})
	}
	return path
}

// atSubquery says whether parentheses that were just opened hold a query, and not an
// expression or a join that begins with one.
func (p *parser) atSubquery() bool {
	opened := 0
	for p.peek(opened).is("(") {
		opened++
	}
	if x := p.peek(opened); !x.is("SELECT") && !x.is("WITH") {
		return false
	}
	// ((SELECT …) UNION …) is a query, ((SELECT …) + 1) is none.
	for n, open := opened, opened; open > 0; n++ {
		switch x := p.peek(n); {
		case x.kind == token.TokenEOF, x.kind == token.TokenBad:
			return true
		case x.is("("):
			open++
		case x.is(")"):
			if open--; open >= opened {
				continue
			}
			opened = open
			if y := p.peek(n + 1); !y.is(")") {
				return y.is("UNION") || y.is("INTERSECT") || y.is("EXCEPT") || y.is("ORDER") || y.is("LIMIT")
			}
		}
	}
	return true
}

func (p *parser) unnest() *unnestRef {
	u := &unnestRef{at: p.pos()}
	p.expect("UNNEST", "(")
	u.of = p.expr()
	if p.at(",") {
		fail(p.peek(0).start, "Not supported: UNNEST of several arrays")
	}
	p.expect(")")
	u.alias = p.alias()
	p.nameItem(u.alias)
	if p.accept("WITH", "OFFSET") {
		u.ordinal = true
		u.position = p.alias()
		if u.position == "" {
			u.position = "offset"
		}
	}
	return u
}

// changeFunction reads APPENDS(TABLE path, start, end), whose times may be left out.
func (p *parser) changeFunction() *TableRef {
	function := strings.ToUpper(p.take().text)
	p.expect("(", "TABLE")
	ref := p.path()
	ref.Function = function
	for _, to := range []*expr{&ref.start, &ref.end} {
		if p.accept(",") {
			if p.peek(1).kind == "=>" {
				p.next += 2
			}
			*to = p.expr()
		}
	}
	p.expect(")")
	return ref
}
