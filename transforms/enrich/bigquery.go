package enrich

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

	"beamcdc/internal/endpoint"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// readBigQuery reads the columns of a table or a query, by a query that asks for
// nothing else: BigQuery bills the columns' bytes, at each refresh.
func readBigQuery(ctx context.Context, c Config, l *table.Lookup, names []string, each func([]change.Value) error) error {
	options, err := endpoint.REST(c.BigQueryEndpoint, c.AllowPlaintext)
	if err != nil {
		return fmt.Errorf("creating BigQuery's client: %w", err)
	}
	client, err := bigquery.NewClient(ctx, c.Project, options...)
	if err != nil {
		return fmt.Errorf("creating BigQuery's client: %w", err)
	}
	defer func() { _ = client.Close() }() // nothing is under way
	selected, err := newSelection(c.Project, l, names)
	if err != nil {
		return err
	}
	intervals, err := selected.intervalsAsText(ctx, client)
	if err != nil {
		return err
	}
	rows, err := client.Query(selected.String()).Read(ctx)
	if err != nil {
		return err
	}
	values := make([]change.Value, len(names))
	for {
		var row []bigquery.Value
		err := rows.Next(&row)
		if errors.Is(err, iterator.Done) {
			return nil
		} else if err != nil {
			return err
		}
		for i, v := range row {
			var fields bigquery.Schema
			fieldType := rows.Schema[i].Type
			if fields = rows.Schema[i].Schema; len(fields) > 0 || rows.Schema[i].Repeated {
				return fmt.Errorf("column %s is an ARRAY or a STRUCT: a lookup takes single values", names[i])
			}
			if values[i], err = fromBigQuery(v, fieldType); err != nil {
				return fmt.Errorf("column %s: %w", names[i], err)
			}
			if intervals[i] && !values[i].IsNull() {
				values[i] = change.Interval(values[i].Text())
			}
		}
		if err := each(values); err != nil {
			return err
		}
	}
}

// selection is a query of columns, in their order; a column may be asked for twice.
type selection struct {
	columns []string // as GoogleSQL's expressions
	from    string
}

func newSelection(project string, l *table.Lookup, names []string) (*selection, error) {
	s := &selection{from: "(\n" + strings.TrimRight(strings.TrimSpace(l.Query), ";") + "\n)"}
	for _, name := range names {
		if strings.ContainsAny(name, "`\\\n") {
			return nil, fmt.Errorf("column %.100q has a name that can't be quoted", name)
		}
		s.columns = append(s.columns, "`"+name+"`")
	}
	if l.Table != "" {
		name, err := table.ParseName(l.Table, project)
		if err != nil {
			return nil, err
		}
		s.from = "`" + name.String() + "`"
	}
	return s, nil
}

func (s *selection) String() string {
	named := make([]string, len(s.columns))
	for i, column := range s.columns {
		named[i] = fmt.Sprintf("%s AS c%d", column, i)
	}
	return "SELECT " + strings.Join(named, ", ") + " FROM " + s.from
}

// intervalsAsText makes the query give INTERVALs as text ([table.Column.Readable] has
// why), and returns which columns are such. A dry run tells the columns' types, which
// BigQuery doesn't bill.
func (s *selection) intervalsAsText(ctx context.Context, client *bigquery.Client) ([]bool, error) {
	q := client.Query(s.String())
	q.DryRun = true
	job, err := q.Run(ctx)
	if err != nil {
		return nil, err
	}
	intervals := make([]bool, len(s.columns))
	statistics, ok := job.LastStatus().Statistics.Details.(*bigquery.QueryStatistics)
	if !ok || len(statistics.Schema) != len(s.columns) {
		return nil, fmt.Errorf("BigQuery doesn't tell the types of the %d columns", len(s.columns))
	}
	for i, field := range statistics.Schema {
		if field.Type == bigquery.IntervalFieldType && !field.Repeated {
			intervals[i], s.columns[i] = true, (&table.Column{Type: table.Interval}).Readable(s.columns[i])
		}
	}
	return intervals, nil
}

// fromBigQuery returns a value of BigQuery's client.
func fromBigQuery(v bigquery.Value, of bigquery.FieldType) (change.Value, error) {
	switch v := v.(type) {
	case nil:
		return change.Null(), nil
	case bool:
		return change.Bool(v), nil
	case int64:
		return change.Int64(v), nil
	case float64:
		return change.Float64(v), nil
	case *big.Rat:
		return change.Decimal(decimalText(v)), nil
	case string:
		switch of {
		case bigquery.JSONFieldType:
			return change.JSON(v), nil
		default:
			return change.String(v), nil
		}
	case []byte:
		return change.Bytes(string(v)), nil
	case time.Time:
		return change.Timestamp(v.UnixMicro()), nil
	case civil.Date:
		return change.Date(v.In(time.UTC).Unix() / 86_400), nil
	case civil.Time:
		return change.Time(microsOf(v)), nil
	case civil.DateTime:
		return change.DateTime(v.Date.In(time.UTC).UnixMicro() + microsOf(v.Time)), nil
	}
	return change.Value{}, fmt.Errorf("its type %s is none that a lookup takes", of)
}

// decimalText returns a NUMERIC's or BIGNUMERIC's digits, which are 38 at most after
// the point.
func decimalText(r *big.Rat) string {
	text := r.FloatString(bigquery.BigNumericScaleDigits)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func microsOf(t civil.Time) int64 {
	return int64(t.Hour*3600+t.Minute*60+t.Second)*1_000_000 + int64(t.Nanosecond)/1000
}
