package follow

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"
	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
)

// row returns a change as a row of the columns format.
func (f *Follower) row(values []bigquery.Value) ([]byte, error) {
	n := len(f.schema)
	if len(values) != n+2 {
		return nil, fmt.Errorf("BigQuery gives %d columns, not %d", len(values), n+2)
	}
	at, isTime := values[n+1].(time.Time)
	if !isTime {
		return nil, fmt.Errorf("a change has no time")
	}
	changeType, ordinal := change.Upsert, uint64(1)
	switch values[n] {
	case "INSERT", "UPDATE":
	case "DELETE":
		changeType, ordinal = change.Delete, 0
	default:
		return nil, fmt.Errorf("a change is neither INSERT, UPDATE nor DELETE")
	}
	sequence := change.NewSequence(f.Epoch, uint64(at.UnixMicro()), 0, ordinal) //nolint:gosec // BigQuery is younger than 1970
	dst := append([]byte(`{"_CHANGE_TYPE":"`), changeType.String()...)
	dst = append(append(append(dst, `","_CHANGE_SEQUENCE_NUMBER":"`...), sequence.String()...), '"')
	var err error
	for i, c := range f.schema {
		dst = append(dst, ',')
		if dst, err = appendMember(dst, c, values[i]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendMember(dst []byte, c *bigquery.FieldSchema, v bigquery.Value) ([]byte, error) {
	dst, err := jsontext.AppendQuote(dst, c.Name)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", c.Name, err)
	}
	if dst, err = appendValue(append(dst, ':'), c, v); err != nil {
		return nil, fmt.Errorf("column %s: %w", c.Name, err)
	}
	return dst, nil
}

// appendValue appends a value as the columns format has it: integers and decimals as
// texts, which no reader rounds; times in ISO 8601; bytes in base64; a JSON document
// as its text.
func appendValue(dst []byte, c *bigquery.FieldSchema, v bigquery.Value) ([]byte, error) {
	var text string
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return fmt.Append(dst, v), nil
	case float64:
		switch {
		case math.IsNaN(v):
			text = "NaN"
		case math.IsInf(v, 0):
			text = "Infinity"
			if v < 0 {
				text = "-Infinity"
			}
		default:
			return append(dst, jsontext.Float(v).String()...), nil
		}
	case []bigquery.Value:
		return appendList(dst, c, v)
	case *bigquery.RangeValue:
		return appendRange(dst, c, v)
	case int64:
		text = fmt.Sprint(v)
	case []byte:
		text = base64.StdEncoding.EncodeToString(v)
	case string:
		text = v
	case *big.Rat:
		text = strings.TrimSuffix(strings.TrimRight(v.FloatString(38), "0"), ".")
	case civil.Date:
		text = v.String()
	case civil.Time:
		text = fmt.Sprintf("%02d:%02d:%02d.%06d", v.Hour, v.Minute, v.Second, v.Nanosecond/1000)
	case civil.DateTime:
		text = v.In(time.UTC).Format("2006-01-02T15:04:05.000000")
	case time.Time:
		text = v.UTC().Format("2006-01-02T15:04:05.000000Z")
	default:
		return nil, fmt.Errorf("BigQuery's client gives a %T, which is not known here", v)
	}
	return jsontext.AppendQuote(dst, text)
}

// appendList appends an array or a STRUCT.
func appendList(dst []byte, c *bigquery.FieldSchema, values []bigquery.Value) ([]byte, error) {
	var err error
	if c.Repeated {
		element := *c
		element.Repeated = false
		dst = append(dst, '[')
		for i, v := range values {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendValue(dst, &element, v); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	if len(values) != len(c.Schema) {
		return nil, fmt.Errorf("a STRUCT has %d fields, and its table %d", len(values), len(c.Schema))
	}
	dst = append(dst, '{')
	for i, f := range c.Schema {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendMember(dst, f, values[i]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendRange(dst []byte, c *bigquery.FieldSchema, v *bigquery.RangeValue) ([]byte, error) {
	return appendList(dst, &bigquery.FieldSchema{Name: c.Name, Schema: bigquery.Schema{{Name: "start"}, {Name: "end"}}}, []bigquery.Value{v.Start, v.End})
}
