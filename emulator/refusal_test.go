package emulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"beamcdc/emulator/internal/rowtest"
)

// wantError checks a response's error: its code, the StorageError in its details
// (0 for none) and the beginning of its text.
func wantError(t *testing.T, r *storagepb.AppendRowsResponse, code codes.Code, storage storagepb.StorageError_StorageErrorCode, text string) {
	t.Helper()
	e := r.GetError()
	if codes.Code(e.GetCode()) != code || !strings.HasPrefix(e.GetMessage(), text) {
		t.Errorf("error %s %q, want %s %q", codes.Code(e.GetCode()), e.GetMessage(), code, text)
	}
	var got storagepb.StorageError_StorageErrorCode
	for _, detail := range e.GetDetails() {
		se := &storagepb.StorageError{}
		if err := detail.UnmarshalTo(se); err != nil {
			t.Error(err)
		}
		got = se.GetCode()
	}
	if got != storage {
		t.Errorf("storage error %s, want %s", got, storage)
	}
}

// wantRowErrors checks the row errors: index and a part of the text of each.
func wantRowErrors(t *testing.T, r *storagepb.AppendRowsResponse, want map[int64]string) {
	t.Helper()
	wantError(t, r, codes.InvalidArgument, 0, "Errors found while processing rows. Please refer to the row_errors field for details.")
	if len(r.GetRowErrors()) != len(want) {
		t.Errorf("%d row errors, want %d: %v", len(r.GetRowErrors()), len(want), r.GetRowErrors())
	}
	for _, e := range r.GetRowErrors() {
		if text, ok := want[e.GetIndex()]; !ok || !strings.Contains(e.GetMessage(), text) || e.GetCode() != storagepb.RowError_FIELDS_ERROR {
			t.Errorf("row error %d %s %q, want %q", e.GetIndex(), e.GetCode(), e.GetMessage(), text)
		}
	}
}

func TestRefusal_Rows(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER REQUIRED, name STRING REQUIRED, n INTEGER", "id")
	w := e.writer("t", true)
	r := w.send(w.request(
		`{"id":1,"name":"good","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`,
		`{"name":"no key","_CHANGE_TYPE":"UPSERT"}`,
		`{"id":3,"_CHANGE_TYPE":"UPSERT"}`,
		`{"id":4,"name":"x","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":""}`,
		`{"id":4,"name":"x","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1/2/3/4/5"}`,
		`{"id":4,"name":"x","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"0x1"}`,
		`{"id":4,"name":"x","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"00000000000000001"}`,
		`{"id":4,"name":"x","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1/"}`,
		`{"_CHANGE_TYPE":"DELETE"}`,
	))
	wantRowErrors(t, r, map[int64]string{
		1: "Field id", 2: "Field name", 3: "_CHANGE_SEQUENCE_NUMBER", 4: "_CHANGE_SEQUENCE_NUMBER", 5: "_CHANGE_SEQUENCE_NUMBER",
		6: "_CHANGE_SEQUENCE_NUMBER", 7: "_CHANGE_SEQUENCE_NUMBER", 8: "Field id",
	})
	e.want("t") // nothing of the request was written
	w.append(`{"id":1,"name":"good","_CHANGE_TYPE":"UPSERT"}`)
	e.want("t", `{"id":"1","name":"good","n":null}`)
	if got := e.Stats(); got.Requests != 2 || got.Errors != 1 || got.RowErrors != 8 || got.Rows != 1 || got.Pending != 1 {
		t.Errorf("stats %+v", got)
	}
}

func TestRefusal_ChangeTypes(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	for _, word := range []string{"INSERT", "MERGE", "", "UPDATE", "upserts"} {
		w := e.writer("t", true)
		w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
		wantRowErrors(t, w.send(w.request(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`, fmt.Sprintf(`{"id":3,"v":"c","_CHANGE_TYPE":%q}`, word))),
			map[int64]string{1: "The given value is not a valid CHANGE_TYPE"})
	}
	w := e.writer("t", true)
	w.append(`{"id":9,"v":"plain","_CHANGE_TYPE":"INSERT"}`)
	wantRowErrors(t, w.send(w.request(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`)),
		map[int64]string{0: "The given value is not a valid CHANGE_TYPE in insert mode: UPSERT"})
	wantRowErrors(t, w.send(w.request(`{"id":2,"v":"b","_CHANGE_TYPE":"INSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`)),
		map[int64]string{0: "a row with a sequence needs a _CHANGE_TYPE of UPSERT or DELETE"})
	// Plain rows on a connection that has taken CDC rows, by another schema.
	w = e.writer("t", true)
	w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
	w.message, w.first = e.descriptor("t", false), true
	wantRowErrors(t, w.send(w.request(`{"id":2,"v":"plain"}`)), map[int64]string{0: "The given value is not a valid CHANGE_TYPE"})
	e.want("t", `{"id":"1","v":"a"}`, `{"id":"9","v":"plain"}`)
}

func TestRefusal_Requests(t *testing.T) {
	e := newEnv(t, Options{MaxRequestBytes: 10_000})
	e.table("keyless", "id INTEGER, v STRING")
	e.table("t", "id INTEGER, v STRING", "id")
	e.table("required", "id INTEGER, v STRING REQUIRED", "id")
	const row = `{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`
	first := func(table string, change func(r *storagepb.AppendRowsRequest)) *storagepb.AppendRowsResponse {
		t.Helper()
		w := e.writer(table, true)
		r := w.request(row)
		change(r)
		return w.send(r)
	}
	const extra, tableNotFound = storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS, storagepb.StorageError_TABLE_NOT_FOUND
	for _, test := range []struct {
		name    string
		table   string
		change  func(r *storagepb.AppendRowsRequest)
		code    codes.Code
		storage storagepb.StorageError_StorageErrorCode
		text    string
	}{
		{"no primary key", "keyless", func(*storagepb.AppendRowsRequest) {}, codes.InvalidArgument, 0, "The primary keys and clustering keys of the table p.d.keyless are required to create an upsert stream. Entity: "},
		{"absent table", "t", func(r *storagepb.AppendRowsRequest) { r.WriteStream = streamOf("absent") }, codes.NotFound, tableNotFound, "Requested entity was not found."},
		{"absent dataset", "t", func(r *storagepb.AppendRowsRequest) {
			r.WriteStream = "projects/p/datasets/no/tables/t/streams/_default"
		}, codes.NotFound, tableNotFound, "Requested entity was not found."},
		{"another stream", "t", func(r *storagepb.AppendRowsRequest) { r.WriteStream = "projects/p/datasets/d/tables/t/streams/abc" }, codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND, "Requested entity was not found."},
		{"an offset", "t", func(r *storagepb.AppendRowsRequest) { r.Offset = wrapperspb.Int64(0) }, codes.InvalidArgument, 0, "Offset"},
		{"Arrow", "t", func(r *storagepb.AppendRowsRequest) {
			r.Rows = &storagepb.AppendRowsRequest_ArrowRows{ArrowRows: &storagepb.AppendRowsRequest_ArrowData{}}
		}, codes.InvalidArgument, 0, "Arrow"},
		{"no rows at all", "t", func(r *storagepb.AppendRowsRequest) { r.Rows = nil }, codes.InvalidArgument, 0, "Request failed: data format unspecified"},
		{"no schema", "t", func(r *storagepb.AppendRowsRequest) { r.GetProtoRows().WriterSchema = nil }, codes.InvalidArgument, 0, "Invalid proto schema"},
		{"too large", "t", func(r *storagepb.AppendRowsRequest) { r.TraceId = strings.Repeat("x", 10_000) }, codes.InvalidArgument, 0, "AppendRows request too large: "},
		{"an extra field", "t", func(r *storagepb.AppendRowsRequest) {
			d := r.GetProtoRows().GetWriterSchema().GetProtoDescriptor()
			d.Field = append(d.Field, rowtest.StringField("surprise", 77))
		}, codes.InvalidArgument, extra, "Input schema has more fields than BigQuery schema, extra fields: 'surprise'"},
		{"a wrong type", "t", func(r *storagepb.AppendRowsRequest) {
			r.GetProtoRows().GetWriterSchema().GetProtoDescriptor().Field[0].Type = rowtest.StringField("", 0).Type
		}, codes.InvalidArgument, 0, "The proto field mismatched with BigQuery field at row.id, the proto field type string, BigQuery field type INTEGER"},
		{"a wrong mode", "t", func(r *storagepb.AppendRowsRequest) {
			r.GetProtoRows().GetWriterSchema().GetProtoDescriptor().Field[1].Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}, codes.InvalidArgument, 0, "The proto field mismatched with BigQuery field at row.v, the proto field type repeated string, BigQuery field type STRING"},
		{"a required column left out", "required", func(r *storagepb.AppendRowsRequest) {
			d := r.GetProtoRows().GetWriterSchema().GetProtoDescriptor()
			d.Field = slices.Delete(d.GetField(), 1, 2)
		}, codes.InvalidArgument, 0, "The required field v is missing in the proto message"},
		{"an undefined type", "t", func(r *storagepb.AppendRowsRequest) {
			f := r.GetProtoRows().GetWriterSchema().GetProtoDescriptor().GetField()[1]
			f.Type, f.TypeName = nil, new(".Nowhere")
		}, codes.InvalidArgument, 0, "Invalid proto schema"},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantError(t, first(test.table, test.change), test.code, test.storage, test.text)
		})
	}
	for _, table := range []string{"keyless", "t", "required"} {
		e.want(table)
	}
	e.writer("t", true).append() // a request without rows is none to refuse
	// The connection goes on after an error, and remembers what the request said.
	w := e.writer("t", true)
	r := w.request(row)
	r.Offset = wrapperspb.Int64(3)
	wantError(t, w.send(r), codes.InvalidArgument, 0, "Offset")
	w.append(row)
	e.want("t", `{"id":"1","v":"a"}`)
}

// The limit counts the whole request, and its text is BigQuery's.
func TestRefusal_RequestSize(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	w := e.writer("t", true)
	fits := w.request(fmt.Sprintf(`{"id":1,"v":%q,"_CHANGE_TYPE":"UPSERT"}`, strings.Repeat("x", 10_485_000)))
	for pad := DefaultMaxRequestBytes - proto.Size(fits); pad != 0; pad = DefaultMaxRequestBytes - proto.Size(fits) {
		fits.TraceId += strings.Repeat("t", max(1, pad-4))
	}
	if r := w.send(fits); r.GetError() != nil {
		t.Errorf("a request of %d bytes: %v", proto.Size(fits), r.GetError())
	}
	large := proto.CloneOf(fits)
	large.TraceId += "!"
	wantError(t, w.send(large), codes.InvalidArgument, 0, "AppendRows request too large: 10485761 limit 10485760 Entity: projects/p/datasets/d/tables/t/streams/_default")
}

// What ends a connection.
func TestRefusal_Connections(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	for _, name := range []string{"", "nonsense", "projects/p/datasets/d/tables/t", "projects//datasets/d/tables/t/streams/_default"} {
		w := e.writer("t", true)
		r := w.request()
		r.WriteStream = name
		if err := w.stream.Send(r); err != nil {
			t.Fatal(err)
		}
		if _, err := w.stream.Recv(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestRefusal_Streams(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	client := storagepb.NewBigQueryWriteClient(e.conn)
	ctx := t.Context()
	const parent = "projects/p/datasets/d/tables/t"
	call := func(name string, err error, want codes.Code) {
		t.Helper()
		if status.Code(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, err := client.GetWriteStream(ctx, &storagepb.GetWriteStreamRequest{Name: streamOf("absent")})
	call("an absent table", err, codes.NotFound)
	_, err = client.GetWriteStream(ctx, &storagepb.GetWriteStreamRequest{Name: parent + "/streams/x"})
	call("an absent stream", err, codes.NotFound)
	_, err = client.GetWriteStream(ctx, &storagepb.GetWriteStreamRequest{Name: "x"})
	call("a bad name", err, codes.InvalidArgument)
	stream, err := client.GetWriteStream(ctx, &storagepb.GetWriteStreamRequest{Name: parent + "/_default"})
	call("the short form", err, codes.OK)
	if stream.GetTableSchema() != nil || stream.GetType() != storagepb.WriteStream_COMMITTED || stream.GetLocation() != "us" {
		t.Errorf("stream %v", stream)
	}
	_, err = client.CreateWriteStream(ctx, &storagepb.CreateWriteStreamRequest{Parent: parent, WriteStream: &storagepb.WriteStream{}})
	call("CreateWriteStream without a type", err, codes.InvalidArgument)
	pending := &storagepb.WriteStream{Type: storagepb.WriteStream_PENDING}
	_, err = client.CreateWriteStream(ctx, &storagepb.CreateWriteStreamRequest{Parent: "projects/p/datasets/d/tables/absent", WriteStream: pending})
	call("CreateWriteStream of an absent table", err, codes.NotFound)
	_, err = client.FinalizeWriteStream(ctx, &storagepb.FinalizeWriteStreamRequest{Name: streamOf("t")})
	call("FinalizeWriteStream", err, codes.InvalidArgument)
	_, err = client.FlushRows(ctx, &storagepb.FlushRowsRequest{WriteStream: streamOf("t")})
	call("FlushRows", err, codes.InvalidArgument)
	_, err = client.BatchCommitWriteStreams(ctx, &storagepb.BatchCommitWriteStreamsRequest{Parent: parent, WriteStreams: []string{"x"}})
	call("BatchCommitWriteStreams of a malformed name", err, codes.InvalidArgument)
}

// "Composite primary keys containing up to 16 columns", "more than 2,000 top-level columns".
func TestRefusal_Limits(t *testing.T) {
	e := newEnv(t, Options{})
	var columns, keys []string
	for i := range 17 {
		columns = append(columns, fmt.Sprintf("k%d INTEGER", i))
		keys = append(keys, fmt.Sprintf("k%d", i))
	}
	e.table("sixteen", strings.Join(columns, ","), keys[:16]...)
	err := e.bq.Dataset("d").Table("seventeen").Create(t.Context(), &bigquery.TableMetadata{
		Schema:           parseTestSchema(strings.Join(columns, ",")),
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: keys}},
	})
	wantAPIError(t, err, 400, "invalid", "Too many primary key columns")
	columns = []string{"id INTEGER"}
	for i := range 2000 {
		columns = append(columns, fmt.Sprintf("c%d INTEGER", i))
	}
	e.table("fits", strings.Join(columns[:2000], ","), "id")
	e.table("wide", strings.Join(columns, ","), "id")
	e.writer("fits", true).append(`{"id":1,"c1":2,"_CHANGE_TYPE":"UPSERT"}`)
	w := e.writer("wide", true)
	wantError(t, w.send(w.request(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)), codes.InvalidArgument, 0, "The table p.d.wide has 2001 top-level columns")
	e.writer("wide", false).append(`{"id":1}`) // plain rows may be wider
}

// The Storage Read API isn't there, and where BigQuery refuses it that is the reason.
func TestRefusal_ReadSessions(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	session := func(table string, want codes.Code, text string) {
		t.Helper()
		_, err := storagepb.NewBigQueryReadClient(e.conn).CreateReadSession(t.Context(), &storagepb.CreateReadSessionRequest{
			Parent: "projects/p", ReadSession: &storagepb.ReadSession{Table: table, DataFormat: storagepb.DataFormat_AVRO},
		})
		if status.Code(err) != want || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %s %q", table, err, want, text)
		}
	}
	const table = "projects/p/datasets/d/tables/t"
	session(table, codes.Unimplemented, "not implemented by this emulator")
	e.writer("t", true).append(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	session(table, codes.FailedPrecondition, "table p:d.t while")
	e.merge("t")
	session(table, codes.Unimplemented, "not implemented by this emulator")
	session("projects/p/datasets/d/tables/absent", codes.NotFound, "Not found: Table p:d.absent")
	session("t", codes.InvalidArgument, "Invalid table name")
}
