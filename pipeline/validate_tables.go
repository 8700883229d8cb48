package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	o.validateHistories(router, project, report)
	for i := range o.Tables {
		o.validateUnsupported(i, report)
		o.validateWords(i, report)
		o.validateEnrich(i, project, report)
		o.validateGrowth(i, report)
		o.validateFill(i, report)
		o.validateTruncates(i, report)
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

// validateTable reports what keeps BigQuery from creating a table of these columns
// and this key as a whole: too many columns, what follows from the defaults. It is asked about rules
// that are right by themselves, so that nothing is told twice.
func (o *Options) validateTable(i int, project string, report reporter) {
	r := &o.Tables[i]
	if !o.CreateTables || len(r.Columns) == 0 || len(r.PrimaryKey) == 0 {
		return // BigQuery has the table, and knows; the columns may be hints to some of its own
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

// unjoin returns the errors that errors.Join has joined.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// validateRule checks what a rule says about its table, as far as that can be
// told without BigQuery. Columns are the whole table where it may have to be
// created; otherwise they may be hints to a few columns of one that is there, and
// leave types out.
func (o *Options) validateRule(i int, report reporter) {
	r := &o.Tables[i]
	at := fmt.Sprintf("tables[%d].", i)
	if r.History == "" && o.isSet(at+"history") {
		report(at+"history", "it names no table; give [project.]dataset.table, or leave it out to keep no history")
	}
	if r.Columns != nil && len(r.Columns) == 0 {
		report(at+"columns", "it is empty; leave it out to take BigQuery's")
	}
	create := o.CreateTables && len(r.PrimaryKey) > 0
	o.validateColumns(r.Columns, at+"columns", r.PrimaryKey, create, report)

	// The rest is added to the table piece by piece; what is wrong with a piece is
	// what is wrong with the table since it was added.
	t := table.Table{Name: exampleName, Columns: r.Columns}
	known := table.Problems(&t)
	add := func(key string, column string) {
		problems := table.Problems(&t)
		if c := findColumn(r.Columns, column); column == "" || c != nil && c.Type != "" || c == nil && create && len(r.Columns) > 0 {
			for _, err := range problems {
				if !slices.ContainsFunc(known, func(k error) bool { return k.Error() == err.Error() }) {
					report(key, "%v", errors.Unwrap(err))
				}
			}
		}
		known = problems
	}
	for j, name := range r.PrimaryKey {
		t.PrimaryKey = r.PrimaryKey[:j+1]
		add(fmt.Sprintf("%sprimary_key[%d]", at, j), name)
	}
	for j, name := range r.ClusterBy {
		t.ClusterBy = r.ClusterBy[:j+1]
		add(fmt.Sprintf("%scluster_by[%d]", at, j), name)
	}
	if r.PartitionBy != nil {
		t.PartitionBy = r.PartitionBy
		add(at+"partition_by", r.PartitionBy.Column)
	}
	t.MaxStaleness = r.MaxStaleness
	add(at+"max_staleness", "")
}

var exampleName = table.Name{Project: "project", Dataset: "dataset", Table: "table"}

// validateColumns checks a list of columns, or of a STRUCT's fields, and what
// their own settings mean for them; primaryKey names those of the key.
func (o *Options) validateColumns(columns []table.Column, at string, primaryKey []string, create bool, report reporter) {
	for i := range columns {
		c := &columns[i]
		key := fmt.Sprintf("%s[%d]", at, i)
		if c.Name == "" {
			report(key, "it has no name")
			continue
		}
		sameName := func(name string) bool { return strings.EqualFold(name, c.Name) }
		if j := slices.IndexFunc(columns[:i], func(other table.Column) bool { return sameName(other.Name) }); j >= 0 {
			report(key+".name", "column %s is there twice, as %s[%d] before: BigQuery's names know no case", c.Name, at, j)
		}
		if c.From != table.FromDecimal && (c.FromScale != 0 || o.isSet(key+".scale")) {
			report(key+".scale", "it has a meaning with from: decimal only")
		}
		if err := table.CheckPolicy(c, slices.ContainsFunc(primaryKey, sameName)); err != nil {
			report(key+".bad_values", "column %s: %v", c.Name, err)
		}
		o.validateColumns(c.Fields, key+".fields", nil, create, report)
		switch {
		case c.Type == "" && create:
			report(key+".type", "column %s has no type, and its table may have to be created", c.Name)
		case c.Type == "": // the catalog knows it, and checks the rest
		default:
			for _, err := range columnProblems(*c) {
				report(key, "%v", err)
			}
			if err := table.CheckFrom(c); err != nil {
				report(key+".from", "column %s: %v", c.Name, err)
			}
		}
	}
}

// columnProblems returns what is wrong with a column, apart from its fields and
// what its values mean.
func columnProblems(c table.Column) []error {
	c.From = ""
	if len(c.Fields) > 0 {
		c.Fields = []table.Column{{Name: "field", Type: table.Int64}}
	}
	t := &table.Table{Name: exampleName, Columns: []table.Column{c, {Name: "key_of_the_row", Type: table.Int64}}, PrimaryKey: []string{"key_of_the_row"}}
	problems := table.Problems(t)
	if len(problems) == 0 {
		// What a table may have need not be what rows can be encoded for.
		if _, err := rowproto.Compile(t); err != nil {
			problems = append(problems, err)
		}
	}
	for i, err := range problems {
		if inner := errors.Unwrap(err); inner != nil {
			problems[i] = inner // without the table's name, which is made up
		}
	}
	return problems
}

func findColumn(columns []table.Column, name string) *table.Column {
	for i := range columns {
		if strings.EqualFold(columns[i].Name, name) {
			return &columns[i]
		}
	}
	return nil
}
