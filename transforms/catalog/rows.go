package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"
	"google.golang.org/api/iterator"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// MaxRows is how many rows [Catalog.Rows] is asked for at most.
const MaxRows = 100

// Rows reads the rows of these keys, each the values of the key's columns in order, by
// one query, which sees every row that was acknowledged MaxStaleness before it began.
// Rows that the table doesn't have are left out; the others come in no order. An error
// is an [*Error].
func (c *Catalog) Rows(ctx context.Context, t *table.Table, keys [][]change.Value) ([][]change.Column, error) {
	q, err := c.rowsQuery(t, keys)
	if err != nil {
		return nil, err
	}
	all, err := q.Read(ctx)
	if err != nil {
		return nil, classify(t.Name, "reading rows", err)
	}
	var rows [][]change.Column
	for {
		var values []bigquery.Value
		switch err := all.Next(&values); {
		case errors.Is(err, iterator.Done):
			return rows, nil
		case err != nil:
			return nil, classify(t.Name, "reading rows", err)
		}
		row, err := columnsOf(t, all.Schema, values)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

// columnsOf returns a row as a query of the table's [table.Table.Star] gave it.
func columnsOf(t *table.Table, schema bigquery.Schema, values []bigquery.Value) ([]change.Column, error) {
	row := make([]change.Column, len(values))
	for i, v := range values {
		row[i].Name = schema[i].Name
		var err error
		if row[i].Value, err = rowValue(schema[i], v); err != nil {
			return nil, permanently(t.Name, "table %v: reading a row: column %s: %w", t.Name, schema[i].Name, err)
		}
		if c := column(t.Columns, row[i].Name); c != nil {
			row[i].Value = withIntervals(c, row[i].Value)
		}
	}
	return row, nil
}

func column(columns []table.Column, name string) *table.Column {
	for i := range columns {
		if strings.EqualFold(columns[i].Name, name) {
			return &columns[i]
		}
	}
	return nil
}

// withIntervals returns a value whose INTERVALs were read as text with INTERVALs.
func withIntervals(c *table.Column, v change.Value) change.Value {
	switch elements := v.Elems(); {
	case v.Kind() == change.KindArray:
		element := *c
		element.Mode = table.Nullable
		for i := range elements {
			elements[i].Value = withIntervals(&element, elements[i].Value)
		}
	case v.Kind() == change.KindStruct:
		for i := range elements {
			if field := column(c.Fields, elements[i].Name); field != nil {
				elements[i].Value = withIntervals(field, elements[i].Value)
			}
		}
	case c.Type == table.Interval && v.Kind() == change.KindString:
		return change.Interval(v.Text())
	}
	return v
}

func (c *Catalog) rowsQuery(t *table.Table, keys [][]change.Value) (*bigquery.Query, error) {
	var conditions []string
	var parameters []bigquery.QueryParameter
	for _, key := range keys {
		if len(key) != len(t.PrimaryKey) {
			return nil, permanently(t.Name, "table %v: reading rows: a key of %d columns, not %d", t.Name, len(key), len(t.PrimaryKey))
		}
		var equal []string
		for i, v := range key {
			name := fmt.Sprintf("p%d", len(parameters))
			parameter, cast := keyParameter(v)
			term := "@" + name
			if cast {
				term = "CAST(@" + name + " AS " + string(columnType(t, t.PrimaryKey[i])) + ")"
			}
			equal = append(equal, "`"+t.PrimaryKey[i]+"` = "+term)
			parameters = append(parameters, bigquery.QueryParameter{Name: name, Value: parameter})
		}
		conditions = append(conditions, "("+strings.Join(equal, " AND ")+")")
	}
	q := c.client.Query("SELECT " + t.Star() + " FROM `" + t.Name.String() + "` WHERE " + strings.Join(conditions, " OR "))
	q.Parameters = parameters
	q.DisableQueryCache = true
	if q.ProjectID = c.config.Project; q.ProjectID == "" {
		q.ProjectID = t.Name.Project
	}
	return q, nil
}

func columnType(t *table.Table, name string) table.Type {
	if c := column(t.Columns, name); c != nil {
		return c.Type
	}
	return table.String
}

// keyParameter returns a key's value as a query's parameter, and whether it is a text
// that is to be cast to the column's type.
func keyParameter(v change.Value) (parameter any, cast bool) {
	switch v.Kind() {
	case change.KindInt64:
		return v.Int(), false
	case change.KindBool:
		return v.Bool(), false
	case change.KindBytes:
		return []byte(v.Text()), false
	case change.KindString:
		return v.Text(), false
	case change.KindDate:
		return civil.DateOf(time.Unix(v.Int()*secondsPerDay, 0).UTC()), false
	case change.KindDateTime:
		return civil.DateTimeOf(time.UnixMicro(v.Int()).UTC()), false
	case change.KindTimestamp:
		return time.UnixMicro(v.Int()).UTC(), false
	case change.KindTime:
		return civil.TimeOf(time.UnixMicro(v.Int()).UTC()), false
	default: // a decimal
		return v.Text(), true
	}
}

// rowValue returns a column's or field's value as the query gave it, in the one form
// that its type gives it. INTERVALs are still text.
func rowValue(f *bigquery.FieldSchema, v bigquery.Value) (change.Value, error) {
	if f.Repeated {
		list, ok := v.([]bigquery.Value)
		if !ok && v != nil {
			return change.Value{}, fmt.Errorf("an array that is a %T", v)
		}
		element := *f
		element.Repeated = false
		elements := make([]change.Column, len(list))
		for i := range list {
			var err error
			if elements[i].Value, err = rowValue(&element, list[i]); err != nil {
				return change.Value{}, err
			}
		}
		return change.Array(elements), nil
	}
	switch v := v.(type) {
	case nil:
		return change.Null(), nil
	case []byte:
		return change.Bytes(string(v)), nil
	case float64:
		return change.Float64(v), nil
	case civil.Time:
		midnight := civil.DateTime{Date: civil.Date{Year: 1970, Month: time.January, Day: 1}, Time: v}
		return change.Time(midnight.In(time.UTC).UnixMicro()), nil
	case *big.Rat:
		return keyValue(v)
	case string:
		if f.Type == bigquery.JSONFieldType {
			return change.JSON(v), nil
		}
		return change.String(v), nil
	case []bigquery.Value:
		if len(v) != len(f.Schema) {
			return change.Value{}, fmt.Errorf("a STRUCT of %d fields, not %d", len(v), len(f.Schema))
		}
		fields := make([]change.Column, len(v))
		for i := range v {
			fields[i].Name = f.Schema[i].Name
			var err error
			if fields[i].Value, err = rowValue(f.Schema[i], v[i]); err != nil {
				return change.Value{}, err
			}
		}
		return change.Struct(fields), nil
	}
	return keyValue(v) // int64, bool, dates and times; a RANGE is an error, and so is an INTERVAL that is none yet
}
