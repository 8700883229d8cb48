package query

import (
	"context"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// alterTable runs ALTER TABLE and ALTER VIEW: all actions, or none.
func (s *run) alterTable(ctx context.Context, a *googlesql.AlterTable) error {
	ref, err := s.tableRef(a.Table)
	if err != nil {
		return err
	}
	s.result.Target, s.result.Operation = &ref, "ALTER"
	t, err := s.engine.Table(ref)
	if err != nil {
		if a.IfExists {
			s.result.Operation = "SKIP"
			return nil
		}
		return err
	}
	if t.IsView() != a.View {
		return engine.Invalid("%s is not allowed for this operation because it is %s.", ref, map[bool]string{true: "a VIEW", false: "not a VIEW"}[t.IsView()])
	}
	if name := a.Actions[0].To; a.Actions[0].Kind == "RENAME TO" {
		if len(a.Actions) > 1 {
			return engine.Invalid("ALTER TABLE RENAME TO does not support multiple actions.")
		}
		if s.request.DryRun {
			return nil
		}
		return s.engine.RenameTable(ctx, ref, name)
	}
	edit := &alteration{run: s, renamed: map[string]string{}}
	before := t.Resource()
	changed := cloned(before)
	for _, action := range a.Actions {
		if err := edit.apply(ctx, changed, action); err != nil {
			return err
		}
	}
	if s.request.DryRun {
		return nil
	}
	_, err = s.engine.AlterTable(ctx, ref, engine.Alteration{
		Change: func(current *bq.Table) (*bq.Table, error) {
			if current.Etag != before.Etag { // someone was faster: what was checked is another table
				return nil, engine.Invalid("Table %s was changed meanwhile; try again.", ref)
			}
			return changed, nil
		},
		Renamed: edit.renamed, DropColumns: edit.dropped, WidenTypes: true, ChangeHistory: edit.history,
	})
	return err
}

// alteration collects what actions do besides changing the resource.
type alteration struct {
	*run
	renamed map[string]string // new name -> old
	dropped bool
	history *bool
}

func (a *alteration) apply(ctx context.Context, t *bq.Table, action googlesql.AlterAction) error {
	fields := &t.Schema.Fields
	find := func(name string) int {
		return slices.IndexFunc(*fields, func(f *bq.TableFieldSchema) bool { return strings.EqualFold(f.Name, name) })
	}
	i := find(action.Column)
	if i < 0 && action.Column != "" {
		if action.IfExists {
			return nil
		}
		return engine.Invalid("Column not found: %s", engine.Clip(action.Column))
	}
	switch action.Kind {
	case "SET OPTIONS":
		history, err := a.setOptions(ctx, t, action.Options)
		if history != nil {
			a.history = history
		}
		return err
	case "ADD COLUMN":
		return a.addColumn(ctx, t, action, find(action.Definition.Name) >= 0)
	case "DROP COLUMN":
		if inKey(t, action.Column) {
			return engine.Invalid("Column %s is part of the primary key; drop that first", (*fields)[i].Name)
		}
		a.dropped = true
		*fields = slices.Delete(slices.Clone(*fields), i, i+1)
	case "RENAME COLUMN":
		if j := find(action.To); j >= 0 && j != i {
			return engine.Invalid("Column already exists: %s", engine.Clip(action.To))
		}
		old := (*fields)[i].Name
		if before, ok := a.renamed[old]; ok {
			delete(a.renamed, old)
			old = before
		}
		a.renamed[action.To] = old
		renameIn(t, (*fields)[i].Name, action.To)
		(*fields)[i].Name = action.To
	case "SET DEFAULT":
		(*fields)[i].DefaultValueExpression = action.Definition.Default
	case "DROP DEFAULT":
		(*fields)[i].DefaultValueExpression = ""
	case "DROP NOT NULL":
		(*fields)[i].Mode = "NULLABLE"
	case "SET DATA TYPE":
		old := (*fields)[i]
		f := fieldOf(old.Name, action.Definition.Type)
		f.Mode, f.Description, f.DefaultValueExpression = old.Mode, old.Description, old.DefaultValueExpression
		(*fields)[i] = f
	case "COLUMN SET OPTIONS":
		return a.setColumnOptions(ctx, (*fields)[i], action.Options)
	case "ADD PRIMARY KEY":
		if t.TableConstraints != nil && t.TableConstraints.PrimaryKey != nil {
			return engine.Invalid("The table already has a primary key")
		}
		t.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: action.PrimaryKey.Columns}}
	case "DROP PRIMARY KEY":
		if (t.TableConstraints == nil || t.TableConstraints.PrimaryKey == nil) && !action.IfExists {
			return engine.Invalid("The table has no primary key")
		}
		t.TableConstraints = nil
	default:
		return engine.Unimplemented("ALTER TABLE %s is not implemented by this emulator", action.Kind)
	}
	return nil
}

func (a *alteration) addColumn(ctx context.Context, t *bq.Table, action googlesql.AlterAction, there bool) error {
	if there {
		if action.IfNotExists {
			return nil
		}
		return engine.Invalid("Column already exists: %s", engine.Clip(action.Definition.Name))
	}
	if action.Definition.Default != "" {
		return engine.Invalid("Can't add a column with a default value; add it, then ALTER COLUMN … SET DEFAULT")
	}
	f, err := a.field(ctx, action.Definition)
	if err != nil {
		return err
	}
	t.Schema.Fields = append(slices.Clone(t.Schema.Fields), f)
	return nil
}

func inKey(t *bq.Table, column string) bool {
	return t.TableConstraints != nil && t.TableConstraints.PrimaryKey != nil &&
		slices.ContainsFunc(t.TableConstraints.PrimaryKey.Columns, func(name string) bool { return strings.EqualFold(name, column) })
}

// renameIn renames a column wherever the resource names it.
func renameIn(t *bq.Table, from, to string) {
	rename := func(names []string) {
		for i, name := range names {
			if strings.EqualFold(name, from) {
				names[i] = to
			}
		}
	}
	if t.TableConstraints != nil && t.TableConstraints.PrimaryKey != nil {
		rename(t.TableConstraints.PrimaryKey.Columns)
	}
	if t.Clustering != nil {
		rename(t.Clustering.Fields)
	}
	if t.TimePartitioning != nil && strings.EqualFold(t.TimePartitioning.Field, from) {
		t.TimePartitioning.Field = to
	}
	if t.RangePartitioning != nil && strings.EqualFold(t.RangePartitioning.Field, from) {
		t.RangePartitioning.Field = to
	}
}
