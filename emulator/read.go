package emulator

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Rows returns all current rows of a table of Options.Project, pending changes
// applied, in the order of their keys; rows of a table without a primary key come
// in the order of their ingestion. Each is a JSON object with all columns in the
// table's order:
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
func (s *Server) Rows(ctx context.Context, dataset, table string) ([]json.RawMessage, error) {
	return s.rows(ctx, tableRef{s.options.Project, dataset, table})
}

func (s *Server) rows(ctx context.Context, ref tableRef) ([]json.RawMessage, error) {
	result := []json.RawMessage{}
	err := s.scan(ctx, ref, func(columns []*column, values []any) error {
		row := []byte("{")
		for i, c := range columns {
			if i > 0 {
				row = append(row, ',')
			}
			row = appendString(row, c.name)
			row = append(row, ':')
			row = appendValue(row, c, values[i])
		}
		result = append(result, append(row, '}'))
		return nil
	})
	return result, err
}

// scan calls f with each current row, in the order that Rows tells. What it sees
// is the table at one instant; appends and merges go on meanwhile.
func (s *Server) scan(ctx context.Context, ref tableRef, f func(columns []*column, values []any) error) error {
	t, err := s.catalog.table(ref)
	if err != nil {
		return err
	}
	tx, schema, generations, err := s.store.snapshot(ctx, t)
	if err != nil {
		return fmt.Errorf("reading table %s: %w", ref, err)
	}
	// Nothing was written: there is nothing that a failed rollback could lose.
	defer func() { _ = tx.Rollback() }()
	order := "_ord"
	if len(schema.key) > 0 {
		order = strings.Join(append(schema.keyColumns(""), "_ord"), ", ")
	}
	rows, err := tx.QueryContext(ctx, "SELECT * EXCLUDE (_ord) FROM ("+schema.currentSQL(t.id, generations, s.store.forgotten())+") ORDER BY "+order)
	if err != nil {
		return fmt.Errorf("reading table %s: %w", ref, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	values := make([]any, len(schema.columns))
	pointers := make([]any, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return fmt.Errorf("reading table %s: %w", ref, err)
		}
		if err := f(schema.columns, values); err != nil {
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
func (st *store) snapshot(ctx context.Context, t *table) (*sql.Tx, *schema, []generation, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.dropped {
		return nil, nil, nil, errDropped
	}
	// Before the transaction: what it lists was committed, and is in the snapshot.
	generations := t.generations()
	tx, err := st.db.BeginTx(ctx, nil)
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
