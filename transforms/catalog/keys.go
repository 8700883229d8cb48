package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/civil"
	"google.golang.org/api/iterator"

	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
)

// Keys reads the primary keys of all rows that the table has, by a query: each is
// the key's columns in order, good until the next one is asked for. The query sees
// every row that was acknowledged MaxStaleness before it began. Its result is read
// page by page. An error is an [*Error], and the last.
func (c *Catalog) Keys(ctx context.Context, t *table.Table) iter.Seq2[[]change.Column, error] {
	return func(yield func([]change.Column, error) bool) {
		q := c.client.Query(keysQuery(t))
		q.DisableQueryCache = true
		if q.ProjectID = c.config.Project; q.ProjectID == "" {
			q.ProjectID = t.Name.Project
		}
		rows, err := q.Read(ctx)
		if err != nil {
			yield(nil, classify(t.Name, "reading its keys", err))
			return
		}
		key := make([]change.Column, len(t.PrimaryKey))
		for {
			var values []bigquery.Value
			switch err := rows.Next(&values); {
			case errors.Is(err, iterator.Done):
				return
			case err != nil:
				yield(nil, classify(t.Name, "reading its keys", err))
				return
			case len(values) != len(key):
				yield(nil, permanently(t.Name, "table %v: reading its keys: a row of %d columns, not %d", t.Name, len(values), len(key)))
				return
			}
			for i, v := range values {
				key[i].Name = t.PrimaryKey[i]
				if key[i].Value, err = keyValue(v); err != nil {
					yield(nil, permanently(t.Name, "table %v: reading its keys: column %s: %w", t.Name, t.PrimaryKey[i], err))
					return
				}
			}
			if !yield(key, nil) {
				return
			}
		}
	}
}

func keysQuery(t *table.Table) string {
	columns := make([]string, len(t.PrimaryKey))
	for i, name := range t.PrimaryKey {
		columns[i] = "`" + name + "`"
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM `" + t.Name.String() + "`"
}

// keyValue returns a value of a type that a primary key can have.
func keyValue(v bigquery.Value) (change.Value, error) {
	switch v := v.(type) {
	case int64:
		return change.Int64(v), nil
	case string:
		return change.String(v), nil
	case bool:
		return change.Bool(v), nil
	case *big.Rat: // exact: BIGNUMERIC has no more than 38 digits after the point
		return change.Decimal(bigquery.BigNumericString(v)), nil
	case civil.Date:
		return change.Date(v.In(time.UTC).Unix() / secondsPerDay), nil
	case civil.DateTime:
		return change.DateTime(v.In(time.UTC).UnixMicro()), nil
	case time.Time:
		return change.Timestamp(v.UnixMicro()), nil
	case nil:
		return change.Value{}, errors.New("it is NULL, which identifies no row")
	}
	return change.Value{}, fmt.Errorf("it is a %T, which no primary key has", v)
}

const secondsPerDay = 24 * 60 * 60
