package engine

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// rewrite changes rows of a table in a transaction.
type rewrite struct {
	e   *Engine
	f   *frozen // what done makes the table's past is kept here meanwhile
	tx  *sql.Tx
	now time.Time
	// given has, by position, whether the staged rows have the column.
	given []bool
}

// stage runs the query, and keeps what it gives in a temporary table: _op, _row, the
// columns as they are stored, and the meta columns of the row.
func (w *rewrite) stage(ctx context.Context, query string, args []any, columns []string) error {
	s := w.f.schema
	w.given = make([]bool, len(s.Columns))
	names, values := []string{"_op", "_row"}, []string{"_op", "_row"}
	for i, name := range columns {
		position, ok := s.find(name)
		if !ok {
			return Invalid("Column %s is not present in table %s", Clip(name), w.f.table.ref)
		}
		if w.given[position] {
			return Invalid("Column %s is given more than once", Clip(name))
		}
		w.given[position] = true
		c := s.Columns[position]
		names = append(names, fmt.Sprintf("v%d", i))
		values = append(values, fmt.Sprintf("%s AS %s", storedSQL(c, names[len(names)-1]), columnName(c)))
	}
	text := fmt.Sprintf("CREATE OR REPLACE TEMP TABLE changes AS SELECT %s FROM (%s) AS q(%s)", strings.Join(values, ", "), query, strings.Join(names, ", "))
	if _, err := w.tx.ExecContext(ctx, text, args...); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("running a statement: %w", err)
		}
		return &Error{Code: http.StatusBadRequest, Reason: "invalidQuery", Status: "INVALID_ARGUMENT", Message: err.Error(), cause: err}
	}
	return nil
}

// argument is a default value as an argument that casts to the column's DuckDB type.
func (c *Column) argument(value any) any {
	switch value.(type) {
	case nil, bool, int64, float64, []byte:
		return value
	case []any: // the only one that a default value may be
		return "[]"
	}
	return ScalarText(c, value)
}

// storedSQL is a value as the column stores it.
func storedSQL(c *Column, value string) string {
	value = fmt.Sprintf("CAST(%s AS %s)", value, duckType(c))
	switch {
	case c.Repeated:
		return fmt.Sprintf("coalesce(%s, [])", value)
	case c.Kind == KindNumeric && c.Precision > 0:
		return fmt.Sprintf("CAST(round(%s, %d) AS %s)", value, c.Scale, duckType(c))
	}
	return value
}

// requiredError is the refusal of NULL.
func requiredError(c *Column) error { return Invalid("Required field %s cannot be null", c.Name) }

// check counts the staged changes, and refuses those that the table can't hold.
func (w *rewrite) check(ctx context.Context) (Changed, error) {
	var changed Changed
	var repeated int64
	terms := []string{
		"count(*) FILTER (_op = 'INSERT')", "count(*) FILTER (_op = 'UPDATE')", "count(*) FILTER (_op = 'DELETE')", "count(_row) - count(DISTINCT _row)",
	}
	into := []any{&changed.Inserted, &changed.Updated, &changed.Deleted, &repeated}
	type limit struct {
		c     *Column
		found *int64
		err   func(n int64) error
	}
	var limits []limit
	var missing []*Column
	for i, c := range w.f.schema.Columns {
		if !w.given[i] {
			missing = append(missing, c)
			continue
		}
		name := columnName(c)
		add := func(term string, err func(n int64) error) {
			found := new(int64)
			terms, into = append(terms, term), append(into, found)
			limits = append(limits, limit{c, found, err})
		}
		if c.Required {
			add(fmt.Sprintf("count(*) FILTER (_op <> 'DELETE' AND %s IS NULL)", name), func(int64) error { return requiredError(c) })
		}
		if length := map[Kind]string{KindString: "length", KindBytes: "octet_length"}[c.Kind]; c.MaxLength > 0 && !c.Repeated {
			add(fmt.Sprintf("coalesce(max(%[1]s(%[2]s)) FILTER (_op <> 'DELETE' AND %[1]s(%[2]s) > %[3]d), 0)", length, name, c.MaxLength),
				func(n int64) error {
					return Invalid("Field %s: %v", c.Name, &LengthError{c.typeName(), c.MaxLength, n})
				})
		}
		if c.Kind == KindNumeric && c.Precision > 0 && !c.Repeated {
			add(fmt.Sprintf("count(*) FILTER (_op <> 'DELETE' AND abs(%s) >= 1%s)", name, strings.Repeat("0", int(c.Precision-c.Scale))),
				func(int64) error {
					return Invalid("Field %s: %s has a value that is out of range", c.Name, c.typeName())
				})
		}
	}
	if err := w.tx.QueryRowContext(ctx, "SELECT "+strings.Join(terms, ", ")+" FROM changes").Scan(into...); err != nil {
		return Changed{}, fmt.Errorf("checking changes of table %s: %w", w.f.table.ref, err)
	}
	if repeated > 0 {
		return Changed{}, Invalid("UPDATE/MERGE must match at most one source row for each target row")
	}
	for _, c := range missing {
		switch {
		case changed.Updated > 0:
			return Changed{}, fmt.Errorf("an update of table %s lacks column %s", w.f.table.ref, c.Name)
		case changed.Inserted > 0 && c.Required && c.DefaultValue == nil:
			return Changed{}, requiredError(c)
		}
	}
	for _, l := range limits {
		if *l.found > 0 {
			return Changed{}, l.err(*l.found)
		}
	}
	return changed, nil
}

// keep puts live rows that end now into the table's history, unless that gets too long.
func (w *rewrite) keep(ctx context.Context, count int64, rows string) error {
	t := w.f.table
	var statements []string
	if w.f.historySince == 0 && w.f.pastRows+count > w.e.maxPast {
		if w.f.hasHistory {
			statements = append(statements, "DELETE FROM "+historyName(t.id))
		}
		w.f.pastSince, w.f.pastRows = w.now.UnixMicro(), 0
		statements = append(statements, t.cdcSQL(t.watermark.Load(), w.f.pastSince)...)
	} else {
		if !w.f.hasHistory {
			statements = append(statements, w.f.schema.createHistorySQL(t.id))
		}
		w.f.hasHistory = true
		w.f.pastRows += count
		statements = append(statements, fmt.Sprintf("INSERT INTO %s BY NAME %s", historyName(t.id), rows))
	}
	if err := execute(ctx, w.tx, statements); err != nil {
		return fmt.Errorf("keeping rows of table %s: %w", t.ref, err)
	}
	return nil
}

// done makes known what the transaction did to the table's past, once it is through.
// The caller holds the table's mu for writing.
func (w *rewrite) done() {
	t := w.f.table
	t.hasHistory, t.pastRows = w.f.hasHistory, w.f.pastRows
	t.pastSince.Store(w.f.pastSince)
}

// deleteAll deletes all live rows. Remembered DELETEs stay.
func (w *rewrite) deleteAll(ctx context.Context) (int64, error) {
	base := baseName(w.f.table.id)
	rows := fmt.Sprintf("SELECT b.*, %d AS _ended, %d AS _end FROM %s AS b WHERE _kind > 0", w.now.UnixMicro(), endDeleted, base)
	var count int64
	if err := w.tx.QueryRowContext(ctx, "SELECT count(*) FROM "+base+" WHERE _kind > 0").Scan(&count); err != nil {
		return 0, fmt.Errorf("counting the rows of table %s: %w", w.f.table.ref, err)
	}
	if err := w.keep(ctx, count, rows); err != nil {
		return 0, err
	}
	result, err := w.tx.ExecContext(ctx, "DELETE FROM "+base+" WHERE _kind > 0")
	if err != nil {
		return 0, fmt.Errorf("deleting the rows of table %s: %w", w.f.table.ref, err)
	}
	return result.RowsAffected()
}

// replace deletes and inserts the staged rows. An updated row keeps its place in the
// order of ingestion, and its sequence.
func (w *rewrite) replace(ctx context.Context, changed Changed) error {
	t, s := w.f.table, w.f.schema
	base := baseName(t.id)
	now := w.now.UnixMicro()
	if changed.Updated+changed.Deleted > 0 {
		rows := fmt.Sprintf("SELECT b.*, %d AS _ended, if(d._op = 'DELETE', %d, %d) AS _end FROM %s AS b JOIN changes AS d ON b._ord = d._row",
			now, endDeleted, endReplaced, base)
		if err := w.keep(ctx, changed.Updated+changed.Deleted, rows); err != nil {
			return err
		}
	}
	columns, values, args := []string{metaColumns}, []string{}, []any{}
	for i, c := range s.Columns {
		columns = append(columns, columnName(c))
		if w.given[i] {
			values = append(values, "d."+columnName(c))
			continue
		}
		value, err := c.DefaultValue.at(w.now)
		if err != nil {
			return err
		}
		values, args = append(values, storedSQL(c, "?")), append(args, c.argument(value))
	}
	first := w.e.ordinal.Add(changed.Inserted) - changed.Inserted
	inserted := fmt.Sprintf("0, 0, 0, 0, 0, %d + row_number() OVER () - 1, %d, %d", first, now, rowInserted)
	updated := fmt.Sprintf("b._s1, b._s2, b._s3, b._s4, b._sn, b._ord, %d AS _at, %d AS _kind", now, rowUpdated)
	list, into := strings.Join(append([]string{""}, values...), ", "), fmt.Sprintf("INSERT INTO %s(%s) ", base, strings.Join(columns, ", "))
	if changed.Updated > 0 {
		// What is replaced has the sequence, so it goes after that was taken over.
		text := fmt.Sprintf("CREATE OR REPLACE TEMP TABLE updates AS SELECT %s%s FROM changes AS d JOIN %s AS b ON b._ord = d._row WHERE d._op = 'UPDATE'",
			updated, list, base)
		if err := execute(ctx, w.tx, []string{text}); err != nil {
			return fmt.Errorf("updating rows of table %s: %w", t.ref, err)
		}
	}
	if changed.Updated+changed.Deleted > 0 {
		if err := execute(ctx, w.tx, []string{fmt.Sprintf("DELETE FROM %s WHERE _ord IN (SELECT _row FROM changes)", base)}); err != nil {
			return fmt.Errorf("deleting rows of table %s: %w", t.ref, err)
		}
	}
	if changed.Updated > 0 {
		if err := execute(ctx, w.tx, []string{into + "SELECT * FROM updates", "DROP TABLE updates"}); err != nil {
			return fmt.Errorf("updating rows of table %s: %w", t.ref, err)
		}
	}
	if changed.Inserted > 0 {
		if _, err := w.tx.ExecContext(ctx, into+"SELECT "+inserted+list+" FROM changes AS d WHERE d._op = 'INSERT'", args...); err != nil {
			return fmt.Errorf("inserting rows into table %s: %w", t.ref, err)
		}
	}
	return execute(ctx, w.tx, []string{"DROP TABLE changes"})
}
