package bqcdc

import (
	"bytes"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"
)

// TestPackedCodec holds requests of packed rows, as they are sent, against those that
// managedwriter would have sent.
func TestPackedCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 50).Draw(t, "rows")
		r := &request{schema: newSchema(streamKey{table: "p.d.t"}, testDescriptor(), "x")}
		for _, data := range rows {
			row := testRow("p.d.t", string(data), 1)
			r.push(&row, 0, framedSize(len(data)), nil)
		}
		if r.bytes != len(r.packed) {
			t.Errorf("%d bytes of rows count as %d", len(r.packed), r.bytes)
		}
		some := rapid.IntRange(0, len(rows)-1).Draw(t, "from")
		for from, rows := range map[int][][]byte{0: rows, some: rows[some:]} { // a part is packed once more
			want := requestOf(rows)
			sent := requestOf([][]byte{r.pack(r.rows[from:])})
			if rapid.Bool().Draw(t, "without schema") {
				want.GetProtoRows().WriterSchema, sent.GetProtoRows().WriterSchema = nil, nil
			}
			if rapid.Bool().Draw(t, "bare") {
				want, sent = &storagepb.AppendRowsRequest{Rows: want.GetRows()}, &storagepb.AppendRowsRequest{Rows: sent.GetRows()}
			}
			buffers, err := packedCodec{encoding.GetCodecV2("proto")}.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			got := new(storagepb.AppendRowsRequest)
			if err := proto.Unmarshal(buffers.Materialize(), got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	})
}

// requestOf is a request that says all that one can.
func requestOf(rows [][]byte) *storagepb.AppendRowsRequest {
	return &storagepb.AppendRowsRequest{
		WriteStream: "projects/p/datasets/d/tables/t/streams/_default", TraceId: "x", Offset: wrapperspb.Int64(7),
		ClientStats: &storagepb.ClientStats{RequestStats: &storagepb.ClientStats_RequestStats{}},
		Rows: &storagepb.AppendRowsRequest_ProtoRows{ProtoRows: &storagepb.AppendRowsRequest_ProtoData{
			WriterSchema: &storagepb.ProtoSchema{ProtoDescriptor: testDescriptor()},
			Rows:         &storagepb.ProtoRows{SerializedRows: rows},
		}},
		MissingValueInterpretations:       map[string]storagepb.AppendRowsRequest_MissingValueInterpretation{"a": storagepb.AppendRowsRequest_NULL_VALUE},
		DefaultMissingValueInterpretation: storagepb.AppendRowsRequest_DEFAULT_VALUE,
	}
}

// TestPackedCodec_allFields: whoever adds a field to requests must add it to the codec.
func TestPackedCodec_allFields(t *testing.T) {
	r := requestOf([][]byte{{}})
	for m := range map[proto.Message]bool{r: true, r.GetProtoRows(): true} {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			if f := fields.Get(i); f.Name() != "arrow_rows" && !m.ProtoReflect().Has(f) {
				t.Errorf("the field %s is in no request of TestPackedCodec", f.FullName())
			}
		}
	}
}

// TestMorePacked keeps what was packed, whatever is used again.
func TestMorePacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		packed := bytes.Repeat([]byte{1}, rapid.IntRange(0, 3*largePacked).Draw(t, "len"))
		want := bytes.Clone(packed)
		n, expected := rapid.IntRange(1, largePacked).Draw(t, "n"), rapid.IntRange(0, 4<<20).Draw(t, "expected")
		got := morePacked(packed, n, expected)
		if !bytes.Equal(got, want) || cap(got)-len(got) < n {
			t.Fatalf("%d bytes of %d, room for %d of %d", len(got), len(want), cap(got)-len(got), n)
		}
		if room := packedRoom(cap(packed), len(packed)+n, expected); room < len(packed)+n || room > max(packedGrowth*cap(packed), len(packed)+n, smallPacked) {
			t.Fatalf("room for %d bytes after %d of %d, for %d more", room, len(packed), cap(packed), n)
		}
		if rapid.Bool().Draw(t, "recycle") {
			recyclePacked(got)
		}
	})
}
