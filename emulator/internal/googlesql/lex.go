package googlesql

import (
	"errors"
	"strings"

	"github.com/cloudspannerecosystem/memefish"
	"github.com/cloudspannerecosystem/memefish/token"
)

type lexeme struct {
	kind       token.TokenKind
	text       string // decoded: an identifier's name, a string's contents, a number as written
	start, end int
	quoted     bool // an identifier in backquotes, which is never a keyword
}

// tokens reads lexemes as they are asked for: what a dash means depends on where it
// stands, which only the parser knows (see joinDashes).
type tokens struct {
	text  string
	lexer *memefish.Lexer
	base  int // where in text the lexer's buffer begins
	read  []lexeme
	next  int
}

func newTokens(text string) *tokens {
	t := &tokens{text: text}
	t.restart(0)
	return t
}

func (t *tokens) restart(offset int) {
	t.base = offset
	t.lexer = &memefish.Lexer{File: &token.File{Buffer: t.text[offset:]}}
}

// peek returns the lexeme n after the next one.
func (t *tokens) peek(n int) lexeme {
	for len(t.read) <= t.next+n {
		if last := len(t.read) - 1; last >= 0 && (t.read[last].kind == token.TokenEOF || t.read[last].kind == token.TokenBad) {
			return t.read[last]
		}
		t.read = append(t.read, t.lex())
	}
	return t.read[t.next+n]
}

// lex reads a lexeme. What is none is of kind TokenBad, with the error as its text: it
// may turn out to be part of a name with dashes.
func (t *tokens) lex() lexeme {
	after := t.base + int(t.lexer.Token.End)
	if err := nextToken(t.lexer); err != nil {
		x := lexeme{kind: token.TokenBad, start: after, end: after, text: err.Error()}
		if lexical, ok := errors.AsType[*memefish.Error](err); ok {
			x.text = lexical.Message
			x.start = t.base + int(lexical.Position.Pos)
			x.end = x.start
		}
		return x
	}
	k := t.lexer.Token
	x := lexeme{kind: k.Kind, text: k.AsString, start: t.base + int(k.Pos), end: t.base + int(k.End)}
	switch k.Kind {
	case token.TokenIdent:
		x.quoted = strings.HasPrefix(k.Raw, "`")
		if strings.Contains(x.text, "\x00") { // would end DuckDB's text
			x.kind, x.text = token.TokenBad, `illegal input character: '\x00'`
		}
	case token.TokenString, token.TokenBytes, token.TokenParam:
	default:
		x.text = k.Raw
	}
	return x
}

// nextToken makes an error of the lexer's panic at a literal that the text's end cuts off.
func nextToken(lexer *memefish.Lexer) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("unclosed literal")
		}
	}()
	return lexer.NextToken()
}

// joinDashes makes one identifier of the next one and what follows it after dashes,
// as in region-us or my-project-123, which BigQuery takes bare in table paths alone.
func (t *tokens) joinDashes() {
	first := t.peek(0)
	if first.quoted {
		return
	}
	end := first.end
	for end+1 < len(t.text) && t.text[end] == '-' && isWord(t.text[end+1]) {
		end++
		for end < len(t.text) && isWord(t.text[end]) {
			end++
		}
	}
	if end == first.end {
		return
	}
	t.read = append(t.read[:t.next], lexeme{kind: token.TokenIdent, text: t.text[first.start:end], start: first.start, end: end, quoted: true})
	t.restart(end)
}

// splitShift makes > and > of a >> that ends two types.
func (t *tokens) splitShift() {
	x := t.peek(0)
	if x.kind != ">>" {
		return
	}
	one := lexeme{kind: ">", text: ">", start: x.start, end: x.start + 1}
	two := lexeme{kind: ">", text: ">", start: x.start + 1, end: x.end}
	t.read = append(t.read[:t.next], append([]lexeme{one, two}, t.read[t.next+1:]...)...)
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
