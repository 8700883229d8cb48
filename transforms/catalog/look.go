package catalog

import (
	"context"
	"errors"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Look returns a table as BigQuery has it now, whatever keeps rows from being written
// to it; nil where there is none. Of a view it is the table behind it, by its own name.
// Nothing is created, and nothing remembered. An error is an [*Error].
func (c *Catalog) Look(ctx context.Context, name table.Name) (*table.Table, error) {
	if !c.isView(name) {
		t, _, err := c.readMetadata(ctx, name)
		return noneIfMissing(t, err)
	}
	f, etag, err := c.readFence(ctx, name)
	if err != nil || etag == "" {
		return nil, err
	}
	t, _, err := c.readMetadata(ctx, behind(name, suffixOf(f.Truncated)))
	return noneIfMissing(t, err)
}

func noneIfMissing(t *table.Table, err error) (*table.Table, error) {
	if errors.Is(err, errMissing) {
		return nil, nil //nolint:nilnil // documented
	}
	return t, err
}

// FirstBehind returns the first table behind a view that is created with the table's
// columns, for a rule with `truncates: recreate`, and the view.
func FirstBehind(t *table.Table) (*table.Table, View) {
	first := *t
	first.Name = behind(t.Name, suffixOf(change.Sequence{}))
	first.Columns = make([]table.Column, len(t.Columns))
	for i, column := range t.Columns {
		if column.Mode == table.Required && !contains(t.PrimaryKey, column.Name) {
			column.Mode = table.Nullable // the hidden row of a delete has its key only
		}
		first.Columns[i] = column
	}
	return &first, View{Name: t.Name, Query: viewQuery(first.Name)}
}
