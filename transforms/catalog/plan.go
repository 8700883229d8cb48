package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// maxOlderVersions is by how many added columns a row may be behind its table.
const maxOlderVersions = 32

// maxOlderPlans bounds the versions that are tried: each is compiled.
const maxOlderPlans = 2000

// unknownFor is how long a fingerprint that a fresh read did not explain is taken
// for unknown without another.
const unknownFor = time.Minute

// Plan returns the plan that the fingerprint names, of a table by its full name
// "project.dataset.table". A fingerprint that is not known has the table read
// again, RefreshEvery after the last time at the earliest, for which Plan waits:
// another worker has seen the table change first. If that does not tell, the older
// versions are tried that the table may have had: without its last columns, without
// a STRUCT's last fields, and with a column of the type that it was widened from.
// Rows encoded before an ALTER TABLE are still on their way after it, and reach
// workers that started later. (REQUIRED, parameters, and NUMERIC or BIGNUMERIC are
// not in a fingerprint: they change no byte.)
//
// [ErrUnknownSchema] means that the row's schema can't be told: a column was dropped
// or renamed, or more was altered than 32 columns added and a few types widened (2,000
// versions are tried) between the row's encoding and this process's first look at the
// table.
func (c *Catalog) Plan(ctx context.Context, name string, fingerprint uint64) (*rowproto.Plan, error) {
	parsed, err := table.ParseName(name, c.config.Project)
	if err != nil {
		return nil, &Error{Permanent: true, Err: err}
	}
	if c.IsPlain() {
		return c.PlainPlan(parsed)
	}
	asked := time.Now()
	known := func(e *entry) bool {
		return e.versions[fingerprint] != nil || asked.Sub(e.unknown[fingerprint]) < unknownFor
	}
	e := c.entry(parsed)
	if e != nil && !known(e) {
		if err := sleep(ctx, time.Until(e.readAt.Add(c.config.RefreshEvery))); err != nil {
			return nil, &Error{Table: parsed, Err: fmt.Errorf("table %v: reading its schema: %w", parsed, err)}
		}
	}
	if e, err = c.load(ctx, parsed, nil, nil, known); err != nil {
		return nil, err
	}
	if plan := e.versions[fingerprint]; plan != nil {
		return plan, nil
	}
	if err := cmp.Or(e.err, e.stale); err != nil {
		return nil, err
	}
	if plan := c.explain(parsed, fingerprint); plan != nil {
		return plan, nil
	}
	return nil, &Error{Table: parsed, Err: fmt.Errorf("table %v: %w: fingerprint %016x", parsed, ErrUnknownSchema, fingerprint)}
}

// Fits reports whether rows of the schema that the fingerprint names, which Plan
// has returned, can be written to the table as it is now: whether each of their
// columns is there, of the type that they were encoded for. The table is read
// again, at most every RefreshEvery, and created if it is missing and may be. An
// integer can be written to a NUMERIC.
func (c *Catalog) Fits(ctx context.Context, name string, fingerprint uint64) (bool, error) {
	parsed, err := table.ParseName(name, c.config.Project)
	if err != nil {
		return false, &Error{Permanent: true, Err: err}
	}
	if c.IsPlain() {
		return c.plainFits(ctx, parsed)
	}
	e, err := c.load(ctx, parsed, nil, nil, c.fresh)
	if err != nil {
		return false, err
	}
	if err := cmp.Or(e.err, e.stale); err != nil {
		return false, err
	}
	plan := e.versions[fingerprint]
	return plan != nil && hasColumns(e.destination.Table.Columns, plan.Table().Columns), nil
}

// hasColumns reports whether columns has all of wanted.
func hasColumns(columns, wanted []table.Column) bool {
	byName := make(map[string]*table.Column, len(columns))
	for i := range columns {
		byName[strings.ToLower(columns[i].Name)] = &columns[i]
	}
	for i := range wanted {
		w := &wanted[i]
		c := byName[strings.ToLower(w.Name)]
		if c == nil || !table.Holds(c.Type, w.Type) || c.Element != w.Element || (c.Mode == table.Repeated) != (w.Mode == table.Repeated) || !hasColumns(c.Fields, w.Fields) {
			return false
		}
	}
	return true
}

// explain looks for the fingerprint among the table's older versions, and keeps
// what it finds, or that there is nothing to find.
func (c *Catalog) explain(name table.Name, fingerprint uint64) *rowproto.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.tables[name.String()]
	if plan := before.versions[fingerprint]; plan != nil || time.Since(before.unknown[fingerprint]) < unknownFor {
		return plan
	}
	e := *before
	e.versions, e.unknown = maps.Clone(before.versions), maps.Clone(before.unknown)
	if e.destination != nil {
		addOlder(e.versions, e.destination.Table)
	}
	plan := e.versions[fingerprint]
	if plan == nil {
		e.unknown[fingerprint] = time.Now()
	}
	c.tables[name.String()] = &e
	return plan
}

// addOlder adds to versions the plans that the table may have had before: without
// its last columns, since BigQuery adds them at the end alone, and each of these
// with more of its history undone, the latest steps first.
func addOlder(versions map[uint64]*rowproto.Plan, t *table.Table) {
	budget := maxOlderPlans
	// add reports whether there was such a table, and it is new.
	add := func(columns []table.Column) (possible, isNew bool) {
		budget--
		older := *t
		older.Columns = columns
		plan, err := rowproto.Compile(&older)
		if err != nil {
			return false, false
		}
		if versions[plan.Fingerprint()] != nil {
			return true, false
		}
		versions[plan.Fingerprint()] = plan
		return true, true
	}
	var older [][]table.Column
	for n := len(t.Columns); n > 0 && n >= len(t.Columns)-maxOlderVersions; n-- {
		if possible, _ := add(t.Columns[:n:n]); !possible {
			break // the key needs the column that was left out: there was no older table
		}
		older = append(older, t.Columns[:n:n])
	}
	for len(older) > 0 {
		columns := older[0]
		older = older[1:]
		for undone := range table.Undone(columns) {
			if budget <= 0 {
				return
			}
			if _, isNew := add(undone); isNew {
				older = append(older, undone)
			}
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
