package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

const (
	// maxText is BigQuery's limit for a query's text, in bytes.
	maxText = 1 << 20
	// maxDepth bounds how deep expressions, queries and types may nest, and how many
	// operands a chain of operators may have is maxChain: both are recursions later.
	maxDepth = 150
	maxChain = 900
	// maxArithmetic is maxChain for operators other than AND and OR, which DuckDB plans
	// in time that grows with the cube: seconds for this many, minutes for 900, and it
	// can't be interrupted there.
	maxArithmetic = 250
)

// Parse reads statements that are separated by semicolons. What it doesn't understand is
// an *Error that names it.
func Parse(sql string) (statements []Statement, err error) {
	if len(sql) > maxText {
		return nil, &Error{Line: 1, Column: 1, Message: "The query is too large: its text may have 1 MiB"}
	}
	defer rescue(sql, &err)
	p := &parser{tokens: newTokens(sql)}
	for {
		for p.accept(";") {
		}
		if p.at(token.TokenEOF) {
			return statements, nil
		}
		statements = append(statements, p.statement())
		if !p.at(";") && !p.at(token.TokenEOF) {
			p.unexpected("end of input")
		}
	}
}

type parser struct {
	*tokens
	depth  int
	params int // how many ? were read
	scope  *tableScope
	seen   []seenTable
}

// enter counts a level of nesting; the caller defers what it returns.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		fail(p.peek(0).start, "The query is nested too deeply")
	}
	return func() { p.depth-- }
}

func (p *parser) chain(n, most int) {
	if n > most {
		fail(p.peek(0).start, "The query has too many operands in a row: at most %d", most)
	}
}

func (p *parser) take() lexeme {
	x := p.peek(0)
	p.next++
	return x
}

func (p *parser) pos() at { return at(p.peek(0).start) }

// is says whether the lexeme is the operator or the word, reserved or not.
func (x lexeme) is(word string) bool {
	if x.kind == token.TokenIdent {
		return !x.quoted && strings.EqualFold(x.text, word)
	}
	return string(x.kind) == word
}

func (p *parser) at(kind token.TokenKind) bool { return p.peek(0).is(string(kind)) }

// sees says whether the next lexemes are these words.
func (p *parser) sees(words ...string) bool {
	for i, w := range words {
		if !p.peek(i).is(w) {
			return false
		}
	}
	return true
}

// accept takes the words if they are next.
func (p *parser) accept(words ...string) bool {
	if !p.sees(words...) {
		return false
	}
	p.next += len(words)
	return true
}

func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.unexpected(describe(w))
		}
	}
}

func describe(word string) string {
	if isWord(word[0]) {
		return "keyword " + word
	}
	return `"` + word + `"`
}

// unexpected fails in the words of BigQuery's parser.
func (p *parser) unexpected(wanted string) {
	x := p.peek(0)
	got := ""
	switch x.kind {
	case token.TokenBad:
		fail(x.start, "Syntax error: %s", x.text)
	case token.TokenEOF:
		got = "end of script"
	case token.TokenIdent:
		got = `identifier "` + x.text + `"`
	case token.TokenString:
		got = "string literal"
	case token.TokenBytes:
		got = "bytes literal"
	case token.TokenInt:
		got = "integer literal " + `"` + x.text + `"`
	case token.TokenFloat:
		got = "floating point literal " + `"` + x.text + `"`
	case token.TokenParam:
		got = `"@" parameter`
	default:
		got = describe(string(x.kind))
	}
	if wanted == "" {
		fail(x.start, "Syntax error: Unexpected %s", got)
	}
	fail(x.start, "Syntax error: Expected %s but got %s", wanted, got)
}

// reserved are words that BigQuery reserves and memefish's lexer doesn't.
var reserved = map[string]bool{"QUALIFY": true}

func (p *parser) atIdentifier() bool {
	x := p.peek(0)
	return x.kind == token.TokenIdent && (x.quoted || !reserved[strings.ToUpper(x.text)])
}

func (p *parser) identifier() name {
	if !p.atIdentifier() {
		p.unexpected("identifier")
	}
	x := p.take()
	return name{x.text, x.start}
}

// nameAfterDot takes any word, reserved ones and those that begin with a digit too.
func (p *parser) nameAfterDot() name {
	x := p.peek(0)
	if x.kind != token.TokenIdent && (x.end == x.start || !isWord(p.text[x.start]) || x.kind == token.TokenString || x.kind == token.TokenBytes) {
		p.unexpected("identifier")
	}
	p.next++
	return name{x.text, x.start}
}

func (p *parser) names() []name {
	p.expect("(")
	var list []name
	for {
		list = append(list, p.identifier())
		if !p.accept(",") {
			p.expect(")")
			return list
		}
	}
}

// alias reads [AS] name; "" if there is none.
func (p *parser) alias() string {
	if p.accept("AS") {
		return p.identifier().text
	}
	if p.atIdentifier() && !p.sees("PIVOT", "(") && !p.sees("UNPIVOT", "(") && !p.sees("MATCH_RECOGNIZE", "(") {
		return p.identifier().text
	}
	return ""
}

// path reads a table's name, in which backquotes may hold dots and bare words dashes.
func (p *parser) path() *TableRef {
	ref := &TableRef{at: p.pos()}
	p.joinDashes()
	first := p.identifier()
	ref.Path = strings.Split(first.text, ".")
	for p.accept(".") {
		p.joinDashes()
		ref.Path = append(ref.Path, strings.Split(p.nameAfterDot().text, ".")...)
	}
	// project:dataset.table is legacy SQL's.
	if p.at(":") {
		p.unexpected("")
	}
	last := len(ref.Path) - 1
	ref.Path[last], ref.Wildcard = strings.CutSuffix(ref.Path[last], "*")
	for i, part := range ref.Path {
		if part == "" && (i < last || !ref.Wildcard) {
			fail(first.at, "Invalid table name: `%s`", strings.Join(ref.Path, "."))
		}
	}
	return ref
}

func list[T any](p *parser, item func() T) []T {
	var items []T
	for {
		items = append(items, item())
		if !p.accept(",") {
			return items
		}
	}
}
