package diff

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

// BigQuery is the side that is compared with the source.
type BigQuery struct {
	client  *bigquery.Client
	table   *Table
	dialect dialect
	from    string
}

// NewBigQuery returns the table's side in BigQuery.
func NewBigQuery(client *bigquery.Client, t *Table) *BigQuery {
	return &BigQuery{client: client, table: t, dialect: bqDialect(), from: "`" + t.Name.String() + "`"}
}

func bqQuote(name string) string { return "`" + name + "`" }

func bqDialect() dialect {
	return dialect{
		quote:       bqQuote,
		placeholder: func(n int) string { return fmt.Sprintf("@p%d", n) },
		order:       func(c *Column) string { return bqQuote(c.Name) },
		bind: func(c *Column, placeholder string) string {
			switch c.Type {
			case table.String:
				return placeholder
			case table.Bytes:
				return "FROM_HEX(" + placeholder + ")"
			default:
				return "CAST(" + placeholder + " AS " + string(c.Type) + ")"
			}
		},
		text:   bqText,
		part:   "COALESCE(CONCAT(CAST(CHAR_LENGTH(%[1]s) AS STRING), ':', %[1]s), '-')",
		concat: func(parts []string) string { return "CONCAT(" + strings.Join(parts, ", ") + ")" },
		md5:    "TO_HEX(MD5(%s))",
		word:   "CAST(CONCAT('0x', SUBSTR(%[1]s, %[2]d, 8)) AS INT64)",
	}
}

func bqText(c *Column) string {
	name := bqQuote(c.Name)
	switch c.Type {
	case table.String:
		return name
	case table.Bytes:
		return "TO_HEX(" + name + ")"
	case table.Time:
		return "FORMAT_TIME('%H:%M:%E6S', " + name + ")"
	case table.DateTime:
		return "FORMAT_DATETIME('%E4Y-%m-%d %H:%M:%E6S', " + name + ")"
	case table.Timestamp:
		return "FORMAT_TIMESTAMP('%E4Y-%m-%d %H:%M:%E6S', " + name + ", 'UTC')"
	default:
		return "CAST(" + name + " AS STRING)"
	}
}

func (b *BigQuery) statement() *statement { return &statement{dialect: &b.dialect} }

// Sums hashes the ranges between bounds that are in order: from after up to the
// first, from there to the next, and so on. The last bound may be zero.
func (b *BigQuery) Sums(ctx context.Context, after Key, bounds []Key) ([]Sum, error) {
	s := b.statement()
	s.add("SELECT chunk, %s FROM (SELECT %s AS d, CASE", s.sums("d"), s.digest(b.table))
	last := len(bounds) - 1
	for i, bound := range bounds[:last] {
		s.add(" WHEN %s THEN %d", s.beyond(b.table, bound, "<", true), i)
	}
	if last == 0 {
		s.add(" WHEN FALSE THEN 0")
	}
	s.add(" ELSE %d END AS chunk FROM %s", last, b.from)
	s.within(b.table, Range{After: after, UpTo: bounds[last]}).add(") GROUP BY chunk")
	sums := make([]Sum, len(bounds))
	for i := range sums {
		for w := range sums[i].Words {
			sums[i].Words[w] = "0"
		}
	}
	err := b.run(ctx, s, func(values []bigquery.Value) error {
		chunk, ok := values[0].(int64)
		if !ok || chunk < 0 || chunk > int64(last) {
			return errors.New("BigQuery answers of a range that was not asked for")
		}
		sum := &sums[chunk]
		sum.Rows, _ = values[1].(int64)
		for w := range sum.Words {
			sum.Words[w] = fmt.Sprint(values[2+w])
		}
		return nil
	})
	return sums, err
}

func (b *BigQuery) selectRows() *statement {
	names := make([]string, len(b.table.Columns))
	for i := range b.table.Columns {
		c := &b.table.Columns[i]
		names[i] = c.Readable(bqQuote(c.Name)) // the client misreads INTERVALs
	}
	return b.statement().add("SELECT %s FROM %s", strings.Join(names, ", "), b.from)
}

// Rows calls each with a range's rows, in the order of their keys.
func (b *BigQuery) Rows(ctx context.Context, r Range, each func(Row) error) error {
	return b.read(ctx, b.selectRows().within(b.table, r).byKey(b.table), each)
}

// Lookup returns those of the keys' rows that there are, in no order.
func (b *BigQuery) Lookup(ctx context.Context, keys []Key) ([]Row, error) {
	var rows []Row
	for len(keys) > 0 {
		n := min(len(keys), keysAtOnce(b.table))
		err := b.read(ctx, b.selectRows().among(b.table, keys[:n]), func(row Row) error { rows = append(rows, row); return nil })
		if err != nil {
			return nil, err
		}
		keys = keys[n:]
	}
	return rows, nil
}

func (b *BigQuery) read(ctx context.Context, s *statement, each func(Row) error) error {
	return b.run(ctx, s, func(values []bigquery.Value) error {
		columns := make([]change.Column, len(values))
		for i, v := range values {
			c := &b.table.Columns[i]
			converted, err := bqValue(&c.Column, v)
			if err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
			columns[i] = change.Column{Name: c.Name, Value: converted}
		}
		row, err := b.table.BigQueryRow(columns)
		if err != nil {
			return fmt.Errorf("reading a row of BigQuery's: %w", err)
		}
		return each(row)
	})
}

func (b *BigQuery) run(ctx context.Context, s *statement, each func([]bigquery.Value) error) error {
	query := b.client.Query(s.text.String())
	for i, arg := range s.args {
		query.Parameters = append(query.Parameters, bigquery.QueryParameter{Name: fmt.Sprintf("p%d", i+1), Value: arg})
	}
	rows, err := query.Read(ctx)
	if err != nil {
		return fmt.Errorf("asking BigQuery for %v: %w", b.table.Name, err)
	}
	for {
		var values []bigquery.Value
		err := rows.Next(&values)
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("asking BigQuery for %v: %w", b.table.Name, err)
		}
		if err := each(values); err != nil {
			return err
		}
	}
}

// bqValue returns the value that the client has read of a column.
func bqValue(c *table.Column, v bigquery.Value) (change.Value, error) {
	if v == nil {
		return change.Null(), nil
	}
	if elements, ok := v.([]bigquery.Value); ok && c.Mode == table.Repeated {
		element := *c
		element.Mode = table.Nullable
		all := make([]change.Column, len(elements))
		for i, e := range elements {
			converted, err := bqValue(&element, e)
			if err != nil {
				return change.Value{}, err
			}
			all[i].Value = converted
		}
		return change.Array(all), nil
	}
	switch v := v.(type) {
	case bool:
		return change.Bool(v), nil
	case int64:
		return change.Int64(v), nil
	case float64:
		return change.Float64(v), nil
	case []byte:
		return change.Bytes(string(v)), nil
	case string:
		if c.Type == table.JSON {
			return change.JSON(v), nil
		}
		return change.String(v), nil
	case *big.Rat:
		return change.Decimal(decimalText(v)), nil
	case civil.Date:
		return change.Date(floorDiv(v.In(time.UTC).UnixMicro(), 86_400_000_000)), nil
	case civil.Time:
		return change.Time(civil.DateTime{Date: civil.Date{Year: 1970, Month: 1, Day: 1}, Time: v}.In(time.UTC).UnixMicro()), nil
	case civil.DateTime:
		return change.DateTime(v.In(time.UTC).UnixMicro()), nil
	case time.Time:
		return change.Timestamp(v.UnixMicro()), nil
	case *bigquery.RangeValue:
		bound := table.Column{Type: c.Element}
		start, err := bqValue(&bound, v.Start)
		if err != nil {
			return change.Value{}, err
		}
		end, err := bqValue(&bound, v.End)
		return change.Struct([]change.Column{{Name: "start", Value: start}, {Name: "end", Value: end}}), err
	case []bigquery.Value:
		if len(v) != len(c.Fields) {
			return change.Value{}, fmt.Errorf("a STRUCT has %d fields, and its table %d", len(v), len(c.Fields))
		}
		fields := make([]change.Column, len(v))
		for i := range v {
			converted, err := bqValue(&c.Fields[i], v[i])
			if err != nil {
				return change.Value{}, err
			}
			fields[i] = change.Column{Name: c.Fields[i].Name, Value: converted}
		}
		return change.Struct(fields), nil
	default:
		return change.Value{}, fmt.Errorf("BigQuery's client gives a %T, which is not known here", v)
	}
}

// decimalText writes a NUMERIC or BIGNUMERIC, which have 38 digits after the point
// at most.
func decimalText(r *big.Rat) string {
	text := strings.TrimRight(r.FloatString(38), "0")
	return strings.TrimSuffix(text, ".")
}
