package keyed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"beamcdc/internal/logs"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/enrich"
)

// destination is where the rows of one source table go.
type destination struct {
	*catalog.Destination // as the catalog had it when it was asked last

	bundle uint64 // the one that asked
	source string // the source's table
	match  catalog.Match
	name   string // "project.dataset.table", made once
	keyer  *keyer
	order  order

	growth   *table.Growth // how the rule's tables may grow; nil if they may not
	enricher *enrich.Rows  // nil where the rule has no steps
}

// remembered reports whether the table's changes are kept in a history.
func (d *destination) remembered() bool { return d.match.History != (table.Name{}) }

// destination returns where the rows of a source's table go. Invariant 7: a
// table that can't be had is the element's fault and refused; a catalog that is
// out of reach is the world's, so it is asked again, and then the bundle fails.
func (m *maker) destination(ctx context.Context, e *change.Event) (*destination, error) {
	d, ok := m.destinations[e.Table]
	if ok && d.bundle == m.bundle {
		return d, nil
	}
	if !ok {
		var err error
		if d, err = m.route(strings.Clone(e.Table)); err != nil { // it is part of a message
			return nil, err
		}
	}
	if len(d.match.Rule.PrimaryKey) == 0 {
		d.match.Declared = names(e.Key)
	}
	found, err := m.ask(ctx, d.match)
	if err != nil && catalog.IsPermanent(err) {
		return nil, &refusal{StageKey, ReasonBadTable, err}
	} else if err != nil {
		return nil, fmt.Errorf("finding the destination of %s: %w", d.source, err)
	}
	if found != d.Destination {
		d.name = found.Table.Name.String()
		if err := m.use(ctx, d, found); err != nil {
			return nil, err
		}
	}
	d.bundle = m.bundle
	m.destinations[d.source] = d
	return d, nil
}

// route returns the destination of a source's table by the configuration alone. The
// error is a refusal.
func (m *maker) route(source string) (*destination, error) {
	match, ok := m.catalog.Route(source)
	switch {
	case ok:
	case source == "":
		return nil, refuse(StageKey, ReasonUnnamedTable, "the message names no table, and not just one is configured")
	default:
		near := ""
		if rule := m.catalog.Nearest(source); rule != "" {
			near = fmt.Sprintf("; the closest is %.100q", rule)
		}
		return nil, refuse(StageKey, ReasonUnlistedTable, "no configured table matches %.100q%s; list it under `tables`, or set `unlisted_tables: filter`", source, near)
	}
	order, ok := m.orders[match.Rule]
	if !ok {
		var err error
		if order, err = newOrder(match.Rule, m.rows.Epoch); err != nil {
			return nil, &refusal{StageKey, ReasonBadSequence, err}
		}
		m.orders[match.Rule] = order
	}
	return &destination{source: source, match: match, order: order, growth: table.GrowthOf(match.Rule)}, nil
}

// names returns the columns' names, in an order that is the same for every message.
func names(columns []change.Column) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = strings.Clone(columns[i].Name) // it may be part of a message
	}
	slices.Sort(names)
	return names
}

// ask asks the catalog until it knows, or RetryFor is over.
func (m *maker) ask(ctx context.Context, match catalog.Match) (found *catalog.Destination, err error) {
	err = m.patiently(ctx, func() error {
		found, err = m.catalog.Destination(ctx, match)
		return err
	})
	return found, err
}

// unanswered keeps the log of questions that are asked again short.
var unanswered logs.Seldom

// patiently does what BigQuery may not be there for until it is done, it can't be, or
// RetryFor is over.
func (m *maker) patiently(ctx context.Context, try func() error) error {
	const firstPause, longestPause, retryFor = 250 * time.Millisecond, 10 * time.Second, 10 * time.Minute
	patience := m.rows.RetryFor
	if patience == 0 {
		patience = retryFor
	}
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := try()
		if err == nil || catalog.IsPermanent(err) || !time.Now().Add(pause).Before(end) {
			return err
		}
		catalogRetries.Inc(ctx, 1)
		if suppressed, ok := unanswered.Ask(""); ok {
			logs.Warn(ctx, "BigQuery does not answer a question about a table; it is asked again", logs.Error.Of(err), logs.Suppressed.Of(suppressed))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// keyerOf returns the plan's keyer, which mostly is the destination's.
func (m *maker) keyerOf(d *destination, plan *rowproto.Plan) *keyer {
	if plan == d.Plan {
		return d.keyer
	}
	return m.keyer(plan)
}

func (m *maker) keyer(plan *rowproto.Plan) *keyer {
	k, ok := m.keyers[plan]
	if !ok {
		if m.keyers == nil {
			m.keyers = make(map[*rowproto.Plan]*keyer)
		}
		k = newKeyer(plan)
		m.keyers[plan] = k
	}
	return k
}
