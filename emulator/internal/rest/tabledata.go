package rest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"beamcdc/emulator/internal/engine"
)

// tabledata: list (insertAll: see insert_all.go)
//
// Behavior:
//   - Shows the current rows, pending changes applied, in the order of Server.Rows; of a
//     query's anonymous table the query's rows, in theirs.
//   - BigQuery's form: {"f": [{"v": …}]}, TIMESTAMP in seconds with a fraction, or in
//     microseconds where formatOptions.useInt64Timestamp is true, or as
//     formatOptions.timestampOutputFormat says.
//   - maxResults, startIndex and pageToken page, and 10 MB do; a page reads the table anew,
//     so that rows which come or go between two pages shift those after them.
//   - selectedFields names columns, or fields of STRUCTs by a path (a.b); what it names
//     comes in the table's order.

func (s *Service) listTableData(r *http.Request) (any, error) {
	p, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	selected := selection(r.URL.Query().Get("selectedFields"))
	w := pageWriter{rowPage: p}
	add := func(columns []*engine.Column, values []any) error {
		columns, values, err := selected.of(columns, values)
		if err != nil {
			return err
		}
		return w.add(columns, values)
	}
	ref := tableOf(r)
	if ref.Dataset == anonymousDataset {
		j, err := s.anonymous(ref)
		if err != nil {
			return nil, err
		}
		if err := s.eachRow(r.Context(), j, add); err != nil {
			return nil, err
		}
	} else if err := s.engine.Scan(r.Context(), ref, add); err != nil {
		return nil, err
	}
	list := tableData{Kind: "bigquery#tableDataList", Rows: w.rows, TotalRows: w.total, PageToken: w.token()}
	if list.Rows == nil {
		list.Rows = []json.RawMessage{}
	}
	return list, nil
}

// tableData, wireRow and wireCell are BigQuery's form of rows. Google's own structs
// for it leave a NULL cell's "v" out, which clients rely on.
type tableData struct {
	Kind      string            `json:"kind"`
	PageToken string            `json:"pageToken,omitempty"`
	Rows      []json.RawMessage `json:"rows"` // of wireRow
	TotalRows uint64            `json:"totalRows,string"`
}

type wireRow struct {
	F []wireCell `json:"f"`
}

type wireCell struct {
	V any `json:"v"`
}

// wireForm is how tabledata.list and queries write values.
type wireForm struct {
	micros bool // TIMESTAMP in microseconds, not seconds
	text   bool // TIMESTAMP as ISO 8601's text
}

// newWireForm reads formatOptions.
func newWireForm(int64Timestamps bool, timestamps string) (wireForm, error) {
	switch timestamps {
	case "", "TIMESTAMP_OUTPUT_FORMAT_UNSPECIFIED":
		return wireForm{micros: int64Timestamps}, nil
	case "FLOAT64":
		return wireForm{}, nil
	case "INT64":
		return wireForm{micros: true}, nil
	case "ISO8601_STRING":
		return wireForm{text: true}, nil
	default:
		return wireForm{}, engine.Invalid("Invalid value for timestampOutputFormat: %s", engine.Clip(timestamps))
	}
}

func (f wireForm) value(c *engine.Column, value any) any {
	if !c.Repeated {
		return f.scalar(c, value)
	}
	list, _ := value.([]any)
	cells := make([]wireCell, len(list))
	for i, element := range list {
		cells[i] = wireCell{f.scalar(c, element)}
	}
	return cells
}

func (f wireForm) scalar(c *engine.Column, value any) any {
	if value == nil {
		return nil
	}
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return floatText(v)
	case time.Time:
		if c.Kind == engine.KindTimestamp {
			return f.timestamp(v)
		}
	case map[string]any:
		if c.Kind == engine.KindStruct {
			row := wireRow{make([]wireCell, len(c.Fields))}
			for i, field := range c.Fields {
				row.F[i] = wireCell{f.value(field, v[field.Name])}
			}
			return row
		}
		if c.Element == engine.KindTimestamp {
			bound := func(v any) string {
				if t, ok := v.(time.Time); ok {
					return f.timestamp(t)
				}
				return "UNBOUNDED"
			}
			return "[" + bound(v["start"]) + ", " + bound(v["end"]) + ")"
		}
	}
	return engine.ScalarText(c, value)
}

func (f wireForm) timestamp(t time.Time) string {
	micros := t.UnixMicro()
	if f.text {
		return engine.ScalarText(&engine.Column{Kind: engine.KindTimestamp}, t)
	}
	if f.micros {
		return strconv.FormatInt(micros, 10)
	}
	seconds, fraction := micros/1_000_000, micros%1_000_000
	sign := ""
	if micros < 0 {
		sign, seconds, fraction = "-", -seconds, -fraction
	}
	return sign + strconv.FormatInt(seconds, 10) + "." + pad6(fraction)
}

func pad6(n int64) string {
	text := strconv.FormatInt(n+1_000_000, 10)
	return text[1:]
}

// adminRows answers with the rows in the form of Server.Rows, so that tests in
// other processes and languages need no client library.
func (s *Service) adminRows(r *http.Request) (any, error) {
	rows, err := s.options.Executor.Rows(r.Context(), tableOf(r))
	if err != nil {
		return nil, err
	}
	return map[string]any{"rows": rows}, nil
}

func (s *Service) adminStats(*http.Request) (any, error) { return s.options.Stats(), nil }

// floatText is a FLOAT64 as BigQuery's JSON has it: always a string.
func floatText(f float64) string {
	text := string(engine.AppendFloat(nil, f))
	if text[0] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}
