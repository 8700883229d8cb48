package enrich

import (
	"context"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"google.golang.org/api/option"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/table"
)

// bigQuery is the emulator, with a table of customers.
type bigQuery struct {
	*emulator.Server
	client *bigquery.Client
	config Config
}

func newBigQuery(t *testing.T) *bigQuery {
	t.Helper()
	server, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(server.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	q := &bigQuery{server, client, Config{Project: "demo", BigQueryEndpoint: server.RESTAddr(), LoadFor: 10 * time.Second}}
	q.run(t, "CREATE SCHEMA shop")
	q.run(t, "CREATE TABLE shop.customers (id INT64, name STRING)")
	q.run(t, "INSERT INTO shop.customers (id, name) VALUES (7, 'Ann'), (8, 'Bo'), (NULL, 'nobody')")
	return q
}

func (q *bigQuery) run(t *testing.T, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	job, err := q.client.Query(sql).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	status, err := job.Wait(ctx)
	if err == nil {
		err = status.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// TestReadBigQuery_refresh: a table and a query are read again on their period; one
// that can't be read is counted, its age grows, and what was there goes on serving.
func TestReadBigQuery_refresh(t *testing.T) {
	for source, lookup := range map[string]table.Lookup{
		"table": {Table: "shop.customers"},
		"query": {Query: "SELECT c.id, UPPER(c.name) AS name FROM `demo.shop.customers` AS c WHERE c.id != 8;\n"},
	} {
		t.Run(source, func(t *testing.T) {
			shown := func(name string) string {
				if source == "query" {
					return strings.ToUpper(name)
				}
				return name
			}
			q := newBigQuery(t)
			lookup.Refresh = 20 * time.Millisecond
			r, err := openReference(t.Context(), q.config, join(lookup))
			if err != nil {
				t.Fatal(err)
			}
			rows := map[string]int{"table": 2, "query": 1}[source]
			if got := name(t, r); got != shown("Ann") || r.index.Load().Rows() != rows {
				t.Fatalf("7 is %q, of %d rows", got, r.index.Load().Rows())
			}
			q.run(t, "UPDATE shop.customers SET name = 'Bea' WHERE id = 7")
			eventually(t, "the change", func() bool { return name(t, r) == shown("Bea") })

			fault := emulator.Fault{Method: "jobs.*", Effect: emulator.Effect{Code: "PERMISSION_DENIED"}}
			if err := q.SetFaults([]emulator.Fault{fault}); err != nil {
				t.Fatal(err)
			}
			failures := r.failures.Load()
			eventually(t, "failures", func() bool { return r.failures.Load() > failures+1 }) // the first may have begun before
			failed, age := time.Now(), r.age()
			if got := name(t, r); got != shown("Bea") {
				t.Errorf("after a failed refresh 7 is %q", got)
			}
			failures = r.failures.Load()
			eventually(t, "more failures", func() bool { return r.failures.Load() > failures })
			if grown := r.age() - age; grown < time.Since(failed)/2 {
				t.Errorf("while it can't be read it has grown older by %v in %v", grown, time.Since(failed))
			}
			if err := q.SetFaults(nil); err != nil {
				t.Fatal(err)
			}
			q.run(t, "UPDATE shop.customers SET name = 'Cy' WHERE id = 7")
			eventually(t, "the next change", func() bool { return name(t, r) == shown("Cy") })
			if r.age() > time.Since(failed) {
				t.Errorf("it is read again, and %v old", r.age())
			}
		})
	}
}

// TestReadBigQuery_types: values of each type are the table's, exactly.
func TestReadBigQuery_types(t *testing.T) {
	q := newBigQuery(t)
	columns := []struct {
		typ, literal string
		want         change.Value
	}{
		{"BOOL", "TRUE", change.Bool(true)},
		{"INT64", "-9223372036854775808", change.Int64(-9223372036854775808)},
		{"INT64", "9007199254740993", change.Int64(9007199254740993)}, // no float64
		{"FLOAT64", "0.1", change.Float64(0.1)},
		{"FLOAT64", "1e308", change.Float64(1e308)},
		{"NUMERIC", "NUMERIC '-99999999999999999999999999999.999999999'", change.Decimal("-99999999999999999999999999999.999999999")},
		{"NUMERIC", "NUMERIC '100'", change.Decimal("100")},
		{
			"BIGNUMERIC", "BIGNUMERIC '12345678901234567890123456789012345678.00000000000000000000000000000000000001'",
			change.Decimal("12345678901234567890123456789012345678.00000000000000000000000000000000000001"),
		},
		{"STRING", `'grün \u2028 007'`, change.String("grün \u2028 007")},
		{"STRING", "''", change.String("")},
		{"BYTES", `b'\x00\xff'`, change.Bytes("\x00\xff")},
		{"DATE", "DATE '1969-12-31'", change.Date(-1)},
		{"DATE", "DATE '0001-01-01'", change.Date(-719162)},
		{"TIME", "TIME '23:59:59.999999'", change.Time(86_399_999_999)},
		{"DATETIME", "DATETIME '1970-01-02 00:00:00.000001'", change.DateTime(86_400_000_001)},
		{"TIMESTAMP", "TIMESTAMP '2025-03-09 08:07:06.503001+00'", change.Timestamp(1_741_507_626_503_001)},
		{"TIMESTAMP", "TIMESTAMP '1969-12-31 23:59:59.999999+00'", change.Timestamp(-1)},
		{"JSON", `JSON '{"a":[1,2.5]}'`, change.JSON(`{"a":[1,2.5]}`)},
		// Google's client would make 0-1 of the first and -4:5:6.-7 of the third.
		{"INTERVAL", "CAST('-0-1 0 0:0:0' AS INTERVAL)", change.Interval("-0-1 0 0:0:0")},
		{"INTERVAL", "CAST('0-0 0 -0:0:1' AS INTERVAL)", change.Interval("0-0 0 -0:0:1")},
		{"INTERVAL", "CAST('1-2 -3 -4:5:6.7' AS INTERVAL)", change.Interval("1-2 -3 -4:5:6.700")},
		{"INTERVAL", "NULL", change.Null()},
		{"INT64", "NULL", change.Null()},
		{"NUMERIC", "NULL", change.Null()},
	}
	var declared, names, literals []string
	for i, c := range columns {
		name := "c" + string(rune('a'+i))
		declared, names, literals = append(declared, name+" "+c.typ), append(names, name), append(literals, c.literal)
	}
	q.run(t, "CREATE TABLE shop.typed (id NUMERIC, "+strings.Join(declared, ", ")+")")
	q.run(t, "INSERT INTO shop.typed (id, "+strings.Join(names, ", ")+") VALUES (7, "+strings.Join(literals, ", ")+")")
	reference := &enrichment.Reference{Key: []table.Column{{Name: "id", Type: table.Int64}}, Texts: []bool{false}, Columns: names}
	for _, lookup := range []table.Lookup{{Table: "demo.shop.typed"}, {Query: "SELECT * FROM shop.typed"}} {
		r, err := openReference(t.Context(), q.config, enrichment.Join{Lookup: &lookup, Reference: reference})
		if err != nil {
			t.Fatal(err)
		}
		key, err := change.AppendKeyValue(nil, change.Int64(7)) // a NUMERIC that is a whole number equals an INT64
		if err != nil {
			t.Fatal(err)
		}
		values := make([]change.Value, len(columns))
		if !r.index.Load().Find(key, values) {
			t.Fatal("the row is not found")
		}
		for i, c := range columns {
			got, want := change.AppendValue(nil, &values[i]), change.AppendValue(nil, &c.want)
			if string(got) != string(want) {
				t.Errorf("%s %s: %v %q %d, want %v", c.typ, c.literal, values[i].Kind(), values[i].Text(), values[i].Uint(), c.want.Kind())
			}
		}
	}
}

func TestReadBigQuery_errors(t *testing.T) {
	q := newBigQuery(t)
	q.run(t, "CREATE TABLE shop.twice (id STRING, name STRING, tags ARRAY<STRING>, amount NUMERIC)")
	q.run(t, "INSERT INTO shop.twice (id, name, amount) VALUES ('7', 's3cret', 1), ('007', 's3cret', 2)")
	with := func(l table.Lookup, column string) enrichment.Join {
		j := join(l)
		j.Reference.Columns = []string{column}
		return j
	}
	for want, of := range map[string]enrichment.Join{
		"shop.twice: row 2: there is another row with the same key (id)": join(table.Lookup{Table: "shop.twice"}),
		"column tags is an ARRAY or a STRUCT":                            with(table.Lookup{Table: "shop.twice"}, "tags"),
		"nothing":                                                        join(table.Lookup{Table: "shop.nothing"}),
		"colour":                                                         with(table.Lookup{Table: "shop.customers"}, "colour"),
		"reading the reference that the query gives: ":                   join(table.Lookup{Query: "SELECT 1 +"}),
	} {
		_, err := openReference(t.Context(), q.config, of)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
