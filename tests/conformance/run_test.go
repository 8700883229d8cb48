package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/iterator"
)

// run is one case as it runs. Its tables are its own: their names end in the suffix.
type run struct {
	*backend
	ctx      context.Context //nolint:containedctx // a case is short and has one
	suffix   string
	failures []string
	tables   []string
	closers  []func()
	held     bool // background applies are held back
}

func suffix() string {
	return strings.ToLower(rand.Text()[:10])
}

// cleanup closes what the case opened and deletes its tables.
func (r *run) cleanup() {
	for _, closer := range slices.Backward(r.closers) {
		closer()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 30*time.Second)
	defer cancel()
	for _, name := range r.tables {
		_ = r.handle(name).Delete(ctx) // a case may have deleted it
	}
}

func (r *run) id(table string) string { return table + "_" + r.suffix }

func (r *run) handle(table string) *bigquery.Table {
	return r.bq.Dataset(r.dataset).Table(r.id(table))
}

func (r *run) parent(table string) string {
	return fmt.Sprintf("projects/%s/datasets/%s/tables/%s", r.project, r.dataset, r.id(table))
}

// create creates a table from "name TYPE [REQUIRED|REPEATED], …" and its key columns.
func (r *run) create(table, columns string, key ...string) {
	r.createWith(table, columns, &bigquery.TableMetadata{}, key...)
}

// createStale creates a table whose queries may be that stale.
func (r *run) createStale(table, columns string, staleness time.Duration, key ...string) {
	r.createWith(table, columns, &bigquery.TableMetadata{
		MaxStaleness: &bigquery.IntervalValue{Minutes: int32(staleness / time.Minute)},
	}, key...)
}

func (r *run) createWith(table, columns string, metadata *bigquery.TableMetadata, key ...string) {
	r.must(r.tryCreate(table, columns, metadata, key...), "creating table "+table)
}

func (r *run) tryCreate(table, columns string, metadata *bigquery.TableMetadata, key ...string) error {
	metadata.Schema = schema(columns)
	if len(key) > 0 {
		metadata.TableConstraints = &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: key}}
	}
	r.tables = append(r.tables, table)
	return r.handle(table).Create(r.ctx, metadata)
}

func schema(columns string) bigquery.Schema {
	var fields bigquery.Schema
	for text := range strings.SplitSeq(columns, ",") {
		words := strings.Fields(text)
		f := &bigquery.FieldSchema{Name: words[0], Type: bigquery.FieldType(words[1])}
		for _, mode := range words[2:] {
			f.Required = f.Required || mode == "REQUIRED"
			f.Repeated = f.Repeated || mode == "REPEATED"
		}
		fields = append(fields, f)
	}
	return fields
}

// placeholder is {t} for the full name of table t, {'t'} for its ID as a string,
// {t*} for a wildcard's prefix, {dataset} for the dataset's name, {region} for its region's.
var placeholder = regexp.MustCompile(`\{('?)(\w+)(\*?)('?)\}`)

func (r *run) expand(sql string) string {
	return placeholder.ReplaceAllStringFunc(sql, func(match string) string {
		parts := placeholder.FindStringSubmatch(match)
		switch {
		case parts[2] == "region":
			return "`" + r.region + "`"
		case parts[2] == "dataset":
			return "`" + r.project + "." + r.dataset + "`"
		case parts[1] != "":
			return "'" + r.id(parts[2]) + "'"
		case parts[3] != "":
			return "`" + r.project + "." + r.dataset + "." + parts[2] + "_*`"
		}
		r.tables = append(r.tables, parts[2]) // DDL may make it
		return "`" + r.project + "." + r.dataset + "." + r.id(parts[2]) + "`"
	})
}

// tryQuery runs a statement and returns its rows, each value as text.
func (r *run) tryQuery(sql string) ([]string, error) {
	query := r.bq.Query(r.expand(sql))
	query.DisableQueryCache = true
	rows, err := query.Read(r.ctx)
	if err != nil {
		return nil, err
	}
	return texts(rows)
}

func (r *run) query(sql string) []string {
	rows, err := r.tryQuery(sql)
	r.must(err, "running "+sql)
	return rows
}

// refuseQuery runs a statement that must fail, and returns the error's text.
func (r *run) refuseQuery(sql string) string {
	rows, err := r.tryQuery(sql)
	if err == nil {
		r.errorf("%s: it succeeded with rows %q, want an error", sql, rows)
		return ""
	}
	if notThere(err) {
		r.fatalf("%s: %v", sql, err)
	}
	return err.Error()
}

// notThere says that an error tells of something that isn't implemented, which is
// no refusal.
func notThere(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "notimplemented") || strings.Contains(text, "not implemented") || strings.Contains(text, "unimplemented")
}

// rows reads a table by a query, as text, in order of that text.
func (r *run) rows(table string) []string {
	rows := r.query("SELECT * FROM {" + table + "}")
	slices.Sort(rows)
	return rows
}

// want compares what a query sees in a table: values separated by a space, NULL for none.
func (r *run) want(table string, want ...string) {
	if got := r.rows(table); !slices.Equal(got, want) {
		r.errorf("a query of %s sees %q, want %q", table, got, want)
	}
}

func (r *run) wantQuery(sql string, want ...string) {
	if got := r.query(sql); !slices.Equal(got, want) {
		r.errorf("%s gives %q, want %q", sql, got, want)
	}
}

func texts(rows *bigquery.RowIterator) ([]string, error) {
	var all []string
	for {
		var row []bigquery.Value
		err := rows.Next(&row)
		if errors.Is(err, iterator.Done) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		words := make([]string, len(row))
		for i, v := range row {
			words[i] = text(v)
		}
		all = append(all, strings.Join(words, " "))
	}
}

func text(v bigquery.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}
