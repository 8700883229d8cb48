package engine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Rows returns all current rows of a table, pending changes applied, in the order
// of their keys; rows of a table without a primary key come in the order of their
// ingestion. Each is a JSON object with all columns in the table's order:
//
//	BOOL                        true, false
//	INT64, NUMERIC, BIGNUMERIC  a string, without trailing zeros
//	FLOAT64                     a number, or "NaN", "Infinity", "-Infinity"
//	STRING, GEOGRAPHY           a string
//	JSON                        a string: its text as it was written
//	BYTES                       a string in base64
//	DATE                        "2025-03-09"
//	TIME                        "08:07:06.005004"
//	DATETIME                    "2025-03-09T08:07:06.005004"
//	TIMESTAMP                   "2025-03-09T08:07:06.005004Z"
//	INTERVAL                    "1-2 3 4:5:6.789", BigQuery's canonical form
//	RANGE                       "[2025-03-09, UNBOUNDED)", its bounds as above
//	ARRAY                       an array, never null
//	STRUCT                      an object, its fields in order
//	NULL                        null
//
// An absent dataset or table is an error that says so.
func (e *Engine) Rows(ctx context.Context, ref TableRef) ([]json.RawMessage, error) {
	result := []json.RawMessage{}
	err := e.Scan(ctx, ref, func(columns []*Column, values []any) error {
		row := []byte("{")
		for i, c := range columns {
			if i > 0 {
				row = append(row, ',')
			}
			row = appendString(row, c.Name)
			row = append(row, ':')
			row = AppendValue(row, c, values[i])
		}
		result = append(result, append(row, '}'))
		return nil
	})
	return result, err
}

// Scan calls f with each current row, in the order that Rows tells. What it sees
// is the table at one instant; appends and merges go on meanwhile.
func (e *Engine) Scan(ctx context.Context, ref TableRef, f func(columns []*Column, values []any) error) error {
	t, err := e.catalog.table(ref)
	if err != nil {
		return err
	}
	tx, schema, generations, err := e.snapshot(ctx, t)
	if err != nil {
		return fmt.Errorf("reading table %s: %w", ref, err)
	}
	// Nothing was written: there is nothing that a failed rollback could lose.
	defer func() { _ = tx.Rollback() }()
	order := "_ord"
	if len(schema.Key) > 0 {
		order = strings.Join(append(schema.keyColumns(""), "_ord"), ", ")
	}
	rows, err := tx.QueryContext(ctx, "SELECT * EXCLUDE (_ord) FROM ("+schema.currentSQL(t.id, generations, e.forgotten())+") ORDER BY "+order)
	if err != nil {
		return fmt.Errorf("reading table %s: %w", ref, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	values := make([]any, len(schema.Columns))
	pointers := make([]any, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return fmt.Errorf("reading table %s: %w", ref, err)
		}
		if err := f(schema.Columns, values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading table %s: %w", ref, err)
	}
	return nil
}

var errDropped = errors.New("the table was deleted")

// snapshot begins a transaction that sees the table as it is now, whatever is
// merged or altered after it.
func (e *Engine) snapshot(ctx context.Context, t *Table) (*sql.Tx, *Schema, []generation, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.dropped {
		return nil, nil, nil, errDropped
	}
	// Before the transaction: what it lists was committed, and is in the snapshot.
	generations := t.generations()
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	// DuckDB takes a transaction's snapshot when it first looks at the database.
	var ignored sql.NullInt64
	if err := tx.QueryRowContext(ctx, "SELECT max(opened) FROM emulator_state").Scan(&ignored); err != nil {
		return nil, nil, nil, rollback(tx, fmt.Errorf("taking a snapshot: %w", err))
	}
	return tx, t.schema, generations, nil
}
