package query

import (
	"fmt"
	"slices"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// scans are what a statement reads, its views' queries too.
type scans struct {
	tables  map[*googlesql.TableRef]scanned
	ofViews []*googlesql.Scan
}

// scanned is what a reference stands for.
type scanned struct {
	refs    []engine.TableRef // several of a wildcard
	schema  *engine.Schema
	options engine.ReadOptions
	// filtered is the table whose partitions filters leave out; nil if they can't.
	filtered *engine.Table
}

// note keeps what a reference was found to be, for measure.
func (r *resolver) note(ref *googlesql.TableRef, s scanned) {
	if r.scans != nil {
		r.scans.tables[ref] = s
	}
}

// translate translates a statement, and measures what it reads.
func (r *resolver) translate(statement interface {
	Translate(options googlesql.Options) (googlesql.Translation, error)
},
) (googlesql.Translation, error) {
	r.scans = &scans{tables: map[*googlesql.TableRef]scanned{}}
	translation, err := statement.Translate(r.options(r, r.snapshot.Time()))
	if err != nil {
		return translation, err
	}
	r.result.Bytes = 0
	for _, scan := range slices.Concat(translation.Reads(), r.scans.ofViews) {
		if err := r.measure(scan); err != nil {
			return translation, err
		}
	}
	return translation, nil
}

// measure adds the bytes of a scan, as BigQuery bills it: the columns that are read, of
// the partitions that may have rows which match.
func (r *resolver) measure(scan *googlesql.Scan) error {
	s, ok := r.scans.tables[scan.Table]
	if !ok { // a view, INFORMATION_SCHEMA
		return nil
	}
	condition := ""
	if t := s.filtered; t != nil {
		resource := t.Resource()
		if requiresFilter(resource) && len(scan.Filters) == 0 {
			columns := partitionColumns(resource)
			if engine.ByIngestion(resource) {
				columns = append([]string{"_PARTITION_LOAD_TIME"}, columns...)
			}
			return engine.Invalid("Cannot query over table '%s.%s' without a filter over column(s) '%s' that can be used for partition elimination",
				t.Ref().Dataset, t.Ref().Table, strings.Join(columns, "', '"))
		}
		if len(scan.Filters) > 0 {
			baseline, err := r.snapshot.Relation(t.Ref(), engine.ReadOptions{Baseline: true, Partitions: true})
			if err != nil {
				return err
			}
			condition = partitionCondition(resource, baseline, scan.Filters)
		}
	}
	var columns []string // all
	if !scan.All {
		columns = slices.DeleteFunc(scan.Columns(), func(name string) bool { return !hasColumn(s.schema, name) }) // _PARTITIONTIME, _CHANGE_TYPE
		if len(columns) == 0 {
			return nil
		}
	}
	for _, ref := range s.refs {
		size, err := r.snapshot.Size(r.ctx, ref, s.options, columns, condition)
		if err != nil {
			return err
		}
		r.result.Bytes += size.Bytes
	}
	return nil
}

func hasColumn(s *engine.Schema, name string) bool {
	return slices.ContainsFunc(s.Columns, func(c *engine.Column) bool { return strings.EqualFold(c.Name, name) })
}

// pseudoColumns are those of a table that is partitioned by the time of ingestion.
var pseudoColumns = []googlesql.Column{
	{Name: "_PARTITIONDATE", Type: googlesql.Of(googlesql.Date), Hidden: true},
	{Name: "_PARTITIONTIME", Type: googlesql.Of(googlesql.Timestamp), Hidden: true},
}

// partitionColumns are the columns whose filters leave out partitions.
func partitionColumns(t *bq.Table) []string {
	switch {
	case engine.ByIngestion(t):
		return []string{pseudoColumns[0].Name, pseudoColumns[1].Name}
	case t.TimePartitioning != nil:
		return []string{t.TimePartitioning.Field}
	case t.RangePartitioning != nil:
		return []string{t.RangePartitioning.Field}
	}
	return nil
}

// partitionCondition is the condition that a row is in a partition that the filters
// leave: one that has a row that fulfills them, or whose first value does.
func partitionCondition(t *bq.Table, baseline engine.Relation, filters []string) string {
	column := quote(partitionColumns(t)[0])
	filter := strings.Join(filters, " AND ")
	key, first := "_PARTITIONTIME", "" // the partition, and its first value
	switch {
	case engine.ByIngestion(t):
	case t.TimePartitioning != nil:
		key = fmt.Sprintf("date_trunc('%s', %s)", t.TimePartitioning.Type, column)
		i := slices.IndexFunc(baseline.Schema.Columns, func(c *engine.Column) bool { return strings.EqualFold(c.Name, t.TimePartitioning.Field) })
		first = fmt.Sprintf("CAST(%s AS %s)", key, baseline.Schema.Columns[i].DuckDBType())
	default:
		r := t.RangePartitioning.Range
		key = fmt.Sprintf("(CASE WHEN %[1]s >= %[2]d AND %[1]s < %[3]d THEN (%[1]s::HUGEINT - %[2]d) // %[4]d END)", column, r.Start, r.End, r.Interval)
		first = fmt.Sprintf("(%d + %d * %s)::BIGINT", r.Start, r.Interval, key)
	}
	keys := fmt.Sprintf("SELECT DISTINCT %s AS k FROM %s WHERE %s", key, baseline.SQL, filter)
	if first != "" {
		keys += fmt.Sprintf(" UNION SELECT %s AS k FROM (SELECT DISTINCT %s AS %s FROM %s) WHERE %s", key, first, column, baseline.SQL, filter)
	}
	// Rows outside of all partitions, whose key is NULL, are in one of their own.
	return fmt.Sprintf("(%[1]s IN (SELECT k FROM (%[2]s)) OR %[1]s IS NULL AND EXISTS (SELECT k FROM (%[2]s) WHERE k IS NULL))", key, keys)
}
