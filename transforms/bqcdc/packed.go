package bqcdc

import (
	"sync"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The rows of a request are packed as they come: each behind its tag and its length, one
// after the other in one piece of memory, which is what the request holds of them on the
// wire. managedwriter is given that piece for a row, and [packedCodec] makes rows of it where
// a message is encoded. So nothing on the way measures, copies or encodes a row by itself,
// and gRPC sends the piece as it is.

// rowField is the number of the field of ProtoRows that holds a row.
const rowField = 1

// framedSize is the size of n bytes of row within a request.
func framedSize(n int) int { return protowire.SizeTag(rowField) + protowire.SizeBytes(n) }

// appendPacked packs a row.
func appendPacked(packed, row []byte) []byte {
	packed = protowire.AppendTag(packed, rowField, protowire.BytesType)
	return protowire.AppendBytes(packed, row)
}

// packedCodec encodes requests whose rows are packed. Their memory is gRPC's until the
// request is answered.
type packedCodec struct{ encoding.CodecV2 }

// Name is that of the content's subtype: there is none, as without a codec of one's own.
func (packedCodec) Name() string { return "" }

// The numbers of fields of AppendRowsRequest, and of its ProtoData.
const (
	writeStreamField  = 1
	protoRowsField    = 4
	traceIDField      = 6
	writerSchemaField = 1
	rowsField         = 2
)

// fewBytes are so few of packed rows that a copy of them costs less than to send two pieces.
const fewBytes = 4 << 10

// Marshal encodes what is to be sent.
func (c packedCodec) Marshal(v any) (mem.BufferSlice, error) {
	r, ok := v.(*storagepb.AppendRowsRequest)
	if !ok || len(r.GetProtoRows().GetRows().GetSerializedRows()) != 1 {
		return c.CodecV2.Marshal(v)
	}
	data := r.GetProtoRows()
	packed := data.GetRows().GetSerializedRows()[0]
	size, described := 1+protowire.SizeBytes(len(packed)), 0 // all tags are of one byte
	if data.GetWriterSchema() != nil {
		described = proto.Size(data.GetWriterSchema())
		size += 1 + protowire.SizeBytes(described)
	}
	room := 1 + protowire.SizeBytes(len(r.GetWriteStream())) + 1 + protowire.SizeBytes(len(r.GetTraceId())) + 1 + protowire.SizeBytes(size)
	if len(packed) > fewBytes {
		room -= len(packed)
	}
	head, err := appendRest(make([]byte, 0, room), r)
	if err != nil {
		return nil, err
	}
	head = protowire.AppendTag(head, protoRowsField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(size))
	if data.GetWriterSchema() != nil {
		head = protowire.AppendTag(head, writerSchemaField, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(described))
		if head, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(head, data.GetWriterSchema()); err != nil {
			return nil, err
		}
	}
	head = protowire.AppendTag(head, rowsField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(packed)))
	if len(packed) <= fewBytes {
		return mem.BufferSlice{mem.SliceBuffer(append(head, packed...))}, nil
	}
	return mem.BufferSlice{mem.SliceBuffer(head), mem.SliceBuffer(packed)}, nil
}

// appendRest encodes what is in a request besides its rows and their schema.
func appendRest(b []byte, r *storagepb.AppendRowsRequest) ([]byte, error) {
	if r.GetWriteStream() != "" {
		b = protowire.AppendTag(b, writeStreamField, protowire.BytesType)
		b = protowire.AppendString(b, r.GetWriteStream())
	}
	if r.GetTraceId() != "" {
		b = protowire.AppendTag(b, traceIDField, protowire.BytesType)
		b = protowire.AppendString(b, r.GetTraceId())
	}
	if r.GetOffset() == nil && r.GetClientStats() == nil && len(r.GetMissingValueInterpretations()) == 0 && r.GetDefaultMissingValueInterpretation() == 0 {
		return b, nil // as always: the writer asks for none of these
	}
	return proto.MarshalOptions{}.MarshalAppend(b, &storagepb.AppendRowsRequest{
		Offset: r.GetOffset(), ClientStats: r.GetClientStats(),
		MissingValueInterpretations: r.GetMissingValueInterpretations(), DefaultMissingValueInterpretation: r.GetDefaultMissingValueInterpretation(),
	})
}

// Memory for packed rows begins small, as a job of many tables has many requests of few
// rows, and grows by no more than this factor towards what the stream's request before had:
// a bundle may gather for all of the tables at once.
const packedGrowth = 8

// smallPacked is the least capacity, in bytes, and largePacked that from which on memory is
// used again as such.
const (
	smallPacked = 2 << 10
	largePacked = 256 << 10
)

// packedSlices are empty, small ones and large ones.
var packedSlices struct{ small, large sync.Pool } // of *[]byte

// packedRoom is the capacity for n bytes, of expected in all, that comes after another.
func packedRoom(capacity, n, expected int) int {
	return max(n, min(expected+expected/16, packedGrowth*capacity), 2*capacity, smallPacked)
}

// morePacked returns packed with room for at least n bytes more, of expected in all.
func morePacked(packed []byte, n, expected int) []byte {
	n = packedRoom(cap(packed), len(packed)+n, expected)
	pool := &packedSlices.small
	if n >= largePacked {
		pool = &packedSlices.large
	}
	used, _ := pool.Get().(*[]byte)
	if used == nil || cap(*used) < n {
		return append(make([]byte, 0, n), packed...)
	}
	return append(*used, packed...)
}

// recyclePacked takes back memory that nothing refers to any more.
func recyclePacked(packed []byte) {
	pool := &packedSlices.small
	switch {
	case cap(packed) == 0:
		return
	case cap(packed) >= largePacked:
		pool = &packedSlices.large
	}
	packed = packed[:0]
	pool.Put(&packed)
}
