package catalog

import (
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"

	"beamcdc/schemas/table"
)

// types are BigQuery's types by the names that its REST API gives and takes: the
// legacy SQL ones for some, and GoogleSQL's as an alternative.
var types = map[bigquery.FieldType]table.Type{
	bigquery.BooleanFieldType: table.Bool, "BOOL": table.Bool,
	bigquery.IntegerFieldType: table.Int64, "INT64": table.Int64,
	bigquery.FloatFieldType: table.Float64, "FLOAT64": table.Float64,
	bigquery.NumericFieldType: table.Numeric, bigquery.BigNumericFieldType: table.BigNumeric,
	bigquery.StringFieldType: table.String, bigquery.BytesFieldType: table.Bytes,
	bigquery.DateFieldType: table.Date, bigquery.TimeFieldType: table.Time,
	bigquery.DateTimeFieldType: table.DateTime, bigquery.TimestampFieldType: table.Timestamp,
	bigquery.JSONFieldType: table.JSON, bigquery.GeographyFieldType: table.Geography,
	bigquery.IntervalFieldType: table.Interval, bigquery.RangeFieldType: table.Range,
	bigquery.RecordFieldType: table.Struct, "STRUCT": table.Struct,
}

// restTypes is the inverse of types, in the names that tables.insert takes.
var restTypes = map[table.Type]bigquery.FieldType{
	table.Bool: bigquery.BooleanFieldType, table.Int64: bigquery.IntegerFieldType, table.Float64: bigquery.FloatFieldType,
	table.Numeric: bigquery.NumericFieldType, table.BigNumeric: bigquery.BigNumericFieldType,
	table.String: bigquery.StringFieldType, table.Bytes: bigquery.BytesFieldType,
	table.Date: bigquery.DateFieldType, table.Time: bigquery.TimeFieldType,
	table.DateTime: bigquery.DateTimeFieldType, table.Timestamp: bigquery.TimestampFieldType,
	table.JSON: bigquery.JSONFieldType, table.Geography: bigquery.GeographyFieldType,
	table.Interval: bigquery.IntervalFieldType, table.Range: bigquery.RangeFieldType, table.Struct: bigquery.RecordFieldType,
}

// fromMetadata returns the table that BigQuery describes. It is an error that it
// is no ordinary table, or has a column of a type that is not known here.
func fromMetadata(name table.Name, m *bigquery.TableMetadata) (*table.Table, error) {
	if m.Type != bigquery.RegularTable && m.Type != "" {
		return nil, fmt.Errorf("it is a %s: CDC rows go to tables only", m.Type)
	}
	columns, err := fromSchema(m.Schema, "")
	if err != nil {
		return nil, err
	}
	t := &table.Table{Name: name, Columns: columns, Description: m.Description, Altered: m.Labels[alteredLabel]}
	if m.TableConstraints != nil && m.TableConstraints.PrimaryKey != nil {
		t.PrimaryKey = m.TableConstraints.PrimaryKey.Columns
	}
	if m.Clustering != nil {
		t.ClusterBy = m.Clustering.Fields
	}
	if p := m.TimePartitioning; p != nil {
		t.PartitionBy = &table.Partition{Column: p.Field, Type: string(p.Type)} // Column is "" for ingestion time
	}
	if m.MaxStaleness != nil {
		t.MaxStaleness = fromInterval(m.MaxStaleness)
	}
	return t, nil
}

// fromSchema converts the columns below path.
func fromSchema(fields bigquery.Schema, path string) ([]table.Column, error) {
	columns := make([]table.Column, 0, len(fields))
	for _, f := range fields {
		c := table.Column{
			Name: f.Name, Description: f.Description,
			MaxLength: f.MaxLength, Precision: f.Precision, Scale: f.Scale,
		}
		switch {
		case f.Repeated:
			c.Mode = table.Repeated
		case f.Required:
			c.Mode = table.Required
		default:
			c.Mode = table.Nullable
		}
		var known bool
		if c.Type, known = types[bigquery.FieldType(strings.ToUpper(string(f.Type)))]; !known {
			return nil, fmt.Errorf("column %s%s has type %q, which is not known", path, f.Name, f.Type)
		}
		switch c.Type {
		case table.Struct:
			var err error
			if c.Fields, err = fromSchema(f.Schema, path+f.Name+"."); err != nil {
				return nil, err
			}
		case table.Range:
			if f.RangeElementType == nil {
				return nil, fmt.Errorf("column %s%s is a RANGE without an element type", path, f.Name)
			}
			c.Element = types[f.RangeElementType.Type]
		default: // the type tells all
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// toMetadata describes the table to tables.insert.
func toMetadata(t *table.Table) *bigquery.TableMetadata {
	m := &bigquery.TableMetadata{
		Schema: toSchema(t.Columns), Description: t.Description,
	}
	if len(t.PrimaryKey) > 0 { // a table of plain rows has none
		m.TableConstraints = &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: t.PrimaryKey}}
	}
	if len(t.ClusterBy) > 0 {
		m.Clustering = &bigquery.Clustering{Fields: t.ClusterBy}
	}
	if t.PartitionBy != nil {
		m.TimePartitioning = &bigquery.TimePartitioning{Field: t.PartitionBy.Column, Type: bigquery.TimePartitioningType(t.PartitionBy.Type)}
	}
	if t.MaxStaleness > 0 {
		m.MaxStaleness = toInterval(t.MaxStaleness)
	}
	return m
}

func toSchema(columns []table.Column) bigquery.Schema {
	fields := make(bigquery.Schema, 0, len(columns))
	for i := range columns {
		c := &columns[i]
		f := &bigquery.FieldSchema{
			Name: c.Name, Description: c.Description, Type: restTypes[c.Type],
			Repeated: c.Mode == table.Repeated, Required: c.Mode == table.Required,
			MaxLength: c.MaxLength, Precision: c.Precision, Scale: c.Scale,
		}
		switch c.Type {
		case table.Struct:
			f.Schema = toSchema(c.Fields)
		case table.Range:
			f.RangeElementType = &bigquery.RangeElementType{Type: restTypes[c.Element]}
		default: // the type tells all
		}
		fields = append(fields, f)
	}
	return fields
}

// fromInterval returns an interval as a duration; months count thirty days. It
// is compared and shown, never written back.
func fromInterval(v *bigquery.IntervalValue) time.Duration {
	hours := 24*(int64(v.Years)*365+int64(v.Months)*30+int64(v.Days)) + int64(v.Hours)
	return time.Duration(hours)*time.Hour + time.Duration(v.Minutes)*time.Minute +
		time.Duration(v.Seconds)*time.Second + time.Duration(v.SubSecondNanos)
}

// toInterval returns a duration as the time part of an interval.
func toInterval(d time.Duration) *bigquery.IntervalValue {
	return &bigquery.IntervalValue{
		Hours: int32(d / time.Hour), Minutes: int32(d / time.Minute % 60), Seconds: int32(d / time.Second % 60),
		SubSecondNanos: int32(d % time.Second),
	}
}
