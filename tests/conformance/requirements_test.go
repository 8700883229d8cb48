package conformance

import (
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// numbered is "c1 TYPE, c2 TYPE, …" and the columns' names.
func numbered(n int, kind string) (columns string, names []string) {
	texts := make([]string, n)
	for i := range n {
		names = append(names, fmt.Sprintf("c%d", i+1))
		texts[i] = names[i] + " " + kind
	}
	return strings.Join(texts, ", "), names
}

// requirementCases are what CDC asks of the table and the writer.
var requirementCases = []testCase{
	{
		name: "changes need the default stream",
		cites: []string{
			"You must use the Storage Write API (gRPC) in the default stream.",
			"Writes go through the Storage Write API, on the default stream, in protobuf format.",
			"The table must declare a primary key (composite keys up to 16 columns), writes must go through the default stream, and the format must be protobuf.",
			"The Storage Write API's gRPC interface, default stream, protocol buffer format.",
			"The gRPC API also supports change data capture: you write rows with a _CHANGE_TYPE pseudocolumn whose value is UPSERT or DELETE, and BigQuery applies them against the table's primary key.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			w := r.open("t", orderColumns+", "+pseudo, r.toDefault("t"), managedwriter.WithType(managedwriter.CommittedStream))
			w.refuse(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`)
			r.want("t")
		},
	},
	{
		name: "changes can't be Arrow",
		cites: []string{
			"You must use the protobuf format as the ingestion format.",
			"The Apache Arrow format isn't supported.",
			"The table must declare a primary key (composite keys up to 16 columns), writes must go through the default stream, and the format must be protobuf.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			r.cdc("t", orderColumns) // until the Storage Write API knows the table
			stream, err := r.raw.AppendRows(r.ctx)
			r.must(err, "opening a connection")
			r.must(stream.Send(&storagepb.AppendRowsRequest{
				WriteStream: r.parent("t") + "/streams/_default",
				Rows: &storagepb.AppendRowsRequest_ArrowRows{ArrowRows: &storagepb.AppendRowsRequest_ArrowData{
					WriterSchema: &storagepb.ArrowSchema{SerializedSchema: []byte("schema")},
					Rows:         &storagepb.ArrowRecordBatch{SerializedRecordBatch: []byte("rows")},
				}},
			}), "sending rows")
			response, err := stream.Recv()
			if err == nil {
				err = status.FromProto(response.GetError()).Err()
			}
			if code := status.Code(err); code != codes.InvalidArgument && code != codes.Unimplemented {
				r.errorf("the answer to Arrow rows is %v, want INVALID_ARGUMENT", err)
			}
			r.want("t")
		},
	},
	{
		name: "changes need a primary key",
		cites: []string{
			"You must declare primary keys for the destination table in BigQuery.",
			"The table must have a primary key, declared NOT ENFORCED.",
			"The table must declare a primary key (composite keys up to 16 columns), writes must go through the default stream, and the format must be protobuf.",
		},
		run: func(r *run) {
			r.create("t", orderColumns)
			r.wantText(r.cdc("t", orderColumns).refuse(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`), "primary key")
			r.want("t")
		},
	},
	{
		name: "a key of 16 columns",
		cites: []string{
			"Composite primary keys containing up to 16 columns are supported.",
			"A primary key of up to 16 columns, declared NOT ENFORCED.",
			"Primary keys of up to 16 columns, and they are not enforced.",
		},
		run: func(r *run) {
			columns, key := numbered(16, "INTEGER")
			columns += ", v STRING"
			r.create("t", columns, key...)
			w := r.cdc("t", columns)
			row := func(last int, v string) string {
				var cells strings.Builder
				for i := range key {
					n := i
					if i == 15 {
						n = last
					}
					fmt.Fprintf(&cells, `"%s":%d,`, key[i], n)
				}
				return `{` + cells.String() + `"v":"` + v + `","_CHANGE_TYPE":"UPSERT"}`
			}
			w.append(row(1, "a"), row(2, "b"))
			w.append(row(2, "c"))
			r.wantQuery("SELECT c16, v FROM {t} ORDER BY c16", "1 a", "2 c")
		},
	},
	{
		name: "a key of 17 columns",
		cites: []string{
			"Primary keys cannot exceed 16 columns.",
			"Composite primary keys containing up to 16 columns are supported.",
		},
		run: func(r *run) {
			columns, key := numbered(17, "INTEGER")
			if err := r.tryCreate("t", columns, &bigquery.TableMetadata{}, key...); err == nil {
				r.errorf("a table with a key of 17 columns was created")
			}
		},
	},
	{
		name: "2,000 columns",
		cites: []string{
			"Tables with active CDC cannot have more than 2,000 top-level columns defined by the table's schema.",
			"It can have at most 2,000 top-level columns.",
		},
		run: func(r *run) {
			columns, _ := numbered(2000, "INTEGER")
			r.create("fits", columns, "c1")
			r.cdc("fits", "c1 INTEGER, c2 INTEGER").append(`{"c1":1,"c2":2,"_CHANGE_TYPE":"UPSERT"}`)
			r.wantQuery("SELECT c1, c2, c2000 FROM {fits}", "1 2 NULL")
			columns, _ = numbered(2001, "INTEGER")
			r.create("wide", columns, "c1")
			r.cdc("wide", "c1 INTEGER, c2 INTEGER").refuse(`{"c1":1,"c2":2,"_CHANGE_TYPE":"UPSERT"}`)
			r.wantQuery("SELECT c1 FROM {wide}")
		},
	},
	{
		name: "keys aren't enforced",
		cites: []string{
			"BigQuery CDC ingestion doesn't perform key enforcement, so it's essential that your primary keys are unique.",
			"BigQuery does not check uniqueness, so the key must be genuinely unique in your source.",
			"BigQuery doesn't check it, so the key must really be unique in the source.",
		},
		run: func(r *run) {
			r.create("t", orderColumns, "id")
			r.plain("t", orderColumns).append(`{"id":1,"v":"a"}`, `{"id":1,"v":"b"}`)
			r.want("t", "1 a", "1 b")
		},
	},
}
