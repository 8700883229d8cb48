package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// FromRule returns the table to create for a rule. It is clustered by its key
// when the rule says nothing, as far as BigQuery can: merging changes into the
// table looks rows up by it. The error joins everything that is wrong, the
// table's Problems included.
func FromRule(name Name, rule *Rule) (*Table, error) {
	t := &Table{
		Name:         name,
		Columns:      withPolicy(rule.withOwn(cloneColumns(rule.Columns)), Policy(rule.BadValues)),
		PrimaryKey:   slices.Clone(rule.PrimaryKey),
		ClusterBy:    slices.Clone(rule.ClusterBy),
		MaxStaleness: rule.MaxStaleness,
	}
	if rule.PartitionBy != nil {
		partition := *rule.PartitionBy
		t.PartitionBy = &partition
	}
	if len(t.ClusterBy) == 0 {
		t.ClusterBy = slices.Clone(t.PrimaryKey[:min(len(t.PrimaryKey), maxClusterColumns)])
	}
	if len(rule.PrimaryKey) == 0 {
		err := fmt.Errorf("table %v: it is to be created, and its rule has no primary_key; add primary_key to the rule: the columns that identify a row", name)
		if len(t.Columns) == 0 {
			err = errors.Join(append([]error{err}, Problems(t)...)...)
		}
		return nil, err
	}
	if err := errors.Join(Problems(t)...); err != nil {
		return nil, err
	}
	return t, nil
}

// WithHints returns a copy of the table, as BigQuery describes it, with what the
// rule adds to its columns: From, FromScale and BadValues. Columns are matched
// without regard to case, as BigQuery does. The error joins one for every
// configured column that the table lacks or has with another type; parameters
// don't count ("NUMERIC(10, 2)" and "NUMERIC" are one type), nor does REQUIRED:
// in both the table's word is law. A configured column may leave type and mode
// out. A From or policy that means nothing for the column as BigQuery has it is an
// error too. Each is a *HintError. The rule's primary key is CheckKey's affair.
//
// With `unknown_columns: add` a configured column may be missing yet, and be of a
// type that holds more than the configured one: the pipeline has widened it.
func WithHints(t *Table, rule *Rule) (*Table, error) {
	hinted := *t
	hinted.Columns = cloneColumns(t.Columns)
	hinted.PrimaryKey = slices.Clone(t.PrimaryKey)
	hinted.ClusterBy = slices.Clone(t.ClusterBy)
	if t.PartitionBy != nil {
		partition := *t.PartitionBy
		hinted.PartitionBy = &partition
	}
	h := hints{table: t.Name, grows: GrowthOf(rule) != nil}
	h.add(hinted.Columns, rule.Columns, "", "columns", t.PrimaryKey)
	if err := errors.Join(h.errs...); err != nil {
		return nil, err
	}
	hinted.Columns = withPolicy(hinted.Columns, Policy(rule.BadValues))
	return &hinted, nil
}

// HintError is what is wrong with one column of a rule, given BigQuery's table.
type HintError struct {
	Key string // of the configuration, below the rule's: "columns[2].fields[0].bad_values"
	Err error  // names the table and the column
}

// Error returns Err's text.
func (e *HintError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *HintError) Unwrap() error { return e.Err }

type hints struct {
	table Name
	grows bool // it may lack columns, and have wider ones
	errs  []error
}

func (h *hints) report(key, column, format string, args ...any) {
	err := fmt.Errorf("table %v: configured column %q: %w", h.table, column, fmt.Errorf(format, args...))
	h.errs = append(h.errs, &HintError{Key: key, Err: err})
}

// add puts what is configured for the columns below path into them. at is the
// configuration's key of these columns; primaryKey names those of the key.
func (h *hints) add(columns, configured []Column, path, at string, primaryKey []string) {
	seen := make(map[string]bool, len(configured))
	for i := range configured {
		hint := &configured[i]
		name, key := path+clip(hint.Name), fmt.Sprintf("%s[%d]", at, i)
		if seen[fold(hint.Name)] {
			h.report(key+".name", name, "it is configured twice, for BigQuery doesn't tell names apart by case; leave one out")
			continue
		}
		seen[fold(hint.Name)] = true
		c := findColumn(columns, hint.Name)
		if c == nil && h.grows {
			continue
		}
		if c == nil {
			h.report(key+".name", name, "BigQuery's table has no such column; add it there (ALTER TABLE … ADD COLUMN), or take it out of the configuration")
			continue
		}
		if !sameType(c, hint) && (!h.grows || !Holds(c.Type, hint.Type)) {
			configured := *hint
			configured.Type = cmp.Or(hint.Type, c.Type) // where it leaves the type out, the mode differs
			h.report(key+".type", name, "it is of type %s, and in BigQuery of type %s; make the configuration agree", clip(configured.SQLType()), clip(c.SQLType()))
			continue
		}
		c.From, c.FromScale, c.FromUnscaled, c.BadValues = hint.From, hint.FromScale, hint.FromUnscaled, hint.BadValues
		if err := CheckFrom(c); err != nil {
			h.report(key+".from", name, "%w", err)
		}
		isKey := slices.ContainsFunc(primaryKey, func(name string) bool { return strings.EqualFold(name, c.Name) })
		if err := CheckPolicy(c, isKey); err != nil {
			h.report(key+".bad_values", name, "%w", err)
		}
		h.add(c.Fields, hint.Fields, name+".", key+".fields", nil)
	}
}

// sameType reports whether the table's column is of the configured type.
func sameType(c, hint *Column) bool {
	if hint.Mode != "" && (hint.Mode == Repeated) != (c.Mode == Repeated) {
		return false
	}
	if hint.Type == "" {
		return true
	}
	return hint.Type == c.Type && (hint.Element == "" || hint.Element == c.Element)
}

func cloneColumns(columns []Column) []Column {
	cloned := slices.Clone(columns)
	for i := range cloned {
		cloned[i].Fields = cloneColumns(cloned[i].Fields)
	}
	return cloned
}
