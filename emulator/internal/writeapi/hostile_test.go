package writeapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/rowtest"
)

// A singular message that comes again and again is merged in the time that its bytes
// take, and the row's own bytes stay as they are.
func TestReadRow_MessageManyTimes(t *testing.T) {
	s, err := engine.NewSchema(&bq.Table{Schema: &bq.TableSchema{Fields: []*bq.TableFieldSchema{
		{Name: "st", Type: "RECORD", Fields: []*bq.TableFieldSchema{{Name: "a", Type: "INTEGER"}}},
	}}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	nested := &descriptorpb.DescriptorProto{Name: new("St")}
	rowtest.AddField("a", 1, "int64", false, nested)
	p, err := compilePlan(s, &descriptorpb.DescriptorProto{
		Name: new("row"), NestedType: []*descriptorpb.DescriptorProto{nested}, Field: []*descriptorpb.FieldDescriptorProto{
			{Name: new("st"), Number: new(int32(1)), TypeName: new("St"), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var row []byte
	for i := range 1_000_000 {
		row = protowire.AppendTag(row, 1, protowire.BytesType)
		row = append(row, 2, 8, byte(i%100))
	}
	before, begun := bytes.Clone(row), time.Now()
	got, err := p.read(row)
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := got.values[0].(map[string]any); st["a"] != int64(99) {
		t.Errorf("read %v", got.values)
	}
	if !bytes.Equal(row, before) {
		t.Error("reading has changed the row")
	}
	if took := time.Since(begun); took > 10*time.Second { // it took minutes
		t.Errorf("it took %v", took)
	}
}

// What a stranger sends doesn't come back in errors without bounds.
func TestErrors_bounded(t *testing.T) {
	message := &descriptorpb.DescriptorProto{Name: new("row")}
	for i := range 10_000 {
		message.Field = append(message.Field, rowtest.StringField(fmt.Sprintf("column_%d", i), int32(i+1)))
	}
	if _, err := compilePlan(fuzzSchema(t), message); err == nil || len(err.Error()) > 2*maxExtraFields || !strings.Contains(err.Error(), "'column_0,column_1,") {
		t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
	}
	long := "projects/p/datasets/d/tables/" + strings.Repeat("t", 1<<20)
	if _, err := parseTablePath(long); err == nil || len(err.Error()) > 1000 {
		t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
	}
	if _, _, err := parseStream(long + "/streams/_default"); err == nil || len(err.Error()) > 1000 {
		t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
	}
}

// deaf is a client that sends large requests and reads no answer until it is told to.
type deaf struct {
	storagepb.BigQueryWrite_AppendRowsServer
	ctx            context.Context //nolint:containedctx // a stream has one
	requests       int64
	received, sent atomic.Int64
	reads          chan struct{}
}

func (d *deaf) Context() context.Context { return d.ctx }

func (d *deaf) Recv() (*storagepb.AppendRowsRequest, error) {
	if d.received.Add(1) > d.requests {
		return nil, io.EOF
	}
	return &storagepb.AppendRowsRequest{TraceId: strings.Repeat("x", 5<<20)}, nil
}

func (d *deaf) Send(*storagepb.AppendRowsResponse) error {
	<-d.reads
	d.sent.Add(1)
	return nil
}

// The requests of one connection that wait are bounded in bytes, not in their number
// alone; all are answered in the end.
func TestAppendRows_WaitingIsBounded(t *testing.T) {
	s := New(nil, Options{Now: time.Now, OnAppend: func(*storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
		return &storagepb.AppendRowsResponse{}, nil, true
	}})
	client := &deaf{ctx: t.Context(), requests: 20, reads: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.AppendRows(client) }()
	// One whose answer is being sent, six that wait, and one that is read.
	const most = 1 + maxWaitingBytes/(5<<20) + 1
	for deadline := time.Now().Add(5 * time.Second); client.received.Load() < most && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	if n := client.received.Load(); n != most {
		t.Errorf("%d requests were read, want %d", n, most)
	}
	close(client.reads)
	if err := <-done; err != nil || client.sent.Load() != client.requests {
		t.Errorf("%d answers, error %v", client.sent.Load(), err)
	}
}
