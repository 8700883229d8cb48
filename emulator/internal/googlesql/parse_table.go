package googlesql

// source reads a table that is copied, maybe as it was at another time.
func (p *parser) source() *TableRef {
	ref := p.path()
	if p.accept("FOR") {
		if !p.accept("SYSTEM_TIME") {
			p.expect("SYSTEM", "TIME")
		}
		p.expect("AS", "OF")
		ref.asOf = p.expr()
	}
	return ref
}

func (p *parser) createTable(c *CreateTable) Statement {
	c.IfNotExists = p.ifNotExists()
	c.Table = p.path()
	switch {
	case p.accept("LIKE"):
		c.Like = p.path()
	case p.accept("COPY"):
		c.Copy = p.source()
	case p.accept("CLONE"):
		c.Clone = p.source()
	case p.at("("):
		p.tableElements(c)
	}
	p.refuse("DEFAULT")
	if p.accept("PARTITION", "BY") {
		c.PartitionBy = p.textOf(func() { c.Partitioning = partitioning(p.expr()) })
	}
	if p.accept("CLUSTER", "BY") {
		c.ClusterBy = list(p, func() string { return p.identifier().text })
	}
	p.refuse("WITH")
	c.Options = p.options()
	if p.accept("AS") {
		c.As = p.queryStatement()
	}
	if len(c.Columns) == 0 && c.As == nil && c.Like == nil && c.Copy == nil && c.Clone == nil {
		p.unexpected(`"(" or keyword AS`)
	}
	return c
}

// textOf returns the text of what read reads.
func (p *parser) textOf(read func()) string {
	start := p.peek(0).start
	read()
	return p.text[start:p.read[p.next-1].end]
}

// tableElements reads columns and constraints in parentheses.
func (p *parser) tableElements(c *CreateTable) {
	p.expect("(")
	for !p.at(")") { // a comma may end the list
		pos := p.peek(0).start
		switch {
		case p.sees("PRIMARY", "KEY"):
			p.setKey(c, pos, p.primaryKey())
		case p.sees("CONSTRAINT"), p.sees("FOREIGN", "KEY"):
			if p.accept("CONSTRAINT") {
				p.identifier()
			}
			if p.sees("PRIMARY", "KEY") {
				p.setKey(c, pos, p.primaryKey())
				break
			}
			p.foreignKey()
		default:
			column, key := p.column()
			if key {
				p.setKey(c, pos, &PrimaryKey{[]string{column.Name}})
			}
			c.Columns = append(c.Columns, column)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

func (p *parser) setKey(c *CreateTable, pos int, key *PrimaryKey) {
	if c.PrimaryKey != nil {
		fail(pos, "Table has multiple primary keys")
	}
	c.PrimaryKey = key
}

// primaryKey reads PRIMARY KEY (a, b) NOT ENFORCED.
func (p *parser) primaryKey() *PrimaryKey {
	p.expect("PRIMARY", "KEY")
	key := &PrimaryKey{}
	for _, n := range p.names() {
		key.Columns = append(key.Columns, n.text)
	}
	p.notEnforced("Primary keys")
	return key
}

func (p *parser) notEnforced(what string) {
	if !p.accept("NOT", "ENFORCED") {
		fail(p.peek(0).start, "%s must be NOT ENFORCED: enforcement is not supported", what)
	}
}

// foreignKey reads a foreign key, which nothing enforces and nothing here uses.
func (p *parser) foreignKey() {
	p.expect("FOREIGN", "KEY")
	p.names()
	p.references()
}

func (p *parser) references() {
	p.expect("REFERENCES")
	p.path()
	p.names()
	p.notEnforced("Foreign keys")
}

// column reads a column's definition, and whether it says PRIMARY KEY itself.
func (p *parser) column() (c ColumnDefinition, key bool) {
	c = ColumnDefinition{Name: p.identifier().text, Type: p.typeName()}
	for {
		switch {
		case p.accept("NOT", "NULL"):
			c.NotNull = true
		case p.accept("DEFAULT"):
			c.Default = p.textOf(func() { p.expr() })
		case p.accept("PRIMARY", "KEY"):
			key = true
			p.notEnforced("Primary keys")
		case p.at("REFERENCES"):
			p.references()
		case p.at("COLLATE"), p.at("GENERATED"):
			p.refuse("COLLATE", "GENERATED")
		case p.at("OPTIONS"):
			c.Options = p.options()
		default:
			return c, key
		}
	}
}
