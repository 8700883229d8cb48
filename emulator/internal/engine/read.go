package engine

import (
	"context"
	"encoding/json"
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
		result = append(result, AppendRow(nil, columns, values))
		return nil
	})
	return result, err
}

// AppendRow appends a row as a JSON object, in the form that Rows tells.
func AppendRow(dst []byte, columns []*Column, values []any) []byte {
	dst = append(dst, '{')
	for i, c := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, c.Name)
		dst = append(dst, ':')
		dst = AppendValue(dst, c, values[i])
	}
	return append(dst, '}')
}

// Scan calls f with each current row, in the order that Rows tells. What it sees
// is the table at one instant; appends and applies go on meanwhile.
func (e *Engine) Scan(ctx context.Context, ref TableRef, f func(columns []*Column, values []any) error) error {
	snapshot, err := e.Snapshot(ctx, []TableRef{ref})
	if err != nil {
		return err
	}
	defer snapshot.Close()
	table := snapshot.tables[ref]
	if table.isView {
		return Invalid("Cannot list a table of type VIEW.")
	}
	schema := table.schema
	order := "_ord"
	if len(schema.Key) > 0 {
		order = strings.Join(append(schema.keyColumns(""), "_ord"), ", ")
	}
	rows, err := snapshot.Query(ctx, "SELECT * EXCLUDE ("+rowMeta+") FROM ("+schema.currentSQL(table.table.id, table.generations, e.forgotten())+") ORDER BY "+order)
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
