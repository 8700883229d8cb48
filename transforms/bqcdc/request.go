package bqcdc

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
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
	packed []byte // the rows, as they are sent
	some   bool   // the rows are only some of the packed ones
	bytes  int    // encoded, framing and descriptor included
	memory int    // about what it holds, messages included
	data   int    // the sum of the rows' lengths
	tokens bool   // a receipt has one
}

func newRequest(key streamKey, s *schema) *request {
	return &request{key: key, schema: s, bytes: s.overhead}
}

// isAll reports whether rows are all of the request, as they were packed.
func (r *request) isAll(rows []pending) bool {
	return !r.some && len(r.packed) > 0 && len(rows) == len(r.rows) && &rows[0] == &r.rows[0]
}

// pack returns rows as they are sent.
func (r *request) pack(rows []pending) []byte {
	if r.isAll(rows) {
		return r.packed
	}
	n := 0
	for i := range rows {
		n += framedSize(int(rows[i].size))
	}
	packed := make([]byte, 0, n)
	for i := range rows {
		packed = appendPacked(packed, r.bytesOf(&rows[i]))
	}
	return packed
}

// schema is what is sent to describe a stream's rows.
type schema struct {
	descriptor *descriptorpb.DescriptorProto
	overhead   int // bytes that a connection's first request needs besides its rows

	// latest is how large the stream's latest request was: what the next one makes room for.
	latest struct{ rows, packed atomic.Int64 }

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

	tokens bool // a receipt has one: someone is to be told

	// The request's memory, which is used again; packed is nil if managedwriter may still
	// refer to it.
	rows   []pending
	packed []byte
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

// dataBytes returns the sum of the rows' lengths.
func dataBytes(rows []pending) int {
	n := 0
	for i := range rows {
		n += int(rows[i].size)
	}
	return n
}

// A request may have ten thousands of pending rows, and growing a slice to that costs
// more than encoding the request. So a request makes room for as many rows as the stream's before it had, and large slices are used again;
// those of few rows, of which a job of many tables has many, begin small.
const manyRows = 64

var rowSlices sync.Pool // of *[]pending, empty, their memory cleared

// push appends a row, whose bytes it copies.
func (r *request) push(row *change.Row, at beam.EventTime, size int, f *fenced) {
	if len(r.rows) == cap(r.rows) {
		r.grow()
	}
	if cap(r.packed)-len(r.packed) < size {
		r.packed = morePacked(r.packed, size, int(r.schema.latest.packed.Load()))
	}
	r.packed = appendPacked(r.packed, row.Data)
	r.rows = append(r.rows, pending{})
	p := &r.rows[len(r.rows)-1]
	p.keep(row, at)
	p.start, p.size, p.fenced = uint32(len(r.packed)-len(row.Data)), uint32(len(row.Data)), f
	r.bytes += size
	r.data += len(row.Data)
	r.memory += memoryOf(row)
	for i := range row.Receipts {
		r.tokens = r.tokens || row.Receipts[i].Token != 0
	}
}

// grow makes room for at least one more row, as morePacked does.
func (r *request) grow() {
	latest := int(r.schema.latest.rows.Load())
	n := max(len(r.rows)+1, min(latest+latest/16, packedGrowth*max(cap(r.rows), manyRows/packedGrowth)))
	if n <= manyRows {
		r.rows = slices.Grow(r.rows, n-len(r.rows))
		return
	}
	if used, _ := rowSlices.Get().(*[]pending); used != nil && cap(*used) >= n {
		r.rows = append(*used, r.rows...)
		return
	}
	r.rows = slices.Grow(r.rows, n-len(r.rows))
}

// memoryOf is about what a row holds. Its message may be shared with others.
func memoryOf(row *change.Row) int {
	const fixed, receipt = 200, 16 // pending, and the message's ID and key
	return fixed + len(row.Data) + len(row.Message.Data) + receipt*len(row.Receipts)
}

// recycle takes back the memory of a request that came to rest.
func (r *result) recycle() {
	recyclePacked(r.packed)
	if cap(r.rows) > manyRows {
		clear(r.rows)
		rows := r.rows[:0]
		rowSlices.Put(&rows)
	}
}
