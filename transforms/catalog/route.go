package catalog

import (
	"context"
	"errors"

	"beamcdc/schemas/table"
)

// Match is the rule that a source table matches, and the destination it gives.
type Match = table.Match

// Route returns the rule for the table that a message names, and where its rows
// go; false when no rule is for it.
func (c *Catalog) Route(source string) (Match, bool) { return c.router.Route(source) }

// Nearest returns the source of the rule that a table which no rule is for may be
// meant by, or "".
func (c *Catalog) Nearest(source string) string { return c.router.Nearest(source) }

// Destination returns the table that the match names. It is read from BigQuery,
// and created if it is missing and CreateTables is set, the first time; then it
// comes from memory. A rule without a primary key takes the one that the match
// declares. An error is an [*Error], and is remembered for RefreshEvery.
func (c *Catalog) Destination(ctx context.Context, m Match) (*Destination, error) {
	if m.Err != nil {
		return nil, &Error{Permanent: true, Err: m.Err}
	}
	// Each bundle asks for all of its tables: what is known costs no memory.
	if e := c.entry(m.Name); e != nil && e.rule == m.Rule && e.destination != nil {
		return e.destination, e.err
	}
	return c.ask(ctx, m)
}

// ask is Destination for a table that has to be read, perhaps.
func (c *Catalog) ask(ctx context.Context, m Match) (*Destination, error) {
	return c.find(ctx, m, func(e *entry) bool {
		undeclared := errors.Is(e.err, errUndeclared) && len(m.Declared) > 0 // this message names it
		return e.destination != nil || c.fresh(e) && !undeclared
	})
}

// find returns the match's table from an entry of its rule that is enough.
func (c *Catalog) find(ctx context.Context, m Match, enough func(*entry) bool) (*Destination, error) {
	e, err := c.load(ctx, m.Name, m.Rule, m.Declared, func(e *entry) bool { return e.rule == m.Rule && enough(e) })
	if err != nil {
		return nil, err
	}
	return e.destination, e.err
}

// Refresh reads the table again, unless that was done less than RefreshEvery
// ago: a row has a column that the table is not known to have. An unchanged table
// is the same *Destination as before.
func (c *Catalog) Refresh(ctx context.Context, m Match) (*Destination, error) {
	if m.Err != nil {
		return nil, &Error{Permanent: true, Err: m.Err}
	}
	return c.find(ctx, m, c.fresh)
}

// Literals returns a match for every rule whose destination is the same whatever its
// source, as [table.Router.Literals] does.
func (c *Catalog) Literals() []Match { return c.router.Literals() }
