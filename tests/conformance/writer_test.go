package conformance

import (
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const (
	pseudo   = "_CHANGE_TYPE STRING, _CHANGE_SEQUENCE_NUMBER STRING"
	typeOnly = "_CHANGE_TYPE STRING"
)

// writer is a connection to a stream, with the schema that its rows have.
type writer struct {
	r       *run
	stream  *managedwriter.ManagedStream
	message protoreflect.MessageDescriptor
}

// cdc opens a connection to a table's default stream for rows of these columns and
// both pseudo-columns.
func (r *run) cdc(table, columns string) *writer {
	return r.open(table, columns+", "+pseudo, managedwriter.WithDestinationTable(r.parent(table)))
}

// plain is cdc without the pseudo-columns.
func (r *run) plain(table, columns string) *writer {
	return r.open(table, columns, managedwriter.WithDestinationTable(r.parent(table)))
}

func (r *run) open(table, columns string, options ...managedwriter.WriterOption) *writer {
	w := &writer{r: r}
	message, normalized := r.describe(schema(columns))
	w.message = message
	options = append(options, managedwriter.WithSchemaDescriptor(normalized), managedwriter.EnableWriteRetries(true))
	for deadline := time.Now().Add(r.patience()); ; time.Sleep(5 * time.Second) {
		var err error
		w.stream, err = r.writer.NewManagedStream(r.ctx, options...)
		if err == nil {
			break
		}
		if status.Code(err) != codes.NotFound || time.Now().After(deadline) {
			r.fatalf("opening a stream of %s: %v", table, err)
		}
	}
	r.closers = append(r.closers, w.close)
	return w
}

// patience is how long a table may be unknown to the Storage Write API.
func (r *run) patience() time.Duration {
	if r.emulator != nil {
		return 0
	}
	return 5 * time.Minute
}

func (w *writer) close() { _ = w.stream.Close() } // it says EOF

// describe makes the message of a schema whose columns are all optional.
func (r *run) describe(s bigquery.Schema) (protoreflect.MessageDescriptor, *descriptorpb.DescriptorProto) {
	for _, f := range s {
		f.Required = false
	}
	storage, err := adapt.BQSchemaToStorageTableSchema(s)
	r.must(err, "converting a schema")
	descriptor, err := adapt.StorageSchemaToProto2Descriptor(storage, "row")
	r.must(err, "making a descriptor")
	message := descriptor.(protoreflect.MessageDescriptor)
	normalized, err := adapt.NormalizeDescriptor(message)
	r.must(err, "normalizing a descriptor")
	return message, normalized
}

func encode(r *run, message protoreflect.MessageDescriptor, rows ...string) [][]byte {
	encoded := make([][]byte, len(rows))
	for i, text := range rows {
		row := dynamicpb.NewMessage(message)
		r.must(protojson.Unmarshal([]byte(text), row), "reading the row "+text)
		var err error
		encoded[i], err = proto.Marshal(row)
		r.must(err, "encoding a row")
	}
	return encoded
}

// try sends rows, JSON objects, in one request; an offset below 0 is none.
func (w *writer) try(offset int64, rows ...string) (*storagepb.AppendRowsResponse, error) {
	var options []managedwriter.AppendOption
	if offset >= 0 {
		options = append(options, managedwriter.WithOffset(offset))
	}
	data := encode(w.r, w.message, rows...)
	for deadline := time.Now().Add(w.r.patience()); ; time.Sleep(5 * time.Second) {
		result, err := w.stream.AppendRows(w.r.ctx, data, options...)
		if err != nil {
			return nil, err
		}
		response, err := result.FullResponse(w.r.ctx)
		if status.Code(err) != codes.NotFound || time.Now().After(deadline) {
			return response, err
		}
	}
}

// append sends rows that must be acknowledged.
func (w *writer) append(rows ...string) {
	w.appendAt(-1, rows...)
}

func (w *writer) appendAt(offset int64, rows ...string) {
	if response, err := w.try(offset, rows...); err != nil {
		w.r.fatalf("appending %q: %v %v", rows, err, response.GetRowErrors())
	}
}

// refuse sends rows that must not be acknowledged, and returns all that is said of
// them: the error and the row errors.
func (w *writer) refuse(rows ...string) string {
	response, err := w.try(-1, rows...)
	if err == nil {
		w.r.errorf("appending %q: it was acknowledged, want an error", rows)
		return ""
	}
	if notThere(err) {
		w.r.fatalf("appending %q: %v", rows, err)
	}
	texts := []string{err.Error()}
	for _, bad := range response.GetRowErrors() {
		texts = append(texts, bad.GetMessage())
	}
	return strings.Join(texts, "; ")
}

// refuseAt sends rows at an offset, which must fail with the code.
func (w *writer) refuseAt(offset int64, want storagepb.StorageError_StorageErrorCode, rows ...string) {
	_, err := w.try(offset, rows...)
	if err == nil {
		w.r.errorf("appending at offset %d: it was acknowledged, want %v", offset, want)
		return
	}
	if got := storageCode(err); got != want {
		w.r.errorf("appending at offset %d: %v (%v), want %v", offset, err, got, want)
	}
}

func storageCode(err error) storagepb.StorageError_StorageErrorCode {
	for _, detail := range status.Convert(err).Details() {
		if storage, ok := detail.(*storagepb.StorageError); ok {
			return storage.GetCode()
		}
	}
	return storagepb.StorageError_STORAGE_ERROR_CODE_UNSPECIFIED
}

func (r *run) wantText(text string, parts ...string) {
	if text != "" && !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) }) {
		r.errorf("the error is %q, want one that says %q", text, parts)
	}
}
