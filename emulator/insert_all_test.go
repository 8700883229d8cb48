package emulator

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
)

const insertInto = "/bigquery/v2/projects/p/datasets/d/tables/%s/insertAll"

// insert sends rows by hand, and returns the errors as "index reason location" each.
func (e *env) insert(table, options string, rows ...string) []string {
	e.t.Helper()
	for i, row := range rows {
		rows[i] = `{"json":` + row + `}`
	}
	code, answer := e.do("POST", fmt.Sprintf(insertInto, table), `{`+options+`"rows":[`+strings.Join(rows, ",")+`]}`)
	if code != 200 {
		e.t.Fatalf("%d %v", code, answer)
	}
	return insertErrors(answer)
}

func insertErrors(answer map[string]any) []string {
	list := []string{}
	errs, _ := answer["insertErrors"].([]any)
	for _, entry := range errs {
		row := entry.(map[string]any)
		for _, problem := range row["errors"].([]any) {
			p := problem.(map[string]any)
			list = append(list, strings.TrimSpace(fmt.Sprintf("%v %v %v", row["index"], p["reason"], p["location"])))
		}
	}
	return list
}

// Google's client: structs, insertIds of its own, errors by row.
func TestInsertAll_Client(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	type item struct {
		ID    int64
		At    time.Time
		Price *big.Rat
		Tags  []string
		Raw   []byte
		Note  bigquery.NullString
		Where struct{ City string }
	}
	schema, err := bigquery.InferSchema(item{})
	if err != nil {
		t.Fatal(err)
	}
	table := e.bq.Dataset("d").Table("t")
	if err := table.Create(ctx, &bigquery.TableMetadata{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	a := item{ID: 1, At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Price: big.NewRat(5, 4), Tags: []string{"x", "y"}, Raw: []byte{0, 255}}
	a.Where.City = "Köln"
	b := item{ID: 2, At: a.At, Price: big.NewRat(1, 1), Tags: []string{}, Raw: []byte{}, Note: bigquery.NullString{StringVal: "n", Valid: true}}
	if err := table.Inserter().Put(ctx, []item{a, b}); err != nil {
		t.Fatal(err)
	}
	e.want("t",
		`{"ID":"1","At":"2026-01-02T03:04:05.000006Z","Price":"1.25","Tags":["x","y"],"Raw":"AP8=","Note":null,"Where":{"City":"Köln"}}`,
		`{"ID":"2","At":"2026-01-02T03:04:05.000006Z","Price":"1","Tags":[],"Raw":"","Note":"n","Where":{"City":""}}`)

	e.table("u", "id INTEGER REQUIRED, v STRING")
	row := func(id any, insertID string) *bigquery.ValuesSaver {
		return &bigquery.ValuesSaver{Schema: parseTestSchema("id INTEGER, v STRING"), Row: []bigquery.Value{id, "x"}, InsertID: insertID}
	}
	err = e.bq.Dataset("d").Table("u").Inserter().Put(ctx, []*bigquery.ValuesSaver{row(1, "a"), row(nil, "b")})
	var multi bigquery.PutMultiError
	if !errors.As(err, &multi) || len(multi) != 2 || multi[1].InsertID != "b" || !strings.Contains(multi[1].Error(), "Missing required field: id.") {
		t.Errorf("error %v", err)
	}
	e.want("u")
	inserter := e.bq.Dataset("d").Table("u").Inserter()
	inserter.SkipInvalidRows = true
	if err = inserter.Put(ctx, []*bigquery.ValuesSaver{row(1, "a"), row(nil, "b"), row(1, "a")}); !errors.As(err, &multi) || len(multi) != 1 || multi[0].RowIndex != 1 {
		t.Errorf("error %v", err)
	}
	e.want("u", `{"id":"1","v":"x"}`)
	wantAPIError(t, e.bq.Dataset("d").Table("nope").Inserter().Put(ctx, row(1, "")), 404, "notFound", "Not found: Table p:d.nope")
}

// All types as JSON has them.
func TestInsertAll_Values(t *testing.T) {
	shared := newEnv(t, Options{})
	for _, test := range []struct {
		kind  string
		value string
		want  string // "" for an error at the field
	}{
		{"BOOLEAN", `true`, `true`},
		{"BOOLEAN", `"False"`, `false`},
		{"BOOLEAN", `"maybe"`, ``},
		{"BOOLEAN", `1`, ``},
		{"INTEGER", `9223372036854775807`, `"9223372036854775807"`},
		{"INTEGER", `"-9223372036854775808"`, `"-9223372036854775808"`},
		{"INTEGER", `9223372036854775808`, ``},
		{"INTEGER", `1.0`, `"1"`},
		{"INTEGER", `1e3`, `"1000"`},
		{"INTEGER", `1.5`, ``},
		{"INTEGER", `1.00000000000000000001`, ``},
		{"INTEGER", `"0x10"`, ``},
		{"INTEGER", `true`, ``},
		{"INTEGER", `[1]`, ``},
		{"INTEGER", `{}`, ``},
		{"FLOAT", `1.5`, `1.5`},
		{"FLOAT", `"NaN"`, `"NaN"`},
		{"FLOAT", `"-Infinity"`, `"-Infinity"`},
		{"FLOAT", `"0x1p3"`, ``},
		{"NUMERIC", `12345678901234567890123456789.123456789`, `"12345678901234567890123456789.123456789"`},
		{"NUMERIC", `"1.5"`, `"1.5"`},
		{"NUMERIC", `1e30`, ``},
		{"BIGNUMERIC", `0.00000000000000000000000000000000000001`, `"0.00000000000000000000000000000000000001"`},
		{"STRING", `"ü"`, `"ü"`},
		{"STRING", `1.50`, `"1.50"`},
		{"STRING", `true`, `"true"`},
		{"STRING", `{}`, ``},
		{"BYTES", `"AP8="`, `"AP8="`},
		{"BYTES", `"__8="`, `"//8="`},
		{"BYTES", `"A"`, ``},
		{"DATE", `"2026-02-28"`, `"2026-02-28"`},
		{"DATE", `"2026-02-30"`, ``},
		{"DATE", `20`, ``},
		{"TIME", `"1:2:3.5"`, `"01:02:03.500000"`},
		{"DATETIME", `"2026-02-28T01:02:03"`, `"2026-02-28T01:02:03.000000"`},
		{"DATETIME", `"2026-02-28 01:02:03.000001"`, `"2026-02-28T01:02:03.000001"`},
		{"TIMESTAMP", `"2026-02-28T01:02:03.000004Z"`, `"2026-02-28T01:02:03.000004Z"`},
		{"TIMESTAMP", `"2026-02-28 01:02:03+02:30"`, `"2026-02-27T22:32:03.000000Z"`},
		{"TIMESTAMP", `"2026-02-28 01:02:03 -08"`, `"2026-02-28T09:02:03.000000Z"`},
		{"TIMESTAMP", `"2026-02-28 01:02:03 UTC"`, `"2026-02-28T01:02:03.000000Z"`},
		{"TIMESTAMP", `"2026-07-28 01:02:03 Europe/Berlin"`, `"2026-07-27T23:02:03.000000Z"`},
		{"TIMESTAMP", `"2026-02-28"`, `"2026-02-28T00:00:00.000000Z"`},
		{"TIMESTAMP", `1.5`, `"1970-01-01T00:00:01.500000Z"`},
		{"TIMESTAMP", `"1408452095.220000"`, `"2014-08-19T12:41:35.220000Z"`},
		{"TIMESTAMP", `-0.000001`, `"1969-12-31T23:59:59.999999Z"`},
		{"TIMESTAMP", `1.4084520952e9`, `"2014-08-19T12:41:35.200000Z"`},
		{"TIMESTAMP", `1e30`, ``},
		{"TIMESTAMP", `"yesterday"`, ``},
		{"TIMESTAMP", `"2026-02-28 01:02:03 Nowhere/Else"`, ``},
		{"JSON", `"{\"a\":[1.50]}"`, `"{\"a\":[1.50]}"`},
		{"JSON", `{"a": [1.50]}`, `"{\"a\": [1.50]}"`},
		{"JSON", `"{"`, ``},
		{"INTERVAL", `"1-2 3 4:5:6"`, `"1-2 3 4:5:6"`},
		{"GEOGRAPHY", `"POINT(1 2)"`, `"POINT(1 2)"`},
		{"RANGE", `"[2026-01-01, UNBOUNDED)"`, `"[2026-01-01, UNBOUNDED)"`},
		{"RANGE", `{"start":"2026-01-01","end":"2026-01-02"}`, `"[2026-01-01, 2026-01-02)"`},
		{"RANGE", `"[2026-01-02, 2026-01-01)"`, ``},
		{"RANGE", `"2026-01-02"`, ``},
		{"STRING REPEATED", `["a","b"]`, `["a","b"]`},
		{"STRING REPEATED", `null`, `[]`},
		{"STRING REPEATED", `["a",null]`, ``},
		{"STRING REPEATED", `"a"`, ``},
		{"STRING", `null`, `null`},
	} {
		t.Run(test.kind+" "+test.value, func(t *testing.T) {
			e := &env{Server: shared.Server, t: t, bq: shared.bq}
			schema := parseTestSchema("v " + test.kind)
			if test.kind == "RANGE" {
				schema[0].RangeElementType = &bigquery.RangeElementType{Type: bigquery.DateFieldType}
			}
			table := e.bq.Dataset("d").Table("t")
			if err := table.Create(t.Context(), &bigquery.TableMetadata{Schema: schema}); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = table.Delete(t.Context()) }()
			got := e.insert("t", "", `{"v":`+test.value+`}`)
			if test.want == "" {
				wantStrings(t, got, "0 invalid v")
				e.want("t")
				return
			}
			wantStrings(t, got)
			e.want("t", `{"v":`+test.want+`}`)
		})
	}
}

func TestInsertAll_Errors(t *testing.T) {
	e := newEnv(t, Options{})
	schema := parseTestSchema("id INTEGER REQUIRED, v STRING")
	schema = append(schema, &bigquery.FieldSchema{Name: "s", Type: bigquery.RecordFieldType, Schema: parseTestSchema("a INTEGER REQUIRED, b STRING REPEATED")},
		&bigquery.FieldSchema{Name: "short", Type: bigquery.StringFieldType, MaxLength: 2},
		&bigquery.FieldSchema{Name: "made", Type: bigquery.StringFieldType, DefaultValueExpression: "'now'"})
	if err := e.bq.Dataset("d").Table("t").Create(t.Context(), &bigquery.TableMetadata{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	wantStrings(t, e.insert("t", "", `{"id":1}`, `{"id":"x"}`, `{"id":2}`), "0 stopped", "1 invalid id", "2 stopped")
	wantStrings(t, e.insert("t", "", `{"v":"x"}`, `{"id":null}`, `{"id":1,"s":{}}`, `{"id":1,"s":{"a":1,"c":2}}`, `{"id":1,"nope":1}`, `{"id":1,"short":"abc"}`, `[]`, `{"id":1,"ID":2}`),
		"0 invalid id", "1 invalid id", "2 invalid s.a", "3 invalid s.c", "4 invalid nope", "5 invalid short", "6 invalid", "7 invalid")
	e.want("t")
	wantStrings(t, e.insert("t", `"skipInvalidRows":true,"ignoreUnknownValues":true,`, `{"ID":1,"nope":{"x":1},"made":null}`, `{"id":"x"}`, `{"id":3,"s":{"A":1,"zz":0}}`), "1 invalid id")
	e.want("t", `{"id":"1","v":null,"s":null,"short":null,"made":null}`, `{"id":"3","v":null,"s":{"a":"1","b":[]},"short":null,"made":"now"}`)
	for body, want := range map[string]int{
		`{"rows":[]}`: 400, `{`: 400, `[]`: 400, `{"rows":[{"json":{"id":1}}],"templateSuffix":"x"}`: 501, `{"rows":3}`: 400,
	} {
		if code, answer := e.do("POST", fmt.Sprintf(insertInto, "t"), body); code != want {
			t.Errorf("%s: %d %v, want %d", body, code, answer, want)
		}
	}
	if code, answer := e.do("POST", fmt.Sprintf(insertInto, "t"), `{"rows":[{}]}`); code != 200 || len(insertErrors(answer)) != 1 {
		t.Errorf("a row without JSON: %d %v", code, answer)
	}
}

// The same insertId within a minute, by the emulator's clock, is the same row.
func TestInsertAll_Duplicates(t *testing.T) {
	clock := &Clock{}
	e := newEnv(t, Options{Clock: clock})
	clock.Freeze(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	e.table("t", "id INTEGER")
	e.table("u", "id INTEGER")
	send := func(table, insertID, id string) []string {
		_, answer := e.do("POST", fmt.Sprintf(insertInto, table), `{"rows":[{"insertId":"`+insertID+`","json":{"id":`+id+`}}]}`)
		return insertErrors(answer)
	}
	send("t", "a", "1")
	send("t", "a", "2")
	send("u", "a", "3")
	clock.Advance(59 * time.Second)
	send("t", "a", "4")
	e.want("t", `{"id":"1"}`)
	e.want("u", `{"id":"3"}`)
	clock.Advance(time.Second)
	send("t", "a", "5")
	e.want("t", `{"id":"1"}`, `{"id":"5"}`)
	// A row that wasn't stored may come again.
	wantStrings(t, send("t", "b", `"x"`), "0 invalid id")
	wantStrings(t, send("t", "b", "6"))
	wantStrings(t, send("t", "", "7"))
	wantStrings(t, send("t", "", "7"))
	e.want("t", `{"id":"1"}`, `{"id":"5"}`, `{"id":"6"}`, `{"id":"7"}`, `{"id":"7"}`)
}

// Many requests with one insertId at once store one row.
func TestInsertAll_DuplicatesAtOnce(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER")
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			body := fmt.Sprintf(`{"rows":[{"insertId":"a","json":{"id":1}},{"insertId":"own%d","json":{"id":2}}]}`, i)
			r, err := http.Post(e.RESTAddr()+fmt.Sprintf(insertInto, "t"), "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			_ = r.Body.Close()
		})
	}
	group.Wait()
	wantStrings(t, e.query("SELECT id, COUNT(*) FROM d.t GROUP BY id ORDER BY id"), "[1 1]", "[2 20]")
}

// "The documented window is 31 days in the past to 16 days in the future."
func TestInsertAll_Partitions(t *testing.T) {
	clock := &Clock{}
	e := newEnv(t, Options{Clock: clock})
	clock.Freeze(time.Date(2026, 10, 4, 12, 0, 0, 0, time.UTC))
	for name, kind := range map[string]bigquery.TimePartitioningType{"day": bigquery.DayPartitioningType, "month": bigquery.MonthPartitioningType, "hour": bigquery.HourPartitioningType} {
		if err := e.bq.Dataset("d").Table(name).Create(t.Context(), &bigquery.TableMetadata{Schema: parseTestSchema("id INTEGER"), TimePartitioning: &bigquery.TimePartitioning{Type: kind}}); err != nil {
			t.Fatal(err)
		}
	}
	e.table("plain", "id INTEGER")
	for table, want := range map[string]int{
		"day$20261004": 200, "day$20260903": 200, "day$20260902": 400, "day$20261020": 200, "day$20261021": 400, "day$202610": 400, "day$": 400, "day$x": 400,
		"day%2420261004": 200, "month$202609": 200, "month$202608": 400, "month$202611": 400, "hour$2026102023": 200, "hour$2026102100": 400, "plain$20261004": 400,
	} {
		if code, answer := e.do("POST", fmt.Sprintf(insertInto, table), `{"rows":[{"json":{"id":1}}]}`); code != want {
			t.Errorf("%s: %d %v, want %d", table, code, answer, want)
		}
	}
	if rows, err := e.Rows(t.Context(), "d", "day"); err != nil || len(rows) != 4 {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}

// A table that takes changes by primary key takes plain rows too, and a view none.
func TestInsertAll_OtherTables(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	e.writer("t", true).append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
	wantStrings(t, e.insert("t", "", `{"id":2,"v":"b"}`))
	e.want("t", `{"id":"1","v":"a"}`, `{"id":"2","v":"b"}`)
	e.query("CREATE VIEW d.v AS SELECT 1 AS id")
	if code, _ := e.do("POST", fmt.Sprintf(insertInto, "v"), `{"rows":[{"json":{"id":1}}]}`); code != 400 {
		t.Errorf("a view: %d", code)
	}
	got := e.query("SELECT table_id, error_code, total_requests, total_rows FROM `region-us`.INFORMATION_SCHEMA.STREAMING_TIMELINE ORDER BY 1")
	wantStrings(t, got, "[t OK 1 1]", "[v INVALID_ARGUMENT 1 1]")
}

// A body that isn't UTF-8, or not of the request's shape, is refused, in words that a
// caller knows.
func TestInsertAll_badBodies(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "v STRING")
	for body, want := range map[string]string{
		"{\"rows\":[{\"json\":{\"v\":\"\xff\"}}]}": "it is not UTF-8",
		`{"rows":3}`: `"rows" can't be of type number`,
		`[]`:         "can't be of type array",
	} {
		code, answer := e.do("POST", "/projects/p/datasets/d/tables/t/insertAll", body)
		text := fmt.Sprint(answer)
		if code != 400 || !strings.Contains(text, want) || strings.Contains(text, "Go ") {
			t.Errorf("%q: %d %s, want 400 and %q", body, code, text, want)
		}
	}
	e.want("t")
}
