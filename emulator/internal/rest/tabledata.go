package rest

import (
	"net/http"
	"strconv"
	"time"

	"beamcdc/emulator/internal/engine"
)

// tabledata: list
//
// Behavior:
//   - Shows the current rows, pending changes applied, in the order of Server.Rows.
//   - BigQuery's form: {"f": [{"v": …}]}, TIMESTAMP in seconds with a fraction, or in
//     microseconds where formatOptions.useInt64Timestamp is true.
//   - maxResults, startIndex and pageToken page; a page reads the table anew, so that
//     rows which come or go between two pages shift those after them.
//   - selectedFields is refused (501).

func (s *Service) listTableData(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("selectedFields") != "" {
		return nil, engine.Unimplemented("selectedFields is not implemented by this emulator")
	}
	first, limit := uint64(0), uint64(1<<62)
	for name, into := range map[string]*uint64{"startIndex": &first, "maxResults": &limit} {
		if text := query.Get(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 62)
			if err != nil {
				return nil, engine.Invalid("Invalid value for %s: %s", name, engine.Clip(text))
			}
			*into = n
		}
	}
	if text := query.Get("pageToken"); text != "" {
		n, err := strconv.ParseUint(text, 10, 62)
		if err != nil {
			return nil, engine.Invalid("Invalid value for pageToken: %s", engine.Clip(text))
		}
		first = n
	}
	f := wireForm{micros: query.Get("formatOptions.useInt64Timestamp") == "true"}
	list := tableData{Kind: "bigquery#tableDataList", Rows: []wireRow{}}
	total := uint64(0)
	err := s.engine.Scan(r.Context(), tableOf(r), func(columns []*engine.Column, values []any) error {
		if total++; total <= first || total > first+limit {
			return nil
		}
		row := wireRow{make([]wireCell, len(columns))}
		for i, c := range columns {
			row.F[i] = wireCell{f.value(c, values[i])}
		}
		list.Rows = append(list.Rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	list.TotalRows = total
	if first+limit < total {
		list.PageToken = strconv.FormatUint(first+limit, 10)
	}
	return list, nil
}

// tableData, wireRow and wireCell are BigQuery's form of rows. Google's own structs
// for it leave a NULL cell's "v" out, which clients rely on.
type tableData struct {
	Kind      string    `json:"kind"`
	PageToken string    `json:"pageToken,omitempty"`
	Rows      []wireRow `json:"rows"`
	TotalRows uint64    `json:"totalRows,string"`
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
	rows, err := s.engine.Rows(r.Context(), tableOf(r))
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
