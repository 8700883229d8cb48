package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

// wantAPIError checks an error as Google's REST client returns it.
func wantAPIError(t *testing.T, err error, code int, reason, text string) {
	t.Helper()
	var e *googleapi.Error
	if !errors.As(err, &e) {
		t.Errorf("error %v, want %d %s", err, code, reason)
		return
	}
	if e.Code != code || len(e.Errors) != 1 || e.Errors[0].Reason != reason || !strings.Contains(e.Message, text) {
		t.Errorf("error %d %v %q, want %d %s %q", e.Code, e.Errors, e.Message, code, reason, text)
	}
}

func TestREST_Datasets(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	shop := e.bq.Dataset("shop")
	_, err := shop.Metadata(ctx)
	wantAPIError(t, err, 404, "notFound", "Not found: Dataset p:shop")
	if err := shop.Create(ctx, &bigquery.DatasetMetadata{Description: "a shop", Labels: map[string]string{"a": "1", "b": "2"}, Location: "EU"}); err != nil {
		t.Fatal(err)
	}
	wantAPIError(t, shop.Create(ctx, &bigquery.DatasetMetadata{}), 409, "duplicate", "Already Exists: Dataset p:shop")
	wantAPIError(t, e.bq.Dataset("no-dash").Create(ctx, &bigquery.DatasetMetadata{}), 400, "invalid", "Invalid dataset ID")
	before, err := shop.Metadata(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if before.Description != "a shop" || before.Location != "EU" || before.FullID != "p:shop" || time.Since(before.CreationTime) > time.Hour {
		t.Errorf("metadata %+v", before)
	}
	update := bigquery.DatasetMetadataToUpdate{Description: "the shop"}
	update.SetLabel("c", "3")
	update.DeleteLabel("a")
	after, err := shop.Update(ctx, update, before.ETag)
	if err != nil {
		t.Fatal(err)
	}
	if after.Description != "the shop" || len(after.Labels) != 2 || after.Labels["c"] != "3" || after.ETag == before.ETag || after.Location != "EU" {
		t.Errorf("metadata %+v", after)
	}
	_, err = shop.Update(ctx, update, before.ETag)
	wantAPIError(t, err, 412, "conditionNotMet", "Precondition")
	if err := shop.Table("t").Create(ctx, &bigquery.TableMetadata{Schema: parseTestSchema("id INTEGER")}); err != nil {
		t.Fatal(err)
	}
	if table, err := shop.Table("t").Metadata(ctx); err != nil || table.Location != "EU" {
		t.Errorf("table %+v, error %v", table, err)
	}
	var names []string
	for it := e.bq.Datasets(ctx); ; {
		d, err := it.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, d.DatasetID)
	}
	if !slices.Equal(names, []string{"d", "shop"}) {
		t.Errorf("datasets %v", names)
	}
	wantAPIError(t, shop.Delete(ctx), 400, "resourceInUse", "still in use")
	if err := shop.DeleteWithContents(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = shop.Table("t").Metadata(ctx)
	wantAPIError(t, err, 404, "notFound", "Not found: Dataset p:shop")
}

func TestREST_Tables(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	orders := e.bq.Dataset("d").Table("orders")
	_, err := orders.Metadata(ctx)
	wantAPIError(t, err, 404, "notFound", "Not found: Table p:d.orders")
	schema := bigquery.Schema{
		{Name: "id", Type: bigquery.IntegerFieldType, Required: true, Description: "the order"},
		{Name: "total", Type: bigquery.NumericFieldType, Precision: 12, Scale: 2},
		{Name: "placed", Type: bigquery.TimestampFieldType, DefaultValueExpression: "CURRENT_TIMESTAMP()"},
		{Name: "tags", Type: bigquery.StringFieldType, Repeated: true},
		{Name: "address", Type: bigquery.RecordFieldType, Schema: bigquery.Schema{{Name: "city", Type: bigquery.StringFieldType, MaxLength: 30}}},
		{Name: "valid", Type: bigquery.RangeFieldType, RangeElementType: &bigquery.RangeElementType{Type: bigquery.DateFieldType}},
	}
	created := &bigquery.TableMetadata{
		Schema: schema, Description: "orders", Labels: map[string]string{"team": "shop"},
		Clustering:       &bigquery.Clustering{Fields: []string{"id"}},
		TimePartitioning: &bigquery.TimePartitioning{Type: bigquery.MonthPartitioningType, Field: "placed"},
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
		MaxStaleness:     &bigquery.IntervalValue{Minutes: 15},
	}
	if err := orders.Create(ctx, created); err != nil {
		t.Fatal(err)
	}
	wantAPIError(t, orders.Create(ctx, created), 409, "duplicate", "Already Exists: Table p:d.orders")
	_, err = e.bq.Dataset("d").Table("orders$__PARTITIONS_SUMMARY__").Metadata(ctx)
	wantAPIError(t, err, 501, "notImplemented", "orders$__PARTITIONS_SUMMARY__ is not implemented by this emulator")
	wantAPIError(t, e.bq.Dataset("no").Table("t").Create(ctx, created), 404, "notFound", "Not found: Dataset p:no")
	before, err := orders.Metadata(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Schema) != 6 || before.Schema[4].Schema[0].MaxLength != 30 || before.Schema[1].Scale != 2 || before.Schema[5].RangeElementType.Type != bigquery.DateFieldType ||
		!before.Schema[0].Required || !before.Schema[3].Repeated || before.Schema[2].DefaultValueExpression != "CURRENT_TIMESTAMP()" {
		t.Errorf("schema %+v", before.Schema)
	}
	if before.MaxStaleness.Minutes != 15 || before.TimePartitioning.Field != "placed" || before.Clustering.Fields[0] != "id" ||
		before.TableConstraints.PrimaryKey.Columns[0] != "id" || before.Type != bigquery.RegularTable || before.FullID != "p:d.orders" {
		t.Errorf("metadata %+v", before)
	}
	after, err := orders.Update(ctx, bigquery.TableMetadataToUpdate{Description: "all orders", MaxStaleness: &bigquery.IntervalValue{Hours: 1}}, before.ETag)
	if err != nil {
		t.Fatal(err)
	}
	if after.Description != "all orders" || after.MaxStaleness.Hours != 1 || after.ETag == before.ETag || after.Labels["team"] != "shop" {
		t.Errorf("metadata %+v", after)
	}
	_, err = orders.Update(ctx, bigquery.TableMetadataToUpdate{Description: "stale"}, before.ETag)
	wantAPIError(t, err, 412, "conditionNotMet", "Precondition")
	var names []string
	e.table("aaa", "id INTEGER")
	for it := e.bq.Dataset("d").Tables(ctx); ; {
		table, err := it.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, table.TableID)
	}
	if !slices.Equal(names, []string{"aaa", "orders"}) {
		t.Errorf("tables %v", names)
	}
	if err := orders.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	wantAPIError(t, orders.Delete(ctx), 404, "notFound", "Not found: Table p:d.orders")
}

func TestREST_BadTables(t *testing.T) {
	e := newEnv(t, Options{})
	key := func(names ...string) *bigquery.TableConstraints {
		return &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: names}}
	}
	for _, test := range []struct {
		name     string
		metadata bigquery.TableMetadata
		text     string
	}{
		{"unknown type", bigquery.TableMetadata{Schema: parseTestSchema("id INTEGERS")}, "not a valid value"},
		{"duplicate", bigquery.TableMetadata{Schema: parseTestSchema("id INTEGER, ID STRING")}, "Duplicate field name: ID"},
		{"reserved", bigquery.TableMetadata{Schema: parseTestSchema("_change_type STRING")}, "not allowed to start with"},
		{"bad name", bigquery.TableMetadata{Schema: parseTestSchema("a.b STRING")}, "Invalid field name"},
		{"empty struct", bigquery.TableMetadata{Schema: parseTestSchema("a RECORD")}, "has no schema"},
		{"key of BYTES", bigquery.TableMetadata{Schema: parseTestSchema("a BYTES"), TableConstraints: key("a")}, "Primary key column cannot be of type BYTES. Invalid column: a."},
		{"key of FLOAT", bigquery.TableMetadata{Schema: parseTestSchema("a FLOAT"), TableConstraints: key("a")}, "Primary key column cannot be of type FLOAT"},
		{"absent key", bigquery.TableMetadata{Schema: parseTestSchema("a STRING"), TableConstraints: key("b")}, "Primary key column not found: b"},
		{"array key", bigquery.TableMetadata{Schema: parseTestSchema("a STRING REPEATED"), TableConstraints: key("a")}, "cannot be of type ARRAY"},
		{"clustering", bigquery.TableMetadata{Schema: parseTestSchema("a STRING"), Clustering: &bigquery.Clustering{Fields: []string{"b"}}}, "clustering cannot be found"},
		{"partitioning", bigquery.TableMetadata{Schema: parseTestSchema("a STRING"), TimePartitioning: &bigquery.TimePartitioning{Field: "a"}}, "can only be of type"},
		{"default", bigquery.TableMetadata{Schema: bigquery.Schema{{Name: "a", Type: "INTEGER", DefaultValueExpression: "1 + 1"}}}, "Invalid default value expression"},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantAPIError(t, e.bq.Dataset("d").Table("t").Create(t.Context(), &test.metadata), 400, "invalid", test.text)
		})
	}
	for _, body := range []string{"", "{", "[]", "null", `{"tableReference":{"tableId":3}}`, `{"schema":{"fields":[null]},"tableReference":{"tableId":"t"}}`, strings.Repeat("[", 100_000)} {
		r, err := http.Post(e.RESTAddr()+"/bigquery/v2/projects/p/datasets/d/tables", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Error struct {
				Code   int    `json:"code"`
				Status string `json:"status"`
			} `json:"error"`
		}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.StatusCode != 400 || answer.Error.Code != 400 || answer.Error.Status != "INVALID_ARGUMENT" {
			t.Errorf("%.20q: %d %+v %v", body, r.StatusCode, answer, err)
		}
		_ = r.Body.Close()
	}
}

// Views: their schema is their query's, and they can be queried.
func TestREST_Views(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	e.table("t", "id INTEGER, v STRING", "id")
	e.insert("t", "", `{"id":1,"v":"a"}`)
	view := e.bq.Dataset("d").Table("v")
	if err := view.Create(ctx, &bigquery.TableMetadata{ViewQuery: "SELECT id, UPPER(v) AS u FROM d.t", Description: "a view"}); err != nil {
		t.Fatal(err)
	}
	metadata, err := view.Metadata(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if metadata.Type != bigquery.ViewTable || len(metadata.Schema) != 2 || metadata.Schema[1].Name != "u" || metadata.UseLegacySQL || metadata.Description != "a view" {
		t.Errorf("metadata %+v", metadata)
	}
	wantStrings(t, e.query("SELECT * FROM d.v"), "[1 A]")
	if rows, err := e.Rows(ctx, "d", "v"); err != nil || len(rows) != 1 || string(rows[0]) != `{"id":"1","u":"A"}` {
		t.Errorf("rows %s, error %v", rows, err)
	}
	if metadata, err = view.Update(ctx, bigquery.TableMetadataToUpdate{ViewQuery: "SELECT v, id, 1.5 AS n FROM d.t", Description: "changed"}, metadata.ETag); err != nil {
		t.Fatal(err)
	}
	if len(metadata.Schema) != 3 || metadata.Description != "changed" {
		t.Errorf("metadata %+v", metadata)
	}
	wantStrings(t, e.query("SELECT * FROM d.v"), "[a 1 1.5]")
	_, err = view.Update(ctx, bigquery.TableMetadataToUpdate{ViewQuery: "SELECT nope"}, "")
	wantAPIError(t, err, 400, "invalidQuery", "nope")
	wantAPIError(t, e.bq.Dataset("d").Table("w").Create(ctx, &bigquery.TableMetadata{ViewQuery: "SELECT * FROM d.absent"}), 404, "notFound", "p:d.absent")
	wantAPIError(t, e.bq.Dataset("d").Table("w").Create(ctx, &bigquery.TableMetadata{ViewQuery: "SELECT 1", UseLegacySQL: true}), 501, "notImplemented", "legacy SQL")
	wantAPIError(t, e.bq.Dataset("d").Table("w").Create(ctx, &bigquery.TableMetadata{MaterializedView: &bigquery.MaterializedViewDefinition{Query: "SELECT 1"}}), 501, "notImplemented", "materialized views")
	wantAPIError(t, e.bq.Dataset("d").Table("w").Create(ctx, &bigquery.TableMetadata{ViewQuery: "-- nothing"}), 400, "invalid", "must be one SELECT")
	if err := view.Delete(ctx); err != nil {
		t.Error(err)
	}
}

// What tables.get shows of a table's size: what was applied, and what is pending.
func TestREST_Size(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	table := e.bq.Dataset("d").Table("t")
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"abc","_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t")
	w.append(`{"id":2,"v":"abc","_CHANGE_TYPE":"UPSERT"}`, `{"id":3,"v":"abc","_CHANGE_TYPE":"UPSERT"}`)
	metadata, err := table.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if metadata.NumRows != 1 || metadata.NumBytes != 13 || metadata.StreamingBuffer == nil || metadata.StreamingBuffer.EstimatedRows != 2 {
		t.Errorf("%d rows, %d bytes, buffer %+v", metadata.NumRows, metadata.NumBytes, metadata.StreamingBuffer)
	}
	e.merge("t")
	if metadata, err = table.Metadata(t.Context()); err != nil || metadata.NumRows != 3 || metadata.StreamingBuffer != nil {
		t.Errorf("metadata %+v, error %v", metadata, err)
	}
	if _, resource := e.do("GET", "/projects/p/datasets/d/tables/t?view=BASIC", ""); resource["numRows"] != nil || resource["schema"] == nil {
		t.Errorf("view=BASIC: %v", resource)
	}
	if _, list := e.do("GET", "/bigquery/v2/projects", ""); fmt.Sprint(list["projects"].([]any)[0].(map[string]any)["id"]) != "p" {
		t.Errorf("projects.list: %v", list)
	}
	if _, account := e.do("GET", "/projects/p/serviceAccount", ""); account["email"] == nil {
		t.Errorf("projects.getServiceAccount: %v", account)
	}
	// Java's clients send PATCH so.
	if code, answer := e.do("POST", "/projects/p/datasets/d/tables/t", `{"description":"x"}`, "X-HTTP-Method-Override", "PATCH"); code != 200 || answer["description"] != "x" {
		t.Errorf("a PATCH in a POST: %d %v", code, answer)
	}
}

// A schema change takes effect at once, on what is stored and on open connections.
func TestREST_SchemaChange(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	e.table("t", "id INTEGER REQUIRED, a STRING REQUIRED", "id")
	w := e.writer("t", true)
	w.append(`{"id":1,"a":"one","_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t")
	w.append(`{"id":2,"a":"two","_CHANGE_TYPE":"UPSERT"}`)
	table := e.bq.Dataset("d").Table("t")
	update := func(columns string) error {
		_, err := table.Update(ctx, bigquery.TableMetadataToUpdate{Schema: parseTestSchema(columns)}, "")
		return err
	}
	wantAPIError(t, update("id INTEGER REQUIRED"), 400, "invalid", "Provided Schema does not match Table p:d.t. Field a is missing in new schema")
	wantAPIError(t, update("id INTEGER REQUIRED, a INTEGER"), 400, "invalid", "Field a has changed type from STRING to INTEGER")
	wantAPIError(t, update("id INTEGER REQUIRED, a STRING, b STRING REQUIRED"), 400, "invalid", "Cannot add required fields to an existing schema. (field: b)")
	wantAPIError(t, update("id INTEGER REQUIRED, a STRING REPEATED"), 400, "invalid", "has changed mode from REQUIRED to REPEATED")
	if err := update("id INTEGER REQUIRED, b STRING REPEATED, a STRING, c NUMERIC"); err != nil {
		t.Fatal(err)
	}
	r := w.send(w.request(`{"id":3,"a":"three","_CHANGE_TYPE":"UPSERT"}`))
	if r.GetError() != nil || len(r.GetUpdatedSchema().GetFields()) != 4 {
		t.Errorf("the first response after a change: %v", r)
	}
	if r := w.send(w.request(`{"id":3,"a":"three","_CHANGE_TYPE":"UPSERT"}`)); r.GetError() != nil || r.GetUpdatedSchema() != nil {
		t.Errorf("the second response after a change: %v", r)
	}
	e.writer("t", true).append(`{"id":4,"b":["x"],"_CHANGE_TYPE":"UPSERT"}`)
	want := []string{
		`{"id":"1","b":[],"a":"one","c":null}`, `{"id":"2","b":[],"a":"two","c":null}`,
		`{"id":"3","b":[],"a":"three","c":null}`, `{"id":"4","b":["x"],"a":null,"c":null}`,
	}
	e.want("t", want...)
	e.merge("t")
	e.want("t", want...)
}

// A STRUCT gets a field, in columns that are arrays too.
func TestREST_StructChange(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	record := func(repeated bool, fields ...string) *bigquery.FieldSchema {
		f := &bigquery.FieldSchema{Name: "s", Type: bigquery.RecordFieldType, Repeated: repeated}
		for _, name := range fields {
			f.Schema = append(f.Schema, &bigquery.FieldSchema{Name: name, Type: bigquery.StringFieldType})
		}
		return f
	}
	id := &bigquery.FieldSchema{Name: "id", Type: bigquery.IntegerFieldType}
	for name, repeated := range map[string]bool{"one": false, "many": true} {
		table := e.bq.Dataset("d").Table(name)
		if err := table.Create(ctx, &bigquery.TableMetadata{
			Schema:           bigquery.Schema{id, record(repeated, "a")},
			TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
		}); err != nil {
			t.Fatal(err)
		}
		value := func(text string) string {
			if repeated {
				return "[" + text + "]"
			}
			return text
		}
		e.writer(name, true).append(`{"id":1,"s":` + value(`{"a":"x"}`) + `,"_CHANGE_TYPE":"UPSERT"}`)
		if _, err := table.Update(ctx, bigquery.TableMetadataToUpdate{Schema: bigquery.Schema{id, record(repeated, "b", "a")}}, ""); err != nil {
			t.Fatal(err)
		}
		e.writer(name, true).append(`{"id":2,"s":` + value(`{"a":"y","b":"z"}`) + `,"_CHANGE_TYPE":"UPSERT"}`)
		e.want(name, `{"id":"1","s":`+value(`{"b":null,"a":"x"}`)+`}`, `{"id":"2","s":`+value(`{"b":"z","a":"y"}`)+`}`)
	}
}

// A primary key that changes: what is pending was sent for the old one.
func TestREST_KeyChange(t *testing.T) {
	e := newEnv(t, Options{})
	ctx := t.Context()
	e.table("t", "a INTEGER, b INTEGER, v STRING", "a")
	w := e.writer("t", true)
	w.append(`{"a":1,"b":1,"v":"x","_CHANGE_TYPE":"UPSERT"}`, `{"a":1,"b":2,"v":"y","_CHANGE_TYPE":"UPSERT"}`)
	_, err := e.bq.Dataset("d").Table("t").Update(ctx, bigquery.TableMetadataToUpdate{
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"a", "b"}}},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.append(`{"a":1,"b":1,"v":"z","_CHANGE_TYPE":"UPSERT"}`)
	e.want("t", `{"a":"1","b":"1","v":"z"}`, `{"a":"1","b":"2","v":"y"}`)
}

// A table that is deleted is gone for open connections too, and may come back.
func TestREST_DeleteTable(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
	if err := e.bq.Dataset("d").Table("t").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	const row = `{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`
	if r := w.send(w.request(row)); r.GetError().GetCode() != 5 {
		t.Errorf("appending to a deleted table: %v", r)
	}
	if _, err := e.Rows(t.Context(), "d", "t"); err == nil || !strings.Contains(err.Error(), "Not found: Table p:d.t") {
		t.Errorf("reading a deleted table: %v", err)
	}
	e.table("t", "id INTEGER, v STRING", "id")
	w.append(row)
	e.want("t", `{"id":"2","v":"b"}`)
}

// Google's client reads the rows back through tabledata.list, page by page.
func TestREST_TableData(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, f FLOAT, b BOOLEAN, at TIMESTAMP, day DATE, tags STRING REPEATED, raw BYTES", "id")
	e.writer("t", true).append(
		`{"id":1,"f":1.5,"b":true,"at":"-1500000","day":-1,"tags":["x","y"],"raw":"AAE=","_CHANGE_TYPE":"UPSERT"}`,
		`{"id":2,"_CHANGE_TYPE":"UPSERT"}`,
		`{"id":3,"_CHANGE_TYPE":"UPSERT"}`,
	)
	it := e.bq.Dataset("d").Table("t").Read(t.Context())
	it.PageInfo().MaxSize = 2
	var rows [][]bigquery.Value
	for {
		var row []bigquery.Value
		if err := it.Next(&row); errors.Is(err, iterator.Done) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) != 3 || it.TotalRows != 3 {
		t.Fatalf("%d rows of %d", len(rows), it.TotalRows)
	}
	first := rows[0]
	if first[0] != int64(1) || first[1] != 1.5 || first[2] != true || !first[3].(time.Time).Equal(time.UnixMicro(-1_500_000)) ||
		fmt.Sprint(first[4]) != "1969-12-31" || len(first[5].([]bigquery.Value)) != 2 || string(first[6].([]byte)) != "\x00\x01" {
		t.Errorf("row %v", first)
	}
	if rows[1][0] != int64(2) || rows[1][1] != nil || rows[1][3] != nil {
		t.Errorf("row %v", rows[1])
	}
}

// What other processes read: the rows in Server.Rows' form, the counts, health.
func TestREST_Admin(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	e.writer("t", true).append(`{"id":1,"v":"ü\u2028\"","_CHANGE_TYPE":"UPSERT"}`)
	for path, want := range map[string]string{
		"/healthz": "ok\n",
		"/emulator/v1/projects/p/datasets/d/tables/t/rows": "{\"rows\":[{\"id\":\"1\",\"v\":\"ü\\u2028\\\"\"}]}",
		"/emulator/v1/stats": `{"requests":1,"errors":0,"rows":1,"row_errors":0,"commits":1,"merges":0,"pending":1,"tables":1}`,
	} {
		r, err := http.Get(e.RESTAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || string(body) != want {
			t.Errorf("%s: %s %v, want %s", path, body, err, want)
		}
	}
	r, err := http.Get(e.RESTAddr() + "/bigquery/v2/projects/p/datasets/d/routines")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusNotImplemented {
		t.Errorf("routines.list: %s", r.Status)
	}
}

// do sends a REST request by hand and decodes the answer.
func (e *env) do(method, path, body string, header ...string) (int, map[string]any) {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.RESTAddr()+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var decoded map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&decoded); err != nil && !errors.Is(err, io.EOF) {
		e.t.Fatal(err)
	}
	return answer.StatusCode, decoded
}

// What Go's client doesn't use: GoogleSQL's type names, PUT, TIMESTAMP in seconds,
// pages of lists.
func TestREST_OtherClients(t *testing.T) {
	e := newEnv(t, Options{})
	const tables = "/bigquery/v2/projects/p/datasets/d/tables"
	code, table := e.do("POST", tables, `{"tableReference":{"tableId":"t"},"schema":{"fields":[
		{"name":"id","type":"int64"},{"name":"f","type":"FLOAT64"},{"name":"b","type":"bool"},{"name":"d","type":"DECIMAL"},{"name":"bd","type":"BIGDECIMAL"},
		{"name":"ts","type":"TIMESTAMP"},{"name":"s","type":"STRUCT","mode":"repeated","fields":[{"name":"x","type":"TIMESTAMP"}]},
		{"name":"r","type":"RANGE","rangeElementType":{"type":"timestamp"}}]},
		"tableConstraints":{"primaryKey":{"columns":["id"]}}}`)
	if code != 200 {
		t.Fatal(code, table)
	}
	var names []string
	for _, f := range table["schema"].(map[string]any)["fields"].([]any) {
		names = append(names, f.(map[string]any)["type"].(string))
	}
	if want := "INTEGER FLOAT BOOLEAN NUMERIC BIGNUMERIC TIMESTAMP RECORD RANGE"; strings.Join(names, " ") != want {
		t.Errorf("types %v, want %s", names, want)
	}
	message := e.descriptor("t", true)
	e.writerWith("t", message).append(`{"id":1,"f":"NaN","b":false,"ts":"-1","s":[{"x":"1500000"}],"r":{"end":"5"},"_CHANGE_TYPE":"UPSERT"}`)
	_, data := e.do("GET", tables+"/t/data", "")
	text, err := json.Marshal(data["rows"])
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"f":[{"v":"1"},{"v":"NaN"},{"v":"false"},{"v":null},{"v":null},{"v":"-0.000001"},{"v":[{"v":{"f":[{"v":"1.500000"}]}}]},{"v":"[UNBOUNDED, 0.000005)"}]}]`; string(text) != want {
		t.Errorf("rows %s, want %s", text, want)
	}
	if code, _ := e.do("GET", tables+"/t/data?maxResults=x", ""); code != 400 {
		t.Errorf("a bad maxResults: %d", code)
	}
	_, data = e.do("GET", tables+"/t/data?selectedFields=s.X,id", "")
	if text, err = json.Marshal(data["rows"]); err != nil || string(text) != `[{"f":[{"v":"1"},{"v":[{"v":{"f":[{"v":"1.500000"}]}}]}]}]` {
		t.Errorf("selectedFields: %s %v", text, err)
	}
	for _, fields := range []string{"nope", "id.x", "s.nope"} {
		if code, _ := e.do("GET", tables+"/t/data?selectedFields="+fields, ""); code != 400 {
			t.Errorf("selectedFields=%s: %d", fields, code)
		}
	}

	resource := map[string]any{"tableReference": table["tableReference"], "description": "put", "schema": table["schema"]}
	body, err := json.Marshal(resource)
	if err != nil {
		t.Fatal(err)
	}
	if code, answer := e.do("PUT", tables+"/t", string(body), "If-Match", "wrong"); code != 412 {
		t.Errorf("PUT with a wrong ETag: %d %v", code, answer)
	}
	code, answer := e.do("PUT", tables+"/t", string(body), "If-Match", table["etag"].(string))
	if code != 200 || answer["description"] != "put" || answer["tableConstraints"] != nil || answer["etag"] == table["etag"] {
		t.Errorf("PUT: %d %v", code, answer)
	}
	if code, answer = e.do("PUT", "/projects/p/datasets/d", `{"friendlyName":"data"}`); code != 200 || answer["friendlyName"] != "data" || answer["location"] != "US" {
		t.Errorf("PUT of a dataset: %d %v", code, answer)
	}
	for _, name := range []string{"u", "v", "w"} {
		e.table(name, "id INTEGER")
	}
	names = nil
	for path := tables + "?maxResults=3"; path != ""; {
		_, list := e.do("GET", path, "")
		for _, entry := range list["tables"].([]any) {
			names = append(names, entry.(map[string]any)["id"].(string))
		}
		path = ""
		if token, ok := list["nextPageToken"].(string); ok {
			path = tables + "?maxResults=3&pageToken=" + token
		}
	}
	if strings.Join(names, " ") != "p:d.t p:d.u p:d.v p:d.w" {
		t.Errorf("tables %v", names)
	}
	for _, query := range []string{"?pageToken=99", "?pageToken=x", "?maxResults=-1"} {
		if code, _ := e.do("GET", tables+query, ""); code != 400 {
			t.Errorf("%s: %d", query, code)
		}
	}
}

// Whoever asks has every permission; a table that isn't there, and other methods
// after a colon, are refused.
func TestREST_TestIamPermissions(t *testing.T) {
	e := newEnv(t, Options{})
	if err := e.bq.Dataset("d").Table("t").Create(t.Context(), &bigquery.TableMetadata{Schema: bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}}}); err != nil {
		t.Fatal(err)
	}
	service, err := bq.NewService(t.Context(), option.WithEndpoint(e.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	request := &bq.TestIamPermissionsRequest{Permissions: []string{"bigquery.tables.get", "bigquery.tables.updateData"}}
	got, err := service.Tables.TestIamPermissions("projects/p/datasets/d/tables/t", request).Do()
	if err != nil || !slices.Equal(got.Permissions, request.Permissions) {
		t.Errorf("%v, %v", got, err)
	}
	_, err = service.Tables.TestIamPermissions("projects/p/datasets/d/tables/other", request).Do()
	wantAPIError(t, err, 404, "notFound", "Not found: Table p:d.other")
	_, err = service.Tables.GetIamPolicy("projects/p/datasets/d/tables/t", &bq.GetIamPolicyRequest{}).Do()
	wantAPIError(t, err, 501, "notImplemented", "is not implemented by this emulator")
}
