package query

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"beamcdc/emulator/internal/engine"
)

// Rows returns a table's rows as the engine tells them, and a view's, which are what
// its query selects, in the order of their texts.
func (x *Executor) Rows(ctx context.Context, ref engine.TableRef) ([]json.RawMessage, error) {
	t, err := x.engine.Table(ref)
	if err != nil {
		return nil, err
	}
	if !t.IsView() {
		return x.engine.Rows(ctx, ref)
	}
	selected, err := x.Run(ctx, Request{SQL: "SELECT * FROM `" + ref.Project + "." + ref.Dataset + "." + ref.Table + "`"})
	if err != nil {
		return nil, err
	}
	rows := make([]json.RawMessage, len(selected.Rows))
	for i, values := range selected.Rows {
		rows[i] = engine.AppendRow(nil, selected.Columns, values)
	}
	slices.SortFunc(rows, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	return rows, nil
}
