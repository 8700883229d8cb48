package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

func numberLiteral(pos at, sign string, x lexeme) *literal {
	if x.kind == token.TokenFloat {
		return &literal{at: pos, kind: Float64, text: sign + x.text}
	}
	return &literal{at: pos, kind: Int64, text: sign + x.text}
}

// suffixes reads .field and [index] after an expression.
func (p *parser) suffixes(e expr) expr {
	for n := 0; ; n++ {
		p.chain(n, maxChain)
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
