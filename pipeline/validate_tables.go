package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// validateTables checks the rules one by one, and against each other.
func (o *Options) validateTables(report reporter) {
	if len(o.Tables) == 0 {
		report("tables", "it is missing; give at least one table")
	}
	// Without a project every name would be wrong; that it can't be told is reported already.
	project := cmp.Or(o.project(), "project")
	router, err := table.NewRouter(project, o.Tables)
	if err != nil {
		for _, err := range unjoin(err) {
			e := new(table.RuleError)
			if errors.As(err, &e) {
				report(fmt.Sprintf("tables[%d].%s", e.Index, e.Key), "%v", e.Err)
			} else {
				report("tables", "%v", err)
			}
		}
	}
	if o.DeadLetters.Table != "" {
		name, err := table.ParseName(o.DeadLetters.Table, project)
		if err != nil {
			report("dead_letters.table", "%v", err)
		} else if router != nil && slices.ContainsFunc(router.Literals(), func(m table.Match) bool { return m.Name == name }) {
			report("dead_letters.table", "%v is the destination of a table, too", name)
		}
	}
	for i := range o.Tables {
		o.validateUnsupported(i, report)
		found := 0
		o.validateRule(i, func(key, format string, args ...any) {
			found++
			report(key, format, args...)
		})
		if found == 0 {
			o.validateTable(i, project, report)
		}
	}
}

// validateTable reports what keeps BigQuery from having a table of these columns
// and this key: names that it reserves, too many columns. It is asked about rules
// that are right by themselves, so that nothing is told twice.
func (o *Options) validateTable(i int, project string, report reporter) {
	r := &o.Tables[i]
	if len(r.Columns) == 0 || len(r.PrimaryKey) == 0 {
		return // BigQuery knows
	}
	name := table.Name{Project: project, Dataset: "dataset", Table: "table"} // a pattern's has no name yet
	if n, err := table.ParseName(r.Destination, project); err == nil {
		name = n
	}
	_, err := table.FromRule(name, r)
	if err == nil {
		return
	}
	for _, err := range unjoin(err) {
		report(fmt.Sprintf("tables[%d]", i), "%v", err)
	}
}

// validateUnsupported refuses what the configuration has words for, but this
// version does not do: ignored, it would write other rows than were asked for.
func (o *Options) validateUnsupported(i int, report reporter) {
	r := &o.Tables[i]
	for _, s := range []struct{ key, word, supported string }{
		{"sequence", r.Sequence, ""},
		{"unavailable_values", r.UnavailableValues, "reject"},
		{"unknown_columns", r.UnknownColumns, "reject ignore"},
		{"deletes", r.Deletes, "hard"},
		{"tombstones", r.Tombstones, "ignore"},
		{"truncates", r.Truncates, "reject"},
		{"history", r.History, ""},
	} {
		if s.word == "" || slices.Contains(strings.Fields(s.supported), s.word) {
			continue
		}
		key := fmt.Sprintf("tables[%d].%s", i, s.key)
		if s.supported == "" {
			report(key, "it is not supported yet")
		} else {
			report(key, "%s is not supported yet", s.word)
		}
	}
}

// unjoin returns the errors that errors.Join has joined.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // only the outermost is asked for
		return joined.Unwrap()
	}
	return []error{err}
}

// validateRule checks what a rule says about its table.
func (o *Options) validateRule(i int, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	if len(r.Columns) > 0 {
		o.validateColumns(r.Columns, at+"columns", report)
	} else if r.Columns != nil {
		report(at+"columns", "it is empty; leave it out to take BigQuery's")
	}
	for _, list := range []struct {
		key   string
		names []string
		most  int
	}{
		{"primary_key", r.PrimaryKey, table.MaxKeyColumns},
		{"cluster_by", r.ClusterBy, 4},
	} {
		if len(list.names) > list.most {
			report(at+list.key, "it has %d columns, more than BigQuery's %d", len(list.names), list.most)
		}
		for j, name := range list.names {
			key := fmt.Sprintf("%s%s[%d]", at, list.key, j)
			switch {
			case name == "":
				report(key, "it is empty")
			case slices.ContainsFunc(list.names[:j], func(other string) bool { return strings.EqualFold(other, name) }):
				report(key, "column %s is in it twice", name)
			case len(r.Columns) > 0 && findColumn(r.Columns, name) == nil:
				report(key, "column %s is not among the table's columns", name)
			}
		}
	}
	o.validateKey(r, at+"primary_key", report)
	if p := r.PartitionBy; p != nil {
		switch c := findColumn(r.Columns, p.Column); {
		case p.Column == "":
			report(at+"partition_by", "it names no column")
		case p.Type == "":
			report(at+"partition_by", "it has no type; give HOUR, DAY, MONTH or YEAR")
		case len(r.Columns) == 0: // BigQuery knows
		case c == nil:
			report(at+"partition_by.column", "column %s is not among the table's columns", p.Column)
		case c.Mode == table.Repeated || c.Type != table.Date && c.Type != table.DateTime && c.Type != table.Timestamp:
			report(at+"partition_by.column", "column %s is %s; BigQuery partitions by a DATE, DATETIME or TIMESTAMP", p.Column, c.Type)
		case c.Type == table.Date && p.Type == "HOUR":
			report(at+"partition_by.type", "a DATE has no hours")
		}
	}
	if r.MaxStaleness < 0 || r.MaxStaleness > 24*time.Hour {
		report(at+"max_staleness", "%s is out of BigQuery's range, 0 to 24h", r.MaxStaleness)
	}
}

// validateKey checks that BigQuery takes the columns as a primary key.
func (o *Options) validateKey(r *table.Rule, at string, report reporter) {
	for j, name := range r.PrimaryKey {
		c := findColumn(r.Columns, name)
		if c == nil || c.Type == "" {
			continue // reported elsewhere, or BigQuery knows
		}
		if err := compile([]table.Column{*c}, c.Name); err != nil && compile([]table.Column{*c}, "") == nil {
			report(fmt.Sprintf("%s[%d]", at, j), "%v", err)
		}
	}
}

// validateColumns checks a list of columns, or of a STRUCT's fields.
func (o *Options) validateColumns(columns []table.Column, at string, report reporter) {
	for i := range columns {
		c := &columns[i]
		key := fmt.Sprintf("%s[%d]", at, i)
		if c.Name == "" {
			report(key, "it has no name")
			continue
		}
		if j := slices.IndexFunc(columns[:i], func(other table.Column) bool { return strings.EqualFold(other.Name, c.Name) }); j >= 0 {
			report(key+".name", "column %s is there twice, as %s[%d] before: BigQuery's names know no case", c.Name, at, j)
		}
		if c.Type == "" {
			report(key+".type", "column %s has no type", c.Name)
			continue
		}
		if c.FromScale != 0 && c.From != table.FromDecimal {
			report(key+".scale", "it has a meaning with from: decimal only")
		}
		switch {
		case c.Type != table.Struct && c.Fields != nil:
			report(key+".fields", "column %s is %s; only a STRUCT has fields", c.Name, c.Type)
		case c.Type == table.Struct && len(c.Fields) == 0:
			report(key, "column %s is a STRUCT without fields", c.Name)
		case c.Type == table.Struct:
			o.validateColumns(c.Fields, key+".fields", report)
		default:
			if err := compile([]table.Column{*c}, ""); err != nil {
				report(key, "%v", err)
			}
		}
	}
}

// compile reports what keeps rows of these columns from being encoded. An empty
// key stands for a key column of its own.
func compile(columns []table.Column, key string) error {
	if key == "" {
		const other = "key_of_the_row"
		columns, key = append(slices.Clone(columns), table.Column{Name: other, Type: table.Int64}), other
	}
	_, err := rowproto.Compile(&table.Table{Columns: columns, PrimaryKey: []string{key}})
	if inner := errors.Unwrap(err); inner != nil {
		return inner // the table's name that it is wrapped in means nothing here
	}
	return err
}

func findColumn(columns []table.Column, name string) *table.Column {
	for i := range columns {
		if strings.EqualFold(columns[i].Name, name) {
			return &columns[i]
		}
	}
	return nil
}
