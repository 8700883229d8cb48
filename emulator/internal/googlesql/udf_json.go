package googlesql

import (
	"database/sql/driver"
	"encoding/json"
	"math"
	"strconv"
)

// jsonPath evaluates a path that is an argument; nil if there is nothing there.
func jsonPath(text, path driver.Value) ([]byte, error) {
	steps, err := parseJSONPath(path.(string))
	if err != nil {
		return nil, err
	}
	return jsonAt([]byte(text.(string)), steps), nil
}

var jsonUDFs = []function{
	{"bq_json_field", params("VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		return textOrNull(jsonAt([]byte(a[0].(string)), []step{{a[1].(string), -1}})), nil
	}},
	{"bq_json_item", params("VARCHAR", "BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		n := a[1].(int64)
		if n < 0 || n > math.MaxInt32 {
			return nil, nil
		}
		return textOrNull(jsonAt([]byte(a[0].(string)), []step{{"", int(n)}})), nil
	}},
	{"bq_json_value", params("VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		found, err := jsonPath(a[0], a[1])
		if err != nil {
			return nil, err
		}
		if s, ok := jsonScalar(found); ok {
			return s, nil
		}
		return nil, nil
	}},
	{"bq_json_query", params("VARCHAR", "VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		found, err := jsonPath(a[0], a[1])
		if err != nil || found == nil {
			return nil, err
		}
		return compactJSON(found), nil
	}},
	{"bq_json_values", params("VARCHAR", "VARCHAR"), "LIST:VARCHAR", func(a []driver.Value) (any, error) {
		found, err := jsonPath(a[0], a[1])
		if err != nil {
			return nil, err
		}
		items, ok := jsonItems(found)
		if !ok {
			return nil, nil
		}
		values := make([]any, len(items))
		for i, item := range items {
			s, ok := jsonScalar(item)
			switch {
			case ok:
				values[i] = s
			case string(item) != "null":
				return nil, nil // an array with anything but scalars is none
			}
		}
		return values, nil
	}},
	{"bq_json_items", params("VARCHAR", "VARCHAR"), "LIST:VARCHAR", func(a []driver.Value) (any, error) {
		found, err := jsonPath(a[0], a[1])
		if err != nil {
			return nil, err
		}
		items, ok := jsonItems(found)
		if !ok {
			return nil, nil
		}
		values := make([]any, len(items))
		for i, item := range items {
			values[i] = compactJSON(item)
		}
		return values, nil
	}},
	{"bq_parse_json", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		if checkJSON(a[0].(string)) != nil {
			return nil, errQuery("Invalid input to PARSE_JSON: syntax error while parsing value")
		}
		return a[0], nil
	}},
	{"bq_json_type", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		found := jsonAt([]byte(a[0].(string)), nil)
		if len(found) == 0 {
			return nil, errQuery("Invalid JSON value")
		}
		switch found[0] {
		case '{':
			return "object", nil
		case '[':
			return "array", nil
		case '"':
			return "string", nil
		case 't', 'f':
			return "boolean", nil
		case 'n':
			return "null", nil
		}
		return "number", nil
	}},
	{"bq_json_string", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) {
		var s string
		if found := jsonAt([]byte(a[0].(string)), nil); len(found) == 0 || found[0] != '"' || json.Unmarshal(found, &s) != nil {
			return nil, errQuery("The provided JSON input is not a string")
		}
		return s, nil
	}},
	{"bq_json_bool", params("VARCHAR"), "BOOLEAN", func(a []driver.Value) (any, error) {
		switch string(jsonAt([]byte(a[0].(string)), nil)) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, errQuery("The provided JSON input is not a boolean")
	}},
	{"bq_json_int", params("VARCHAR"), "BIGINT", func(a []driver.Value) (any, error) {
		text := string(jsonAt([]byte(a[0].(string)), nil))
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return nil, errQuery("The provided JSON input is not an integer")
		}
		return int64(f), nil
	}},
	{"bq_json_float", params("VARCHAR"), "DOUBLE", func(a []driver.Value) (any, error) {
		found := jsonAt([]byte(a[0].(string)), nil)
		f, err := strconv.ParseFloat(string(found), 64)
		if err != nil {
			return nil, errQuery("The provided JSON input is not a number")
		}
		return f, nil
	}},
	{"bq_json_quote", params("VARCHAR"), "VARCHAR", func(a []driver.Value) (any, error) { return jsonText(a[0].(string)), nil }},
	{"bq_json_integer", params("BIGINT"), "VARCHAR", func(a []driver.Value) (any, error) {
		n := a[0].(int64)
		if n > 1<<53 || n < -1<<53 { // beyond what JavaScript's numbers hold
			return `"` + strconv.FormatInt(n, 10) + `"`, nil
		}
		return strconv.FormatInt(n, 10), nil
	}},
	{"bq_json_number", params("DOUBLE"), "VARCHAR", func(a []driver.Value) (any, error) {
		switch f := a[0].(float64); {
		case math.IsNaN(f):
			return `"NaN"`, nil
		case math.IsInf(f, 1):
			return `"Infinity"`, nil
		case math.IsInf(f, -1):
			return `"-Infinity"`, nil
		default:
			return floatText(f), nil
		}
	}},
}

func textOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}
