package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// plains is what a catalog of plain tables ([Config.Plain]) knows of them.
type plains struct {
	mu     sync.Mutex
	plans  map[table.Name]*rowproto.Plan
	tables map[table.Name]plainEntry
}

// plainEntry is what came of the last look at a table.
type plainEntry struct {
	table  *table.Table
	views  []View
	err    error
	readAt time.Time
}

// View is a view to create beside a table.
type View struct {
	Name        table.Name
	Query       string // GoogleSQL
	Description string
}

// IsPlain reports whether the catalog is of tables that take plain rows.
func (c *Catalog) IsPlain() bool { return len(c.config.Plain) > 0 }

// PlainPlan returns how rows of the named table are encoded, where the catalog is of
// plain tables. It asks nobody: they all have the columns of [Config.Plain].
func (c *Catalog) PlainPlan(name table.Name) (*rowproto.Plan, error) {
	c.plains.mu.Lock()
	defer c.plains.mu.Unlock()
	if plan := c.plains.plans[name]; plan != nil {
		return plan, nil
	}
	plan, err := rowproto.CompilePlain(&table.Table{Name: name, Columns: c.config.Plain})
	if err != nil {
		return nil, &Error{Table: name, Permanent: true, Err: err}
	}
	if c.plains.plans == nil {
		c.plains.plans = make(map[table.Name]*rowproto.Plan)
	}
	c.plains.plans[name] = plan
	return plan, nil
}

// Appendable makes sure that a plain table is there, with all columns of
// [Config.Plain]: the first time it is read and, where CreateTables is set, what is
// missing is created, the views too; later it is known. An error is an [*Error], and
// is remembered for RefreshEvery.
func (c *Catalog) Appendable(ctx context.Context, t *table.Table, views ...View) error {
	known := func() (plainEntry, bool) {
		c.plains.mu.Lock()
		defer c.plains.mu.Unlock()
		e, ok := c.plains.tables[t.Name]
		return e, ok && (e.err == nil || time.Since(e.readAt) < c.config.RefreshEvery)
	}
	if e, ok := known(); ok {
		return e.err
	}
	flight := c.flight.DoChan("plain "+t.Name.String(), func() (any, error) {
		e, ok := known() // another look may have ended between the one above and this one's turn
		if !ok {
			e = plainEntry{table: t, views: views, readAt: time.Now()}
			e.err = c.ensurePlain(context.WithoutCancel(ctx), t, views)
			c.plains.mu.Lock()
			defer c.plains.mu.Unlock()
			if c.plains.tables == nil {
				c.plains.tables = make(map[table.Name]plainEntry)
			}
			c.plains.tables[t.Name] = e
		}
		return nil, e.err
	})
	select {
	case r := <-flight:
		return r.Err
	case <-ctx.Done():
		return &Error{Table: t.Name, Err: fmt.Errorf("table %v: reading its schema: %w", t.Name, context.Cause(ctx))}
	}
}

// plainFits looks at a table again that an append did not find, and creates it again
// where it may. A worker that has never asked for the table leaves that to others:
// its rows can be written once the table is there.
func (c *Catalog) plainFits(ctx context.Context, name table.Name) (bool, error) {
	c.plains.mu.Lock()
	e, ok := c.plains.tables[name]
	if ok && time.Since(e.readAt) >= c.config.RefreshEvery {
		delete(c.plains.tables, name)
	}
	c.plains.mu.Unlock()
	if !ok {
		return true, nil
	}
	err := c.Appendable(ctx, e.table, e.views...)
	return err == nil, err
}

func (c *Catalog) ensurePlain(ctx context.Context, t *table.Table, views []View) error {
	found, err := c.read(ctx, t.Name)
	if errors.Is(err, errMissing) {
		if !c.config.CreateTables {
			return permanently(t.Name, "table %v: %w; create it, or set create_tables", t.Name, errMissing)
		}
		if err := c.create(ctx, t); err != nil {
			return err
		}
		found, err = c.read(ctx, t.Name) // someone else may have created it, in another shape
	}
	if err != nil {
		return err
	}
	for i := range c.config.Plain {
		if wanted := c.config.Plain[i : i+1]; !hasColumns(found.Columns, wanted) {
			return permanently(t.Name, "table %v: it lacks column %s of type %s; add it, or let the pipeline create the table", t.Name, wanted[0].Name, wanted[0].SQLType())
		}
	}
	for i := range found.Columns {
		column := &found.Columns[i]
		if column.Mode == table.Required && !hasColumns(c.config.Plain, found.Columns[i:i+1]) {
			return permanently(t.Name, "table %v: its column %s is REQUIRED, and no row has it", t.Name, column.Name)
		}
	}
	if !c.config.CreateTables {
		return nil
	}
	for _, v := range views {
		if err := c.createView(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// createView creates a view. One that is there stays as it is.
func (c *Catalog) createView(ctx context.Context, v View) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
	defer cancel()
	err := c.client.DatasetInProject(v.Name.Project, v.Name.Dataset).Table(v.Name.Table).
		Create(ctx, &bigquery.TableMetadata{ViewQuery: v.Query, Description: v.Description})
	if err != nil && !hasCode(err, http.StatusConflict) {
		return classify(v.Name, "creating the view", err)
	}
	return nil
}
