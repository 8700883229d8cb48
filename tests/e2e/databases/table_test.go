package databases

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// dialect is what differs between the databases' SQL.
type dialect struct {
	name     string
	quote    string   // around names
	text     string   // the expression for a column's text; $ is the column
	schema   string   // the first part of tables' names in change events
	verbs    []string // begin an INSERT that doesn't fail where a row's key is there
	ignore   string   // ends it
	upsert   string   // ends an INSERT that replaces such rows, before the assignments
	excluded string   // an assignment's value there; $ is the column
}

var (
	postgresDialect = &dialect{
		name: "postgres", quote: `"`, text: "$::text", schema: "public",
		verbs: []string{"INSERT INTO "}, ignore: " ON CONFLICT DO NOTHING", upsert: " ON CONFLICT (%s) DO UPDATE SET ", excluded: "excluded.$",
	}
	mariaDialect = &dialect{
		name: "mariadb", quote: "`", text: "cast($ as char)", schema: "shop",
		verbs: []string{"INSERT IGNORE INTO ", "REPLACE INTO "}, upsert: " ON DUPLICATE KEY UPDATE ", excluded: "values($)",
	}
)

// column is one column of a source's table, and of its table in BigQuery.
type column struct {
	name    string
	source  string                    // its SQL type
	target  string                    // its type in BigQuery and more, as the configuration writes it
	literal func(r *rand.Rand) string // a random value in SQL
	text    string                    // SQL that writes what the value is to be in BigQuery; $ is the column; "" for the dialect's own
	wanted  func(text string) any     // what the emulator shows for that text; nil for the text itself
	late    bool                      // is added in the middle of the workload
	absent  bool                      // not in BigQuery
}

// sourceTable is a table that a workload writes to and that is compared.
type sourceTable struct {
	name    string
	columns []column
	key     []string                  // the primary key's columns in its order
	several func(r *rand.Rand) string // a condition that some rows meet
	full    bool                      // REPLICA IDENTITY FULL
	weight  int                       // how often the workload chooses it
	rule    string                    // more of its rule in the configuration: lines of YAML
	still   bool                      // no row gets another key for now
}

func (t *sourceTable) column(name string) *column {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	panic("there is no column " + name)
}

func (t *sourceTable) isKey(name string) bool {
	return slices.Contains(t.key, name)
}

func (d *dialect) quoted(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = d.quote + name + d.quote
	}
	return strings.Join(quoted, ", ")
}

// create returns the statements that create the table.
func (d *dialect) create(t *sourceTable) []string {
	var lines []string
	for _, c := range t.columns {
		if !c.late {
			lines = append(lines, d.quoted(c.name)+" "+c.source)
		}
	}
	lines = append(lines, "PRIMARY KEY ("+d.quoted(t.key...)+")")
	statements := []string{"CREATE TABLE " + d.quoted(t.name) + " (" + strings.Join(lines, ", ") + ")"}
	if t.full && d == postgresDialect {
		statements = append(statements, "ALTER TABLE "+d.quoted(t.name)+" REPLICA IDENTITY FULL")
	}
	return statements
}

// rule returns the table's rule in the pipeline's configuration.
func (d *dialect) rule(t *sourceTable) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  - source: %s.%s\n    destination: %s.%s\n    primary_key: [%s]\n%s    columns:\n",
		d.schema, t.name, dataset, t.name, strings.Join(t.key, ", "), t.rule)
	for _, c := range t.columns {
		if !c.absent {
			fmt.Fprintf(&text, "      - {name: %q, type: %s}\n", c.name, c.target)
		}
	}
	return text.String()
}

// config returns the pipeline's configuration for messages of a format.
func (d *dialect) config(format string, tables []*sourceTable) string {
	var text strings.Builder
	text.WriteString(`
source: {subscription: projects/demo/subscriptions/changes, format: ` + format + `}
create_tables: true
unlisted_tables: filter
window: 500ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
`)
	for _, t := range tables {
		text.WriteString(d.rule(t))
	}
	return text.String()
}
