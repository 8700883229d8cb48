package googlesql

import (
	"strconv"
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

// typeName reads a type, with its parameters.
func (p *parser) typeName() *Type {
	defer p.enter()()
	switch {
	case p.at("STRUCT"):
		p.next++
		return p.structType()
	case p.accept("ARRAY"):
		p.expect("<")
		elem := p.typeName()
		p.closeType()
		return ArrayOf(elem)
	case p.sees("RANGE"):
		p.next++
		p.expect("<")
		elem := p.typeName()
		p.closeType()
		return &Type{Kind: Range, Elem: elem}
	case p.at("INTERVAL"):
		p.next++
		return Of(Interval)
	}
	n := p.identifier()
	kind, ok := typeNames[strings.ToUpper(n.text)]
	if !ok {
		fail(n.at, "Type not found: %s", n.text)
	}
	t := Of(kind)
	if !p.accept("(") {
		return t
	}
	t = &Type{Kind: kind}
	first := p.size(true)
	switch kind {
	case String, Bytes:
		t.Length = first
	case Numeric, BigNumeric:
		t.Precision = first
		if p.accept(",") {
			t.Scale = p.size(false)
		}
	default:
		fail(n.at, "%s does not support type parameters", kind)
	}
	p.expect(")")
	return t
}

func (p *parser) size(may bool) int64 {
	x := p.peek(0)
	if may && p.accept("MAX") {
		return 0
	}
	if x.kind != token.TokenInt {
		p.unexpected("integer literal")
	}
	p.next++
	n, err := strconv.ParseInt(x.text, 0, 64)
	if err != nil {
		fail(x.start, "Invalid type parameter: %s", x.text)
	}
	return n
}

func (p *parser) closeType() {
	p.splitShift()
	p.expect(">")
}

// structType reads <[name] type [NOT NULL] [OPTIONS (…)], …>.
func (p *parser) structType() *Type {
	t := &Type{Kind: Struct}
	if p.peek(0).kind == "<>" {
		p.next++
		return t
	}
	p.expect("<")
	for {
		f := Field{}
		// A name stands before a type; a type before a comma, a bracket or its parts.
		next := p.peek(1)
		if p.atIdentifier() && (next.kind == token.TokenIdent || next.is("ARRAY") || next.is("STRUCT") || next.is("RANGE") || next.is("INTERVAL")) && !next.is("OPTIONS") && !next.is("NOT") {
			f.Name = p.identifier().text
		}
		f.Type = p.typeName()
		if p.accept("NOT", "NULL") {
			f.NotNull = true
		}
		f.Options = p.options()
		t.Fields = append(t.Fields, f)
		if p.accept(",") {
			continue
		}
		p.closeType()
		return t
	}
}
