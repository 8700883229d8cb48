package googlesql

import "strings"

// Tables returns every table that the query refers to, in the order of the text; names
// of WITH's and arrays in FROM aren't among them. Their AsOf, Start and End are empty.
func (q *Query) Tables() []*TableRef { return q.tables }

// Tables returns the statement's target, then every other table that it refers to.
func (d *DML) Tables() []*TableRef { return append([]*TableRef{d.Target}, d.tables...) }

// tableScope are the names that are no tables' at a place of the text. A FROM item's
// alias may come after what refers to it, so paths are looked at when all is read.
type tableScope struct {
	outer *tableScope
	ctes  map[string]bool
	names map[string]bool
}

type seenTable struct {
	ref   *TableRef
	scope *tableScope
	cte   bool
}

// inScope opens a scope for names; the caller defers what it returns.
func (p *parser) inScope() func() {
	outer := p.scope
	p.scope = &tableScope{outer: outer, ctes: map[string]bool{}, names: map[string]bool{}}
	return func() { p.scope = outer }
}

// name notes the alias of a FROM item.
func (p *parser) nameItem(alias string) {
	if p.scope != nil && alias != "" {
		p.scope.names[fold(alias)] = true
	}
}

// see notes a path in FROM.
func (p *parser) see(ref *TableRef) {
	t := seenTable{ref: ref, scope: p.scope}
	if len(ref.Path) == 1 && ref.Function == "" {
		for s := p.scope; s != nil; s = s.outer {
			t.cte = t.cte || s.ctes[fold(ref.Path[0])]
		}
	}
	p.seen = append(p.seen, t)
	p.nameItem(orElse(ref.alias, ref.Path[len(ref.Path)-1]))
}

// takeTables returns the tables among the paths that were noted since it was called last.
func (p *parser) takeTables() []*TableRef {
	var refs []*TableRef
	for _, t := range p.seen {
		isArray := t.ref.Function == "" && len(t.ref.Path) > 1 && t.scope.local(t.ref.Path[0], t.ref)
		if !t.cte && !isArray {
			refs = append(refs, t.ref)
		}
	}
	p.seen = nil
	return refs
}

// local says whether a FROM item has the name. A table isn't its own item: shop.shop is
// one of dataset shop.
func (s *tableScope) local(name string, ref *TableRef) bool {
	for ; s != nil; s = s.outer {
		if s.names[fold(name)] && !strings.EqualFold(orElse(ref.alias, ref.Path[len(ref.Path)-1]), name) {
			return true
		}
	}
	return false
}
