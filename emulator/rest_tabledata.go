package emulator

import (
	"net/http"
	"strconv"
	"time"
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

func (s *Server) listTableData(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("selectedFields") != "" {
		return nil, unimplemented("selectedFields is not implemented by this emulator")
	}
	first, limit := uint64(0), uint64(1<<62)
	for name, into := range map[string]*uint64{"startIndex": &first, "maxResults": &limit} {
		if text := query.Get(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 62)
			if err != nil {
				return nil, invalid("Invalid value for %s: %s", name, clip(text))
			}
			*into = n
		}
	}
	if text := query.Get("pageToken"); text != "" {
		n, err := strconv.ParseUint(text, 10, 62)
		if err != nil {
			return nil, invalid("Invalid value for pageToken: %s", clip(text))
		}
		first = n
	}
	f := wireForm{micros: query.Get("formatOptions.useInt64Timestamp") == "true"}
	list := tableData{Kind: "bigquery#tableDataList", Rows: []wireRow{}}
	total := uint64(0)
	err := s.scan(r.Context(), tableOf(r), func(columns []*column, values []any) error {
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

func (f wireForm) value(c *column, value any) any {
	if !c.repeated {
		return f.scalar(c, value)
	}
	list, _ := value.([]any)
	cells := make([]wireCell, len(list))
	for i, element := range list {
		cells[i] = wireCell{f.scalar(c, element)}
	}
	return cells
}

func (f wireForm) scalar(c *column, value any) any {
	if value == nil {
		return nil
	}
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return floatText(v)
	case time.Time:
		if c.kind == kindTimestamp {
			return f.timestamp(v)
		}
	case map[string]any:
		if c.kind == kindStruct {
			row := wireRow{make([]wireCell, len(c.fields))}
			for i, field := range c.fields {
				row.F[i] = wireCell{f.value(field, v[field.name])}
			}
			return row
		}
		if c.element == kindTimestamp {
			bound := func(v any) string {
				if t, ok := v.(time.Time); ok {
					return f.timestamp(t)
				}
				return "UNBOUNDED"
			}
			return "[" + bound(v["start"]) + ", " + bound(v["end"]) + ")"
		}
	}
	return scalarText(c, value)
}

func (f wireForm) timestamp(t time.Time) string {
	micros := t.UnixMicro()
	if f.micros {
		return strconv.FormatInt(micros, 10)
	}
	seconds, fraction := micros/microsPerSecond, micros%microsPerSecond
	sign := ""
	if micros < 0 {
		sign, seconds, fraction = "-", -seconds, -fraction
	}
	return sign + strconv.FormatInt(seconds, 10) + "." + pad6(fraction)
}

func pad6(n int64) string {
	text := strconv.FormatInt(n+microsPerSecond, 10)
	return text[1:]
}

// adminRows answers with the rows in the form of Server.Rows, so that tests in
// other processes and languages need no client library.
func (s *Server) adminRows(r *http.Request) (any, error) {
	rows, err := s.rows(r.Context(), tableOf(r))
	if err != nil {
		return nil, err
	}
	return map[string]any{"rows": rows}, nil
}

func (s *Server) adminStats(*http.Request) (any, error) { return s.Stats(), nil }

// floatText is a FLOAT64 as BigQuery's JSON has it: always a string.
func floatText(f float64) string {
	text := string(appendFloat(nil, f))
	if text[0] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}
