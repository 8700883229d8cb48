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

// The numbers of the fields that lead to the rows: of AppendRowsRequest, and of its ProtoData.
const (
	protoRowsField    = 4
	writerSchemaField = 1
	rowsField         = 2
)

// Marshal encodes what is to be sent.
func (c packedCodec) Marshal(v any) (mem.BufferSlice, error) {
	r, ok := v.(*storagepb.AppendRowsRequest)
	if !ok || len(r.GetProtoRows().GetRows().GetSerializedRows()) != 1 {
		return c.CodecV2.Marshal(v)
	}
	data := r.GetProtoRows()
	packed := data.GetRows().GetSerializedRows()[0]
	size := protowire.SizeTag(rowsField) + protowire.SizeBytes(len(packed))
	described := 0
	if data.WriterSchema != nil {
		described = proto.Size(data.WriterSchema)
		size += protowire.SizeTag(writerSchemaField) + protowire.SizeBytes(described)
	}
	rest := &storagepb.AppendRowsRequest{
		WriteStream: r.WriteStream, Offset: r.Offset, TraceId: r.TraceId, ClientStats: r.ClientStats,
		MissingValueInterpretations: r.MissingValueInterpretations, DefaultMissingValueInterpretation: r.DefaultMissingValueInterpretation,
	}
	head, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, 0, proto.Size(rest)+size-len(packed)+protowire.SizeTag(protoRowsField)+protowire.SizeVarint(uint64(size))), rest)
	if err != nil {
		return nil, err
	}
	head = protowire.AppendTag(head, protoRowsField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(size))
	if data.WriterSchema != nil {
		head = protowire.AppendTag(head, writerSchemaField, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(described))
		if head, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(head, data.WriterSchema); err != nil {
			return nil, err
		}
	}
	head = protowire.AppendTag(head, rowsField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(packed)))
	return mem.BufferSlice{mem.SliceBuffer(head), mem.SliceBuffer(packed)}, nil
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

// morePacked returns packed with room for at least n bytes more, of expected in all.
func morePacked(packed []byte, n, expected int) []byte {
	n += len(packed)
	n = max(n, min(expected+expected/16, packedGrowth*cap(packed)), 2*cap(packed), smallPacked)
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
