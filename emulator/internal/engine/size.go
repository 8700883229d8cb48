package engine

import (
	"context"
	"fmt"
	"strings"
)

// Size is how much a read looks at.
type Size struct{ Rows, Bytes int64 }

// Size is how much a read of some columns, nil for all, looks at, in logical bytes as
// BigQuery counts them: the whole baseline, and where the read is a runtime merge the
// pending changes too. Else condition, a DuckDB condition on the columns under their
// BigQuery names, _PARTITIONTIME and _PARTITIONDATE among them, may tell which rows are
// in the partitions that are read; "" is for all. Of the past it is the size of the
// present.
func (s *Snapshot) Size(ctx context.Context, ref TableRef, o ReadOptions, columns []string, condition string) (Size, error) {
	f, err := s.frozen(ref)
	if err != nil {
		return Size{}, err
	}
	chosen := f.schema.Columns
	if columns != nil {
		chosen = nil
		for _, name := range columns {
			i, ok := f.schema.find(name)
			if !ok {
				return Size{}, Invalid("Column %s is not present in table %s", Clip(name), ref)
			}
			chosen = append(chosen, f.schema.Columns[i])
		}
	}
	generations := s.generations(f, o)
	if condition == "" || len(generations) > 0 {
		condition = "true"
	}
	query := fmt.Sprintf("SELECT count(*), coalesce(sum(_size), 0)::BIGINT FROM (SELECT %s AS _size, %s FROM %s WHERE _kind > 0) WHERE %s",
		sizeSQL(chosen), strings.Join(append(f.schema.namedColumns(), f.partitionColumns(s.at)...), ", "), baseName(f.table.id), condition)
	var size Size
	if err := s.tx.QueryRowContext(ctx, query).Scan(&size.Rows, &size.Bytes); err != nil {
		return Size{}, fmt.Errorf("measuring table %s: %w", ref, err)
	}
	if len(generations) > 0 {
		var pending Size
		query := fmt.Sprintf("SELECT count(*), coalesce(sum(%s), 0)::BIGINT FROM (%s)", sizeSQL(chosen), f.schema.pendingSQL(f.table.id, generations))
		if err := s.tx.QueryRowContext(ctx, query).Scan(&pending.Rows, &pending.Bytes); err != nil {
			return Size{}, fmt.Errorf("measuring the pending changes of table %s: %w", ref, err)
		}
		size = Size{size.Rows + pending.Rows, size.Bytes + pending.Bytes}
	}
	return size, nil
}

// sizeSQL is the expression for the size of a row's columns in bytes, as BigQuery
// counts it ("Data type sizes"): ARRAYs and STRUCTs by their text, which is an estimate.
func sizeSQL(columns []*Column) string {
	terms := make([]string, 0, len(columns)+1)
	for _, c := range columns {
		terms = append(terms, sizeOf(c))
	}
	return strings.Join(append(terms, "0"), " + ")
}

func sizeOf(c *Column) string {
	name := columnName(c)
	fixed := "8"
	switch {
	case c.Repeated || c.Kind == KindStruct:
		return "coalesce(strlen(" + name + "::VARCHAR), 0)"
	case c.Kind == KindString || c.Kind == KindJSON || c.Kind == KindGeography:
		return "coalesce(2 + strlen(" + name + "), 0)"
	case c.Kind == KindBytes:
		return "coalesce(2 + octet_length(" + name + "), 0)"
	case c.Kind == KindBool:
		fixed = "1"
	case c.Kind == KindNumeric || c.Kind == KindInterval || c.Kind == KindRange:
		fixed = "16"
	case c.Kind == KindBigNumeric:
		fixed = "32"
	}
	return "if(" + name + " IS NULL, 0, " + fixed + ")"
}
