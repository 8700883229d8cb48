package googlesql

import "github.com/cloudspannerecosystem/memefish/token"

// expr reads an expression. From the loosest to the tightest, operators are OR; AND;
// NOT; comparisons, which don't associate; |; ^; &; << >>; + -; * / ||; signs and ~.
func (p *parser) expr() expr {
	defer p.enter()()
	left := p.and()
	for n := 0; p.at("OR"); n++ {
		p.chain(n, maxChain)
		left = &binaryExpr{at: p.operator(), op: "OR", left: left, right: p.and()}
	}
	return left
}

// operator takes an operator and tells where it stood.
func (p *parser) operator() at { return at(p.take().start) }

func (p *parser) and() expr {
	left := p.not()
	for n := 0; p.at("AND"); n++ {
		p.chain(n, maxChain)
		left = &binaryExpr{at: p.operator(), op: "AND", left: left, right: p.not()}
	}
	return left
}

func (p *parser) not() expr {
	if p.at("NOT") {
		defer p.enter()()
		return &unaryExpr{at: p.operator(), op: "NOT", of: p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() expr {
	left := p.binary(0)
	pos := p.pos()
	for _, op := range []string{"=", "!=", "<>", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			if op == "<>" {
				op = "!="
			}
			return p.endComparison(&binaryExpr{at: pos, op: op, left: left, right: p.binary(0)})
		}
	}
	if p.accept("IS") {
		return p.endComparison(p.is(left, pos))
	}
	negated := false
	if p.at("NOT") {
		if next := p.peek(1); !next.is("LIKE") && !next.is("IN") && !next.is("BETWEEN") {
			return left
		}
		p.next++
		negated = true
	}
	switch {
	case p.accept("BETWEEN"):
		b := &betweenExpr{at: pos, of: left, not: negated, low: p.binary(0)}
		p.expect("AND")
		b.high = p.binary(0)
		return p.endComparison(b)
	case p.accept("LIKE"):
		return p.endComparison(p.like(left, pos, negated))
	case p.accept("IN"):
		return p.endComparison(p.in(left, pos, negated))
	}
	return left
}

// endComparison refuses a second comparison: a < b < c needs parentheses.
func (p *parser) endComparison(e expr) expr {
	for _, op := range []string{"=", "!=", "<>", "<=", ">=", "<", ">", "LIKE", "IN", "BETWEEN"} {
		if p.at(token.TokenKind(op)) {
			p.unexpected("")
		}
	}
	if p.at("IS") {
		pos := p.pos()
		p.next++
		return p.endComparison(p.is(e, pos))
	}
	return e
}

func (p *parser) is(left expr, pos at) expr {
	e := &isExpr{at: pos, of: left, not: p.accept("NOT")}
	for _, w := range []string{"NULL", "TRUE", "FALSE", "UNKNOWN"} {
		if p.accept(w) {
			e.what = w
			return e
		}
	}
	p.expect("DISTINCT", "FROM")
	e.what, e.right = "DISTINCT FROM", p.binary(0)
	return e
}

func (p *parser) like(left expr, pos at, negated bool) expr {
	e := &likeExpr{at: pos, of: left, not: negated}
	for _, w := range []string{"ANY", "SOME", "ALL"} {
		if p.accept(w) {
			e.quantifier = w
			if p.at("UNNEST") || p.peek(1).is("SELECT") {
				fail(p.peek(0).start, "Not supported: LIKE %s over an array or a subquery", w)
			}
			p.expect("(")
			e.patterns = list(p, p.expr)
			p.expect(")")
			return e
		}
	}
	e.patterns = []expr{p.binary(0)}
	return e
}

func (p *parser) in(left expr, pos at, negated bool) expr {
	e := &inExpr{at: pos, of: left, not: negated}
	if p.accept("UNNEST") {
		p.expect("(")
		e.array = p.expr()
		p.expect(")")
		return e
	}
	p.expect("(")
	if p.atSubquery() {
		e.query = p.query()
	} else {
		e.list = list(p, p.expr)
	}
	p.expect(")")
	return e
}

// levels are the operators between comparisons and signs, the loosest first.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "||"}}

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for n := 0; ; n++ {
		p.chain(n, maxArithmetic)
		found := ""
		for _, op := range levels[level] {
			if p.at(token.TokenKind(op)) {
				found = op
			}
		}
		if found == "" {
			return left
		}
		left = &binaryExpr{at: p.operator(), op: found, left: left, right: p.binary(level + 1)}
	}
}

func (p *parser) unary() expr {
	for _, op := range []string{"-", "+", "~"} {
		if p.at(token.TokenKind(op)) {
			defer p.enter()()
			pos := p.operator()
			// The smallest INT64 is a literal, though its digits alone are none.
			if x := p.peek(0); op == "-" && (x.kind == token.TokenInt || x.kind == token.TokenFloat) {
				p.next++
				return p.suffixes(numberLiteral(pos, "-", x))
			}
			return &unaryExpr{at: pos, op: op, of: p.unary()}
		}
	}
	return p.suffixes(p.primary())
}
