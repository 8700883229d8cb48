package googlesql

func (p *parser) alter() Statement {
	switch {
	case p.accept("SCHEMA"):
		a := &AlterSchema{IfExists: p.ifExists(), Name: p.path()}
		p.expect("SET")
		p.refuse("DEFAULT")
		if !p.at("OPTIONS") {
			p.unexpected("keyword OPTIONS")
		}
		a.Options = p.options()
		return a
	case p.accept("VIEW"):
		a := &AlterTable{View: true, IfExists: p.ifExists(), Table: p.path()}
		a.Actions = list(p, p.alterAction)
		return a
	}
	p.expect("TABLE")
	a := &AlterTable{IfExists: p.ifExists(), Table: p.path()}
	a.Actions = list(p, p.alterAction)
	return a
}

func (p *parser) alterAction() AlterAction {
	switch {
	case p.accept("SET"):
		p.refuse("DEFAULT")
		if !p.at("OPTIONS") {
			p.unexpected("keyword OPTIONS")
		}
		return AlterAction{Kind: "SET OPTIONS", Options: p.options()}
	case p.accept("ADD"):
		return p.alterAdd()
	case p.accept("DROP"):
		switch {
		case p.accept("PRIMARY", "KEY"):
			return AlterAction{Kind: "DROP PRIMARY KEY", IfExists: p.ifExists()}
		case p.at("CONSTRAINT"):
			p.refuse("CONSTRAINT")
		}
		p.expect("COLUMN")
		return AlterAction{Kind: "DROP COLUMN", IfExists: p.ifExists(), Column: p.identifier().text}
	case p.accept("RENAME"):
		if p.accept("TO") {
			return AlterAction{Kind: "RENAME TO", To: p.identifier().text}
		}
		p.expect("COLUMN")
		a := AlterAction{Kind: "RENAME COLUMN", IfExists: p.ifExists(), Column: p.identifier().text}
		p.expect("TO")
		a.To = p.identifier().text
		return a
	case p.accept("ALTER"):
		p.expect("COLUMN")
		return p.alterColumn()
	}
	p.unexpected("")
	return AlterAction{}
}

func (p *parser) alterAdd() AlterAction {
	if p.accept("COLUMN") {
		a := AlterAction{Kind: "ADD COLUMN", IfNotExists: p.ifNotExists()}
		pos := p.peek(0).start
		column, key := p.column()
		if key {
			fail(pos, "Not supported: ADD COLUMN with PRIMARY KEY")
		}
		a.Definition = column
		return a
	}
	if p.accept("CONSTRAINT") {
		p.ifNotExists()
		p.identifier()
	}
	if p.sees("FOREIGN", "KEY") {
		fail(p.peek(0).start, "Not supported: ADD FOREIGN KEY")
	}
	return AlterAction{Kind: "ADD PRIMARY KEY", PrimaryKey: p.primaryKey()}
}

func (p *parser) alterColumn() AlterAction {
	a := AlterAction{IfExists: p.ifExists(), Column: p.identifier().text}
	switch {
	case p.accept("SET", "DEFAULT"):
		a.Kind = "SET DEFAULT"
		a.Definition.Default = p.textOf(func() { p.expr() })
	case p.accept("SET", "DATA", "TYPE"):
		a.Kind = "SET DATA TYPE"
		a.Definition.Type = p.typeName()
	case p.accept("SET"):
		if !p.at("OPTIONS") {
			p.unexpected("keyword OPTIONS")
		}
		a.Kind, a.Options = "COLUMN SET OPTIONS", p.options()
	case p.accept("DROP", "DEFAULT"):
		a.Kind = "DROP DEFAULT"
	case p.accept("DROP", "NOT", "NULL"):
		a.Kind = "DROP NOT NULL"
	default:
		p.unexpected("")
	}
	return a
}
