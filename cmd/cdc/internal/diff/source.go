package diff

import (
	"context"
	"fmt"
	"strings"

	"beamcdc/schemas/change"
)

// Range is the rows whose keys are after one key and up to another, itself
// included. A zero key is no bound.
type Range struct{ After, UpTo Key }

// Source is the side that BigQuery's table is to equal.
type Source interface {
	// Columns returns the table's columns. The others are asked once Use was.
	Columns() []string
	// Use says what is compared.
	Use(t *Table)
	// Unhashed says why ranges can't be hashed, "" where they can.
	Unhashed() string
	// Bound returns the key of a range's n-th row, zero where it has fewer.
	Bound(ctx context.Context, r Range, n int) (Key, error)
	// Sum hashes a range.
	Sum(ctx context.Context, r Range) (Sum, error)
	// Rows calls each with a range's rows, in the order of their keys.
	Rows(ctx context.Context, r Range, each func(Row) error) error
	// Lookup returns those of the keys' rows that there are, in no order.
	Lookup(ctx context.Context, keys []Key) ([]Row, error)
	Close()
}

// Settler is a source whose rows can be published as changes.
type Settler interface {
	// Settled returns a position of the source's log, and the keys' rows at a time
	// when all transactions that have written to the log before it have ended: so they
	// are no older than any change before the position, and older than, or the same
	// as, what the changes after it make of them.
	Settled(ctx context.Context, keys []Key) (Position, []Row, error)
}

// sqlSource is what PostgreSQL and MySQL have in common.
type sqlSource struct {
	dialect dialect
	table   *Table
	from    string   // the quoted table
	columns []string // in the source's order
	// selected is the expression that is read of a column, value what its text means,
	// and form how its canonical text is written.
	selected func(c *Column) string
	value    func(c *Column, text []byte) change.Value
	form     func(c *Column) form
	// ordered says whether an index can have the column's values in the order of keys.
	ordered func(c *Column) bool
	// run runs a query and calls each with its rows' texts, which hold until it
	// returns; nil is NULL.
	run func(ctx context.Context, query string, args []any, each func(texts [][]byte) error) error
}

func (d *sqlSource) Columns() []string { return d.columns }

func (d *sqlSource) Use(t *Table) { d.table = t }

func (d *sqlSource) Unhashed() string {
	if d.table.enrichment != nil {
		return "the rule's steps of enrich are done to each of the source's"
	}
	var without []string
	for i := range d.table.Columns {
		c := &d.table.Columns[i]
		if !d.form(c).canonical(&c.Column) {
			without = append(without, c.Name)
		}
		if c.Key && !d.ordered(c) {
			return fmt.Sprintf("no index of the source has key column %s in the order of its bytes", c.Source)
		}
	}
	if len(without) > 0 {
		return "the values of " + strings.Join(without, ", ") + " have no text that all databases write alike"
	}
	return ""
}

func (d *sqlSource) statement() *statement { return &statement{dialect: &d.dialect} }

// columnList is what is selected of some columns.
func (d *sqlSource) columnList(columns []*Column) string {
	expressions := make([]string, len(columns))
	for i, c := range columns {
		expressions[i] = d.selected(c)
	}
	return strings.Join(expressions, ", ")
}

// values reads the texts of some columns.
func (d *sqlSource) values(columns []*Column, texts [][]byte) []change.Column {
	row := make([]change.Column, len(columns))
	for i, c := range columns {
		row[i] = change.Column{Name: c.Name, Value: change.Null()}
		if texts[i] != nil {
			row[i].Value = d.value(c, texts[i])
		}
	}
	return row
}

func (d *sqlSource) Bound(ctx context.Context, r Range, n int) (Key, error) {
	s := d.statement().add("SELECT %s FROM %s", d.columnList(d.table.keyColumns()), d.from).within(d.table, r).byKey(d.table)
	s.add(" LIMIT 1 OFFSET %d", n-1)
	var bound Key
	err := d.run(ctx, s.text.String(), s.args, func(texts [][]byte) error {
		encoded, err := d.table.source.AppendKey(nil, d.values(d.table.keyColumns(), texts))
		if err == nil {
			bound, err = newKey(encoded)
		}
		return err
	})
	return bound, err
}

func (d *sqlSource) Sum(ctx context.Context, r Range) (Sum, error) {
	s := d.statement()
	s.add("SELECT %s FROM (SELECT %s AS d FROM %s", s.sums("d"), s.digest(d.table), d.from).within(d.table, r).add(") AS r")
	var sum Sum
	err := d.run(ctx, s.text.String(), s.args, func(texts [][]byte) error {
		_, err := fmt.Sscan(string(texts[0]), &sum.Rows)
		for i := range sum.Words {
			if sum.Words[i] = string(texts[1+i]); texts[1+i] == nil {
				sum.Words[i] = "0"
			}
		}
		return err
	})
	return sum, err
}

// keyColumns are the primary key's columns.
func (t *Table) keyColumns() []*Column {
	columns := make([]*Column, len(t.Key))
	for i, at := range t.Key {
		columns[i] = &t.Columns[at]
	}
	return columns
}

// allColumns are those that are compared, and with others the rest of the source's.
func (t *Table) allColumns(others bool) []*Column {
	columns := make([]*Column, 0, len(t.Columns)+len(t.others))
	for i := range t.inputs {
		columns = append(columns, &t.inputs[i])
	}
	if t.enrichment != nil {
		return columns
	}
	for i := range t.Columns {
		columns = append(columns, &t.Columns[i])
	}
	for i := range t.others {
		if others {
			columns = append(columns, &t.others[i])
		}
	}
	return columns
}

func (d *sqlSource) Rows(ctx context.Context, r Range, each func(Row) error) error {
	columns := d.table.allColumns(false)
	s := d.statement().add("SELECT %s FROM %s", d.columnList(columns), d.from).within(d.table, r).byKey(d.table)
	return d.read(ctx, s, columns, false, each)
}

// read calls each with a query's rows: but for all of them not with those that a where
// of the rule's steps leaves out.
func (d *sqlSource) read(ctx context.Context, s *statement, columns []*Column, all bool, each func(Row) error) error {
	compared := len(d.table.Columns)
	return d.run(ctx, s.text.String(), s.args, func(texts [][]byte) error {
		values := d.values(columns, texts)
		if d.table.enrichment != nil {
			row, stays, err := d.table.enrichedRow(values)
			if err != nil {
				return fmt.Errorf("reading a row of %s: %w", d.table.Source, err)
			}
			if !stays && !all {
				return nil
			}
			return each(row)
		}
		row, err := d.table.SourceRow(values[:compared:compared])
		if err != nil {
			return fmt.Errorf("reading a row of %s: %w", d.table.Source, err)
		}
		row.others = values[compared:]
		return each(row)
	})
}

// keysAtOnce is how many keys a query looks up. Their columns make a condition of
// no more operands than any of the databases takes.
func keysAtOnce(t *Table) int { return max(1, 400/len(t.Key)) }

func (d *sqlSource) Lookup(ctx context.Context, keys []Key) ([]Row, error) {
	return d.lookup(ctx, keys, false, "")
}

// lookup returns the keys' rows, with all the source's columns or those that are
// compared alone.
func (d *sqlSource) lookup(ctx context.Context, keys []Key, others bool, lock string) ([]Row, error) {
	columns := d.table.allColumns(others)
	var rows []Row
	for len(keys) > 0 {
		n := min(len(keys), keysAtOnce(d.table))
		s := d.statement().add("SELECT %s FROM %s", d.columnList(columns), d.from).among(d.table, keys[:n]).add("%s", lock)
		err := d.read(ctx, s, columns, others, func(row Row) error { rows = append(rows, row); return nil })
		if err != nil {
			return nil, err
		}
		keys = keys[n:]
	}
	return rows, nil
}
