package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// BigQuery's limits for descriptions, in characters.
const (
	maxTableDescription  = 16_384
	maxColumnDescription = 1_024
)

// maxClusterColumns is BigQuery's limit for CLUSTER BY.
const maxClusterColumns = 4

// keyTypes are the types that BigQuery takes in a primary key
// (https://cloud.google.com/bigquery/docs/information-schema-table-constraints).
var keyTypes = []Type{Bool, Int64, Numeric, BigNumeric, String, Date, DateTime, Timestamp}

// clusterTypes are the types that BigQuery clusters by
// (https://cloud.google.com/bigquery/docs/clustered-tables#cluster_column_types).
var clusterTypes = []Type{Bool, Int64, Numeric, BigNumeric, String, Date, DateTime, Timestamp, Geography, Range}

// Problems returns why rows can't be written to the table as CDC, or why
// BigQuery wouldn't create it: all reasons at once, none for a table that is
// fine. Each names the table, and the column where there is one, and says what
// to do.
func Problems(t *Table) []error {
	p := &problems{table: t}
	if err := t.Name.check(); err != nil {
		p.report("%w", err)
	}
	if n := utf8.RuneCountInString(t.Description); n > maxTableDescription {
		p.report("its description has %d characters, more than %d; shorten it", n, maxTableDescription)
	}
	switch {
	case len(t.Columns) == 0:
		p.report("it has no columns; list them under columns, or create the table in BigQuery")
	case len(t.Columns) > MaxColumns:
		p.report("it has %d columns, and BigQuery takes CDC rows for %d at most; leave some out, or move them into a STRUCT",
			len(t.Columns), MaxColumns)
	}
	if len(t.Columns) == 0 {
		return p.found // what names a column would only say so again
	}
	p.columns(t.Columns, "", 0)
	p.key()
	p.clustering()
	p.partitioning()
	switch {
	case t.MaxStaleness < 0:
		p.report("its max_staleness is %v; it can't be negative", t.MaxStaleness)
	case t.MaxStaleness%time.Second != 0:
		p.report("its max_staleness is %v; give whole seconds", t.MaxStaleness)
	}
	return p.found
}

type problems struct {
	table *Table
	found []error
}

func (p *problems) report(format string, args ...any) {
	p.found = append(p.found, fmt.Errorf("table %v: %w", p.table.Name, fmt.Errorf(format, args...)))
}

// columns checks the columns below path, which are inside depth STRUCTs.
func (p *problems) columns(columns []Column, path string, depth int) {
	seen := make(map[string]string, len(columns))
	for i := range columns {
		c := &columns[i]
		name := path + clip(c.Name)
		report := func(format string, args ...any) {
			p.report("column %q: %w", name, fmt.Errorf(format, args...))
		}
		if err := checkColumnName(c.Name); err != nil {
			report("%w; rename it", err)
		} else if prefix := reservedPrefix(c.Name); prefix != "" && depth == 0 {
			report("BigQuery keeps names that begin with %s for itself; rename it", prefix)
		}
		if other, taken := seen[fold(c.Name)]; taken {
			report("it has the name of column %q but for case, and BigQuery doesn't tell them apart; rename one", path+clip(other))
		}
		seen[fold(c.Name)] = c.Name
		if n := utf8.RuneCountInString(c.Description); n > maxColumnDescription {
			report("its description has %d characters, more than %d; shorten it", n, maxColumnDescription)
		}
		if err := checkColumnType(c); err != nil {
			report("%w", err)
		}
		if len(c.Fields) > 0 {
			if depth >= MaxNesting {
				report("it is inside %d STRUCTs, more than BigQuery takes; flatten it, or make an outer one JSON", MaxNesting)
				continue
			}
			p.columns(c.Fields, name+".", depth+1)
		}
	}
}

func checkColumnType(c *Column) error {
	if typeNames[string(c.Type)] != c.Type || c.Type == "" {
		return fmt.Errorf("BigQuery has no type %q; give one such as INT64 or STRING", clip(string(c.Type)))
	}
	switch c.Mode {
	case "", Nullable, Required, Repeated:
	default:
		return fmt.Errorf("BigQuery has no mode %q; give NULLABLE, REQUIRED or REPEATED", clip(string(c.Mode)))
	}
	switch {
	case c.Type == Struct && len(c.Fields) == 0:
		return errors.New("a STRUCT needs fields; list them, or make it JSON")
	case c.Type != Struct && len(c.Fields) > 0:
		return fmt.Errorf("it is of type %s and has fields; make it a STRUCT", c.Type)
	case c.Type == Range && c.Element != Date && c.Element != DateTime && c.Element != Timestamp:
		return errors.New("a RANGE needs its elements' type; write RANGE<DATE>, RANGE<DATETIME> or RANGE<TIMESTAMP>")
	case c.Type != Range && c.Element != "":
		return fmt.Errorf("it is of type %s and has an element type; only a RANGE has one", c.Type)
	}
	return checkParameters(c)
}

func (p *problems) key() {
	t := p.table
	switch n := len(t.PrimaryKey); {
	case n == 0:
		p.report("it has no primary key, and BigQuery takes CDC rows only for tables that declare one; "+
			"run ALTER TABLE %s ADD PRIMARY KEY (…) NOT ENFORCED, or let the pipeline create the table with primary_key", quoteName(t.Name.String()))
	case n > MaxKeyColumns:
		p.report("its primary key has %d columns, and BigQuery takes %d at most; choose fewer that are unique together", n, MaxKeyColumns)
	}
	seen := make(map[string]bool, len(t.PrimaryKey))
	for _, name := range t.PrimaryKey {
		report := func(format string, args ...any) {
			p.report("primary key column %q: %w", clip(name), fmt.Errorf(format, args...))
		}
		if seen[fold(name)] {
			report("it is named twice; leave one out")
			continue
		}
		seen[fold(name)] = true
		c := t.column(name)
		switch {
		case c == nil:
			report("the table has no such column; name one of its top-level columns")
		case c.Mode == Repeated:
			report("it is REPEATED, which BigQuery doesn't take in a primary key; choose another column")
		case !slices.Contains(keyTypes, c.Type):
			report("it is of type %s; BigQuery takes %s in a primary key: choose another column or type", c.Type, list(keyTypes))
		}
	}
}

func (p *problems) clustering() {
	t := p.table
	if n := len(t.ClusterBy); n > maxClusterColumns {
		p.report("it is clustered by %d columns, and BigQuery takes %d at most; name the most selective", n, maxClusterColumns)
	}
	for _, name := range t.ClusterBy {
		switch c := t.column(name); {
		case c == nil:
			p.report("cluster_by column %q: the table has no such column; name one of its top-level columns", clip(name))
		case c.Mode == Repeated || !slices.Contains(clusterTypes, c.Type):
			p.report("cluster_by column %q: it is of type %s; BigQuery clusters by %s", clip(name), clip(c.SQLType()), list(clusterTypes))
		}
	}
}

func (p *problems) partitioning() {
	partition := p.table.PartitionBy
	if partition == nil {
		return
	}
	if !slices.Contains([]string{"HOUR", "DAY", "MONTH", "YEAR"}, partition.Type) {
		p.report("it is partitioned by %q; BigQuery has HOUR, DAY, MONTH and YEAR", clip(partition.Type))
	}
	if partition.Column == "" {
		return // by the time of ingestion
	}
	c := p.table.column(partition.Column)
	switch {
	case c == nil:
		p.report("partition_by column %q: the table has no such column; name one of its top-level columns", clip(partition.Column))
	case c.Mode == Repeated || c.Type != Date && c.Type != DateTime && c.Type != Timestamp:
		p.report("partition_by column %q: it is of type %s; BigQuery partitions by DATE, DATETIME and TIMESTAMP", clip(partition.Column), clip(c.SQLType()))
	case c.Type == Date && partition.Type == "HOUR":
		p.report("partition_by column %q: a DATE has no hours; partition by DAY, MONTH or YEAR", clip(partition.Column))
	}
}

// CheckKey returns an error when the configured key has other columns than the
// table's primary key. The order doesn't matter: the table's counts. No
// configured key is any key.
func CheckKey(configured []string, t *Table) error {
	if len(configured) == 0 {
		return nil
	}
	want, got := foldAll(configured), foldAll(t.PrimaryKey)
	if slices.Equal(want, got) {
		return nil
	}
	declared := "none"
	if len(t.PrimaryKey) > 0 {
		declared = "(" + clip(strings.Join(t.PrimaryKey, ", ")) + ")"
	}
	return fmt.Errorf("table %v: the configured primary key is (%s), and BigQuery declares %s; make the configuration agree, or change the table's key",
		t.Name, clip(strings.Join(configured, ", ")), declared)
}

func foldAll(names []string) []string {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = fold(name)
	}
	slices.Sort(folded)
	return folded
}

// list writes the types as people do: "A, B and C".
func list(types []Type) string {
	names := make([]string, len(types))
	for i, typ := range types {
		names[i] = string(typ)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
