package googlesql

import (
	"strings"

	"github.com/cloudspannerecosystem/memefish/token"
)

// refused are statements that BigQuery has and this package doesn't, by the words they
// begin with.
var refused = []string{
	"BEGIN", "COMMIT", "ROLLBACK", "DECLARE", "SET", "IF", "LOOP", "WHILE", "REPEAT", "FOR", "CASE", "BREAK", "LEAVE", "CONTINUE",
	"ITERATE", "RETURN", "RAISE", "CALL", "EXECUTE", "ASSERT", "LOAD DATA", "GRANT", "REVOKE", "EXPLAIN", "UNDROP", "EXPORT MODEL",
	"CREATE MATERIALIZED VIEW", "CREATE OR REPLACE MATERIALIZED VIEW", "DROP MATERIALIZED VIEW", "ALTER MATERIALIZED VIEW",
	"CREATE EXTERNAL", "CREATE OR REPLACE EXTERNAL", "DROP EXTERNAL", "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION",
	"CREATE TEMP FUNCTION", "CREATE TEMPORARY FUNCTION", "CREATE OR REPLACE TEMP FUNCTION", "CREATE AGGREGATE", "DROP FUNCTION",
	"CREATE TABLE FUNCTION", "CREATE OR REPLACE TABLE FUNCTION", "DROP TABLE FUNCTION", "CREATE PROCEDURE", "CREATE OR REPLACE PROCEDURE",
	"DROP PROCEDURE", "CREATE ROW ACCESS POLICY", "CREATE OR REPLACE ROW ACCESS POLICY", "DROP ROW ACCESS POLICY",
	"DROP ALL ROW ACCESS POLICIES", "CREATE VECTOR INDEX", "CREATE OR REPLACE VECTOR INDEX", "DROP VECTOR INDEX", "CREATE MODEL",
	"CREATE OR REPLACE MODEL", "DROP MODEL", "ALTER MODEL", "ALTER PROJECT", "ALTER ORGANIZATION", "ALTER RESERVATION", "ALTER CAPACITY",
	"ALTER BI_CAPACITY", "CREATE CONNECTION", "CREATE SNAPSHOT SCHEMA", "CREATE PROPERTY GRAPH", "CREATE TABLE CLONE", "DROP CAPACITY",
}

func (p *parser) statement() Statement {
	for _, words := range refused {
		if p.sees(strings.Fields(words)...) {
			fail(p.peek(0).start, "Not supported: %s", words)
		}
	}
	start := p.peek(0)
	switch {
	case p.atQuery():
		return p.queryStatement()
	case p.accept("INSERT"):
		return p.dml(p.insert())
	case p.accept("UPDATE"):
		return p.dml(p.update())
	case p.accept("DELETE"):
		return p.dml(p.delete())
	case p.accept("MERGE"):
		return p.dml(p.merge())
	case p.accept("CREATE"):
		return p.create()
	case p.accept("DROP"):
		return p.drop()
	case p.accept("ALTER"):
		return p.alter()
	case p.accept("TRUNCATE", "TABLE"):
		return &Truncate{p.path()}
	case p.accept("EXPORT", "DATA"):
		e := &ExportData{}
		if p.at("WITH") {
			fail(start.start, "Not supported: EXPORT DATA WITH CONNECTION")
		}
		e.Options = p.options()
		p.expect("AS")
		e.As = p.queryStatement()
		return e
	}
	p.unexpected("")
	return nil
}

func (p *parser) queryStatement() *Query {
	q := &Query{text: p.text, query: p.query()}
	q.end = p.read[p.next-1].end
	q.tables = p.takeTables()
	return q
}

func (p *parser) dml(d *DML) *DML {
	d.tables = p.takeTables()
	return d
}

func (p *parser) create() Statement {
	orReplace := p.accept("OR", "REPLACE")
	switch {
	case p.at("TEMP"), p.at("TEMPORARY"), p.at("TABLE"):
		c := &CreateTable{OrReplace: orReplace, Temporary: !p.at("TABLE")}
		if c.Temporary {
			p.next++
		}
		p.expect("TABLE")
		return p.createTable(c)
	case p.accept("SNAPSHOT", "TABLE"):
		c := &CreateTable{OrReplace: orReplace, Snapshot: true, IfNotExists: p.ifNotExists(), Table: p.path()}
		p.expect("CLONE")
		c.Clone = p.source()
		c.Options = p.options()
		return c
	case p.accept("VIEW"):
		return p.createView(orReplace)
	case orReplace:
		p.unexpected("keyword TABLE or keyword VIEW")
	case p.accept("SCHEMA"):
		c := &CreateSchema{IfNotExists: p.ifNotExists(), Name: p.path()}
		p.refuse("DEFAULT", "COLLATE")
		c.Options = p.options()
		return c
	case p.accept("SEARCH", "INDEX"):
		return p.createSearchIndex()
	case p.at("ASSIGNMENT"), p.at("RESERVATION"), p.at("CAPACITY"):
		c := &CreateReservation{Kind: strings.ToUpper(p.take().text)}
		c.Name = p.path()
		p.refuse("AS")
		c.Options = p.options()
		return c
	}
	p.unexpected("")
	return nil
}

// refuse fails at a clause that BigQuery has and this package doesn't.
func (p *parser) refuse(words ...string) {
	for _, w := range words {
		if p.at(token.TokenKind(w)) {
			fail(p.peek(0).start, "Not supported: %s", w)
		}
	}
}

func (p *parser) ifNotExists() bool {
	if p.accept("IF") {
		p.expect("NOT", "EXISTS")
		return true
	}
	return false
}

func (p *parser) ifExists() bool { return p.accept("IF", "EXISTS") }

func (p *parser) createView(orReplace bool) Statement {
	c := &CreateView{OrReplace: orReplace, IfNotExists: p.ifNotExists(), Table: p.path()}
	if p.accept("(") {
		c.Columns = list(p, func() string {
			n := p.identifier().text
			p.options()
			return n
		})
		p.expect(")")
	}
	c.Options = p.options()
	p.expect("AS")
	c.As = p.queryStatement()
	return c
}

func (p *parser) createSearchIndex() Statement {
	c := &CreateSearchIndex{IfNotExists: p.ifNotExists(), Name: p.identifier().text}
	p.expect("ON")
	c.Table = p.path()
	p.expect("(")
	if !p.accept("ALL", "COLUMNS") {
		c.Columns = list(p, func() string {
			n := p.identifier().text
			p.options()
			return n
		})
	}
	p.expect(")")
	c.Options = p.options()
	return c
}

func (p *parser) drop() Statement {
	for _, kind := range []string{"TABLE", "VIEW", "SCHEMA", "SNAPSHOT TABLE", "SEARCH INDEX", "ASSIGNMENT", "RESERVATION"} {
		if !p.accept(strings.Fields(kind)...) {
			continue
		}
		d := &Drop{Kind: kind, IfExists: p.ifExists(), Name: p.path()}
		switch {
		case kind == "SEARCH INDEX":
			p.expect("ON")
			d.On = p.path()
		case kind == "SCHEMA" && p.accept("CASCADE"):
			d.Cascade = true
		case kind == "SCHEMA":
			p.accept("RESTRICT")
		}
		return d
	}
	p.unexpected("")
	return nil
}

func underscored(words string) string { return strings.ReplaceAll(words, " ", "_") }
