package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

// expr reads an expression. From the loosest to the tightest, operators are OR; AND;
// NOT; comparisons, which don't associate; |; ^; &; << >>; + -; * / ||; signs and ~.
func (p *parser) expr() expr {
	defer p.enter()()
	left := p.and()
	for n := 0; p.at("OR"); n++ {
		p.chain(n)
		left = &binaryExpr{at: p.operator(), op: "OR", left: left, right: p.and()}
	}
	return left
}

// operator takes an operator and tells where it stood.
func (p *parser) operator() at { return at(p.take().start) }

func (p *parser) and() expr {
	left := p.not()
	for n := 0; p.at("AND"); n++ {
		p.chain(n)
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
		p.chain(n)
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

func numberLiteral(pos at, sign string, x lexeme) *literal {
	if x.kind == token.TokenFloat {
		return &literal{at: pos, kind: Float64, text: sign + x.text}
	}
	return &literal{at: pos, kind: Int64, text: sign + x.text}
}

// suffixes reads .field and [index] after an expression.
func (p *parser) suffixes(e expr) expr {
	for n := 0; ; n++ {
		p.chain(n)
		switch {
		case p.at(".") && !p.peek(1).is("*"):
			p.next++
			field := p.nameAfterDot()
			if path, ok := e.(*pathExpr); ok {
				path.names = append(path.names, field)
				continue
			}
			e = &fieldExpr{at: at(field.at), of: e, name: field}
		case p.at("["):
			i := &indexExpr{at: p.operator(), of: e}
			for _, mode := range []string{"OFFSET", "ORDINAL", "SAFE_OFFSET", "SAFE_ORDINAL"} {
				if p.accept(mode, "(") {
					i.mode = mode
				}
			}
			i.index = p.expr()
			if i.mode != "" {
				p.expect(")")
			}
			p.expect("]")
			e = i
		default:
			return e
		}
	}
}

func (p *parser) primary() expr {
	pos := p.pos()
	x := p.peek(0)
	switch x.kind {
	case token.TokenInt, token.TokenFloat:
		p.next++
		return numberLiteral(pos, "", x)
	case token.TokenString:
		return &literal{at: pos, kind: String, text: p.stringText()}
	case token.TokenBytes:
		p.next++
		return &literal{at: pos, kind: Bytes, text: x.text}
	case token.TokenParam:
		p.next++
		return &paramExpr{at: pos, name: x.text}
	case "?":
		p.next++
		p.params++
		return &paramExpr{at: pos, index: p.params - 1}
	case "@@":
		fail(x.start, "Not supported: system variable @@%s", p.peek(1).text)
	case "NULL":
		p.next++
		return &literal{at: pos, kind: Null}
	case "TRUE", "FALSE":
		p.next++
		return &literal{at: pos, kind: Bool, text: string(x.kind)}
	case "CASE":
		return p.caseExpr()
	case "CAST":
		return p.cast(false)
	case "EXTRACT":
		return p.extract()
	case "INTERVAL":
		return p.interval()
	case "EXISTS":
		p.next++
		p.expect("(")
		e := &subqueryExpr{at: pos, kind: "EXISTS", query: p.query()}
		p.expect(")")
		return e
	case "ARRAY":
		return p.array()
	case "[":
		return p.arrayItems(&arrayExpr{at: pos})
	case "STRUCT":
		return p.structure()
	case "(":
		return p.parenthesized()
	case "IF", "LEFT", "RIGHT", "GROUPING":
		if p.peek(1).is("(") {
			p.next++
			return p.call(pos, string(x.kind))
		}
	case token.TokenIdent:
		if p.atIdentifier() {
			return p.named()
		}
	default:
	}
	p.unexpected("")
	return nil
}

// stringText takes a string literal.
func (p *parser) stringText() string {
	if !p.at(token.TokenString) && p.peek(0).kind != token.TokenString {
		p.unexpected("string literal")
	}
	return p.take().text
}

// literalTypes are the types whose literals are a string after the type's name.
var literalTypes = map[string]Kind{
	"DATE": Date, "TIMESTAMP": Timestamp, "DATETIME": DateTime, "TIME": Time, "JSON": JSON,
	"NUMERIC": Numeric, "DECIMAL": Numeric, "BIGNUMERIC": BigNumeric, "BIGDECIMAL": BigNumeric,
}

// named reads what begins with a name: a typed literal, a call or a path.
func (p *parser) named() expr {
	pos := p.pos()
	first := p.peek(0)
	upper := strings.ToUpper(first.text)
	if kind, ok := literalTypes[upper]; ok && !first.quoted && p.peek(1).kind == token.TokenString {
		p.next++
		return &literal{at: pos, kind: kind, text: p.stringText()}
	}
	if upper == "SAFE_CAST" && p.peek(1).is("(") {
		return p.cast(true)
	}
	if upper == "RANGE" && p.peek(1).is("<") {
		fail(first.start, "Not supported: RANGE literals")
	}
	// A call's name may have dots: SAFE.f, NET.f.
	n := 1
	for p.peek(n).is(".") && p.peek(n+1).kind == token.TokenIdent {
		n += 2
	}
	if p.peek(n).is("(") {
		var parts []string
		for i := 0; i < n; i += 2 {
			parts = append(parts, strings.ToUpper(p.peek(i).text))
		}
		p.next += n
		return p.call(pos, strings.Join(parts, "."))
	}
	// BigQuery takes these without parentheses too.
	if strings.HasPrefix(upper, "CURRENT_") && clockFunctions[upper] && !first.quoted && n == 1 {
		p.next++
		return &callExpr{at: pos, name: upper}
	}
	return &pathExpr{at: pos, names: []name{p.identifier()}}
}

var clockFunctions = map[string]bool{"CURRENT_DATE": true, "CURRENT_TIME": true, "CURRENT_DATETIME": true, "CURRENT_TIMESTAMP": true}

func (p *parser) parenthesized() expr {
	pos := p.operator()
	if p.atSubquery() {
		e := &subqueryExpr{at: pos, query: p.query()}
		p.expect(")")
		return e
	}
	e := p.expr()
	if p.at(",") { // (a, b) is a STRUCT
		s := &structExpr{at: pos, items: []selectItem{{at: at(e.offset()), of: e}}}
		for p.accept(",") {
			s.items = append(s.items, selectItem{at: p.pos(), of: p.expr()})
		}
		p.expect(")")
		return s
	}
	p.expect(")")
	if path, ok := e.(*pathExpr); ok { // a suffix is a field of it, not a longer path
		return &parenExpr{at: pos, of: path}
	}
	return e
}
