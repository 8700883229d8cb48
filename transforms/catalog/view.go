package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// With `truncates: recreate` a destination is a view over one table after the other:
// that of each truncate, by whose sequence it is called. The view has the fence, and
// selects of its table all but the hidden columns and the rows that were deleted.

// beforeLabel names the table that was behind the view before, by its suffix.
const beforeLabel = "beamcdc_before"

// keepBefore is for how long the table that was behind a view before is kept.
const keepBefore = 24 * time.Hour

// IsView reports whether a table, by its full name, is a view of this kind.
func (c *Catalog) IsView(name string) bool {
	parsed, err := table.ParseName(name, c.config.Project)
	return err == nil && c.isView(parsed)
}

func (c *Catalog) isView(name table.Name) bool {
	rule := c.ruleOf(name)
	return rule != nil && rule.Truncates == Recreate
}

// Behind returns the name, or full name, of the table that is behind a view whose
// fence is at the sequence.
func Behind(view string, truncated change.Sequence) string { return view + suffixOf(truncated) }

func suffixOf(truncated change.Sequence) string {
	if truncated.IsZero() {
		return "_g0"
	}
	return "_g_" + labelOf(truncated)
}

func behind(view table.Name, suffix string) table.Name {
	view.Table += suffix
	return view
}

// readBehind returns the table behind the view, under the view's name.
func (c *Catalog) readBehind(ctx context.Context, view table.Name) (*table.Table, error) {
	f, etag, err := c.readFence(ctx, view)
	if err != nil {
		return nil, err
	}
	if etag == "" {
		return nil, permanently(view, "view %v: reading its schema: %w", view, errMissing)
	}
	t, err := c.readGeneration(ctx, view, f.Truncated)
	if err != nil {
		return nil, err
	}
	shown := *t
	shown.Name = view
	return &shown, nil
}

// readGeneration returns the table that is behind the view since the truncate.
func (c *Catalog) readGeneration(ctx context.Context, view table.Name, truncated change.Sequence) (*table.Table, error) {
	name := behind(view, suffixOf(truncated))
	t, _, err := c.readMetadata(ctx, name)
	if errors.Is(err, errMissing) { // the view is there: nothing is to be created
		return nil, permanently(view, "view %v: the table %v behind it does not exist", view, name)
	}
	if err != nil {
		return nil, err
	}
	if err := checkHidden(t); err != nil {
		return nil, permanently(view, "table %v, behind the view %v: %w", name, view, err)
	}
	return t, nil
}

// checkHidden checks that the table takes what a view needs to hide.
func checkHidden(t *table.Table) error {
	hidden := map[string]table.Type{table.SequenceColumn: table.String, table.DeletedColumn: table.Bool}
	for i := range t.Columns {
		column := &t.Columns[i]
		if column.Type == hidden[column.Name] && column.Mode == table.Nullable {
			delete(hidden, column.Name)
		}
		if column.Mode == table.Required && !contains(t.PrimaryKey, column.Name) {
			return fmt.Errorf("its column %s is REQUIRED, and the hidden row of a delete has its key only: make it NULLABLE", column.Name)
		}
		if column.Type == table.Range {
			return fmt.Errorf("its column %s is a RANGE, which can't be read back for a truncate: use truncates: delete_keys", column.Name)
		}
	}
	for name, typ := range hidden {
		return fmt.Errorf("it has no column %s of type %s; `truncates: recreate` needs %s STRING and %s BOOL",
			name, typ, table.SequenceColumn, table.DeletedColumn)
	}
	return nil
}

// Shown returns the table without the columns that a view hides.
func (d *Destination) Shown() *table.Table {
	if !d.Hides {
		return d.Table
	}
	shown := *d.Table
	shown.Columns = slices.DeleteFunc(slices.Clone(shown.Columns), func(c table.Column) bool {
		return c.Name == table.SequenceColumn || c.Name == table.DeletedColumn
	})
	return &shown
}

// createBehind creates the first table, of these columns, and the view.
func (c *Catalog) createBehind(ctx context.Context, t *table.Table) error {
	first, view := FirstBehind(t)
	if err := c.createAs(ctx, first.Name, toMetadata(first)); err != nil {
		return err
	}
	return c.createAs(ctx, view.Name, &bigquery.TableMetadata{ViewQuery: view.Query})
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

func viewQuery(of table.Name) string {
	return fmt.Sprintf("SELECT * EXCEPT (%s, %s) FROM `%v` WHERE %[2]s IS NOT TRUE", table.SequenceColumn, table.DeletedColumn, of)
}

// RaiseView sets the view's fence to the sequence, puts a new table behind it, and
// returns the fence as it then is. It leaves as they are a fence that is as high, and
// one below whose truncate rows are to be copied yet: there are never more than two
// tables that rows can be in.
func (c *Catalog) RaiseView(ctx context.Context, view table.Name, s change.Sequence) (Fence, error) {
	return c.changeFence(ctx, view, truncatedLabel, func(f *Fence, update *bigquery.TableMetadataToUpdate) (bool, error) {
		if f.Truncated.Compare(s) >= 0 || f.Emptied.Compare(f.Truncated) < 0 {
			return false, nil
		}
		if err := c.retire(ctx, view, *f); err != nil { // whoever was to do it may have died
			return false, err
		}
		f.before = strings.TrimPrefix(suffixOf(f.Truncated), "_")
		if err := c.createLike(ctx, behind(view, suffixOf(f.Truncated)), behind(view, suffixOf(s))); err != nil {
			return false, err
		}
		f.Truncated = s
		update.ViewQuery, update.UseLegacySQL = viewQuery(behind(view, suffixOf(s))), false
		update.SetLabel(truncatedLabel, labelOf(s))
		update.SetLabel(beforeLabel, f.before)
		return true, nil
	})
}

// createLike creates an empty table that is as another.
func (c *Catalog) createLike(ctx context.Context, like, name table.Name) error {
	_, m, err := c.readMetadata(ctx, like)
	if err != nil {
		return err
	}
	labels := make(map[string]string, len(m.Labels))
	for label, value := range m.Labels {
		if !strings.HasPrefix(label, "beamcdc_") {
			labels[label] = value
		}
	}
	return c.createAs(ctx, name, &bigquery.TableMetadata{
		Schema: m.Schema, Description: m.Description, Labels: labels, TableConstraints: m.TableConstraints, Clustering: m.Clustering,
		TimePartitioning: m.TimePartitioning, RangePartitioning: m.RangePartitioning, RequirePartitionFilter: m.RequirePartitionFilter,
		MaxStaleness: m.MaxStaleness, EncryptionConfig: m.EncryptionConfig, DefaultCollation: m.DefaultCollation,
	})
}

// Copied notes that the rows from after the truncate of the fence are in the view's
// new table, and sets the time at which the old one goes.
func (c *Catalog) Copied(ctx context.Context, view table.Name, f Fence) error {
	f, err := c.MarkEmptied(ctx, view, f.Truncated)
	if err != nil {
		return err
	}
	return c.retire(ctx, view, f)
}

// retire sets the time at which the table that was behind the view before goes, once
// nothing is to be copied from it.
func (c *Catalog) retire(ctx context.Context, view table.Name, f Fence) error {
	if f.before == "" || f.Emptied.Compare(f.Truncated) < 0 {
		return nil
	}
	name := behind(view, "_"+f.before)
	_, m, err := c.readMetadata(ctx, name)
	if errors.Is(err, errMissing) || err == nil && !m.ExpirationTime.IsZero() {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.CallTimeout)
	defer cancel()
	_, err = c.client.DatasetInProject(name.Project, name.Dataset).Table(name.Table).
		Update(ctx, bigquery.TableMetadataToUpdate{ExpirationTime: time.Now().Add(keepBefore)}, "")
	if err != nil {
		return classify(name, "setting its expiration", err)
	}
	return nil
}

// Left are the rows that a truncate of a view has left in the table that was behind
// it before.
type Left struct {
	From, To     *table.Table // To is behind the view now
	Truncated    change.Sequence
	MaxStaleness time.Duration // by how much a query of From may lag behind its rows

	catalog *Catalog
}

// Left returns what the fence says is to be copied.
func (c *Catalog) Left(ctx context.Context, view table.Name, f Fence) (*Left, error) {
	from, err := c.readGeneration(ctx, view, f.Emptied)
	if err != nil {
		return nil, err
	}
	to, err := c.readGeneration(ctx, view, f.Truncated)
	if err != nil {
		return nil, err
	}
	return &Left{From: from, To: to, Truncated: f.Truncated, MaxStaleness: from.MaxStaleness, catalog: c}, nil
}

// Rows reads the rows from after the truncate, those that are hidden too, by a query
// that sees what was acknowledged MaxStaleness before it began. An error is an
// [*Error], and the last.
func (l *Left) Rows(ctx context.Context) iter.Seq2[[]change.Column, error] {
	return func(yield func([]change.Column, error) bool) {
		name := l.From.Name
		q := l.catalog.client.Query(fmt.Sprintf("SELECT %s FROM `%v` WHERE %s > @truncated", l.From.Star(), name, table.SequenceColumn))
		q.Parameters = []bigquery.QueryParameter{{Name: "truncated", Value: l.Truncated.Padded()}}
		q.DisableQueryCache = true
		if q.ProjectID = l.catalog.config.Project; q.ProjectID == "" {
			q.ProjectID = name.Project
		}
		rows, err := q.Read(ctx)
		if err != nil {
			yield(nil, classify(name, "reading its rows", err))
			return
		}
		for {
			var values []bigquery.Value
			switch err := rows.Next(&values); {
			case errors.Is(err, iterator.Done):
				return
			case err != nil:
				yield(nil, classify(name, "reading its rows", err))
				return
			}
			row, err := columnsOf(l.From, rows.Schema, values)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
