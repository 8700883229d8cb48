package bqcdc

import (
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
)

// Why a row becomes a dead letter in this stage.
const (
	reasonRejected      = "rejected_row"     // BigQuery named it in row_errors
	reasonTooLarge      = "row_too_large"    // no request can hold it
	reasonSchemaChanged = "schema_changed"   // encoded for a schema that the table no longer has
	reasonNoSequence    = "missing_sequence" // nothing orders it
)

// pending is a row that has not come to rest: what is still needed of a
// change.Row, which is twice as large, with its event time.
type pending struct {
	data            []byte
	message         change.Message
	receipts        []change.Receipt
	superseded      uint64
	supersededBytes uint64
	at              beam.EventTime
	kind            change.Type
	committed       int64   // the source's commit time, in milliseconds of Unix time; 0 when unknown
	fenced          *fenced // nil but of an UPSERT of a table, or a row of a view, with a fence, and what became of it
}

func newPending(row *change.Row, at beam.EventTime) pending {
	var committed int64
	if !row.CommitTime.IsZero() {
		committed = row.CommitTime.UnixMilli()
	}
	return pending{
		committed: committed,
		data:      row.Data, message: row.Message, receipts: row.Receipts,
		superseded: row.Superseded, supersededBytes: row.SupersededBytes, at: at, kind: row.Type,
	}
}

// rejection is a row that can't be written, and why.
type rejection struct {
	pending
	table, reason, text string
}

// request is what one bundle has for one stream, to be sent as one append.
type request struct {
	key    streamKey
	schema *schema
	rows   []pending
	bytes  int // encoded, framing and descriptor included
	memory int // about what it holds, messages included

	expected int // as many rows as the lane's request before had
}

func newRequest(key streamKey, s *schema, expected int) *request {
	return &request{key: key, schema: s, bytes: s.overhead, expected: expected}
}

// schema is what is sent to describe a stream's rows.
type schema struct {
	descriptor *descriptorpb.DescriptorProto
	overhead   int // bytes that a connection's first request needs besides its rows

	// plan is what the DELETE of a row is encoded by, where the table has a fence; else nil.
	plan *rowproto.Plan
}

// result is what became of a request's rows: each is in exactly one of the three
// lists, unless err is set.
type result struct {
	table        string // of all the rows
	acknowledged [][]pending
	rejected     []rejection
	waiting      []change.Row // to be tried later, elsewhere
	cause        error        // why rows wait, if not for BigQuery's writers to know a table that was altered
	appends      []appendFigures
	repeats      [outcomes]int // appends that were repeated, by what they came to
	err          error         // fails the bundle

	answered                        time.Time // when BigQuery acknowledged the last of the rows, if it did
	inflightRequests, inflightBytes int64     // the process's then

	rows []pending // the request's, for recycling
}

// appendFigures is one acknowledged append.
type appendFigures struct {
	rows, bytes int
	latency     time.Duration
}

// newSchema describes the rows of key. Its overhead is what managedwriter's first
// request on a connection holds besides the rows.
func newSchema(key streamKey, descriptor *descriptorpb.DescriptorProto, traceID string) *schema {
	const framing = 64 // tags and lengths around the rows, managedwriter's own part of the trace ID
	first := &storagepb.AppendRowsRequest{
		WriteStream: resourceName(key.table) + "/streams/_default",
		TraceId:     traceID,
		Rows: &storagepb.AppendRowsRequest_ProtoRows{ProtoRows: &storagepb.AppendRowsRequest_ProtoData{
			WriterSchema: &storagepb.ProtoSchema{ProtoDescriptor: descriptor},
		}},
	}
	return &schema{descriptor: ready(descriptor), overhead: proto.Size(first) + framing}
}

// ready returns the descriptor as one that is encoded already: what it says is in it as
// bytes of fields that nobody has looked at. It is the same on the wire. To each request
// of a shared connection managedwriter measures, clones and encodes its stream's
// descriptor, which costs more than all else for a request of few rows; bytes are copied.
func ready(descriptor *descriptorpb.DescriptorProto) *descriptorpb.DescriptorProto {
	encoded, err := proto.Marshal(descriptor)
	if err != nil { // sending it will fail, with a better place for the error
		return descriptor
	}
	d := new(descriptorpb.DescriptorProto)
	d.ProtoReflect().SetUnknown(encoded)
	return d
}

// framedSize is the size of n bytes of row within a request: field 1 of ProtoRows.
func framedSize(n int) int { return 1 + protowire.SizeBytes(n) }

// dataBytes returns the sum of the rows' lengths.
func dataBytes(rows []pending) int {
	n := 0
	for i := range rows {
		n += len(rows[i].data)
	}
	return n
}

// A pending row is some 200 bytes, a request may have ten thousands of them, and
// growing a slice to that costs more than encoding the request. So a request makes
// room for as many rows as the one before it had, and large slices are used again;
// a lane's first request, of which a job of many tables has many, begins small.
const manyRows = 64

var rowSlices sync.Pool // of *[]pending, empty, their memory cleared

// push appends a row.
func (r *request) push(row *change.Row, at beam.EventTime, size int, f *fenced) {
	if len(r.rows) == cap(r.rows) {
		r.grow()
	}
	p := newPending(row, at)
	p.fenced = f
	r.rows = append(r.rows, p)
	r.bytes += size
	r.memory += memoryOf(row)
}

// grow makes room for at least one more row.
func (r *request) grow() {
	n := max(len(r.rows)+1, r.expected)
	if n <= manyRows {
		return
	}
	if used, _ := rowSlices.Get().(*[]pending); used != nil && cap(*used) >= n {
		r.rows = append(*used, r.rows...)
		return
	}
	r.rows = slices.Grow(r.rows, n-len(r.rows)+n/8)
}

// memoryOf is about what a row holds. Its message may be shared with others.
func memoryOf(row *change.Row) int {
	const fixed, receipt = 200, 16
	return fixed + len(row.Data) + len(row.Message.Data) + receipt*len(row.Receipts)
}

// recycle takes back the rows of a request that nothing refers to any more.
func recycle(rows []pending) {
	if cap(rows) <= manyRows {
		return
	}
	clear(rows)
	rows = rows[:0]
	rowSlices.Put(&rows)
}
