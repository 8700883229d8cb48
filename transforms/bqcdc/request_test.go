package bqcdc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"beamcdc/schemas/change"
)

// Case 87: a row that no request holds is a dead letter, once, and holds up nothing.
func TestBundle_hugeRow(t *testing.T) {
	s := newWriteServer(t)
	small, huge := strings.Repeat("a", 1<<10), strings.Repeat("b", 12<<20)
	got, err := write(t, newTestWriter(t, testConfig(s)),
		testRow("p.d.t", small+"1", 1), testRow("p.d.t", huge, 2), testRow("p.d.t", small+"3", 3))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{small + "1", small + "3"}, map[string]string{huge: "row_too_large"})
	if n := len(s.stored("p.d.t")); n != 2 {
		t.Errorf("%d rows stored, want 2", n)
	}
}

// Case 86: requests are split by their encoded size, descriptor and all.
func TestBundle_splitsBySize(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.TargetRequestBytes, c.MaxRequestBytes = 9_000_000, 9_000_000
	var rows []change.Row
	for i := range 30 {
		rows = append(rows, testRow("p.d.t", fmt.Sprintf("%02d%s", i, strings.Repeat("x", 400_000)), uint64(i+1)))
	}
	got, err := write(t, newTestWriter(t, c), rows...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.acknowledged) != 30 || len(s.stored("p.d.t")) != 30 {
		t.Errorf("%d acknowledged, %d stored, want 30", len(got.acknowledged), len(s.stored("p.d.t")))
	}
	if _, appends, largest := s.count(); appends != 2 || largest > 9_000_000 {
		t.Errorf("%d appends, the largest of %d bytes, want 2 of at most 9,000,000", appends, largest)
	}
}

// The size that a bundle reckons with is never below what is sent, to the byte
// where the limit bites.
func TestBundle_reckonsWholeRequest(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.TargetRequestBytes, c.MaxRequestBytes = 50_000, 50_000
	var rows []change.Row
	for i := range 3000 {
		rows = append(rows, testRow("p.d.t", strings.Repeat("x", i%300), uint64(i+1)))
	}
	if _, err := write(t, newTestWriter(t, c), rows...); err != nil {
		t.Fatal(err)
	}
	if _, _, largest := s.count(); largest > 50_000 || largest < 49_000 {
		t.Errorf("the largest request has %d bytes, want just under 50,000", largest)
	}
}

func TestBundle_splitsByRows(t *testing.T) {
	s := newWriteServer(t)
	c := testConfig(s)
	c.MaxRequestRows = 10
	var rows []change.Row
	for i := range 25 {
		rows = append(rows, testRow("p.d.t", fmt.Sprint(i), uint64(i+1)))
	}
	if _, err := write(t, newTestWriter(t, c), rows...); err != nil {
		t.Fatal(err)
	}
	if _, appends, _ := s.count(); appends != 3 {
		t.Errorf("%d appends, want 3", appends)
	}
}

// A server with a lower limit than documented gets halves.
func TestBundle_halves(t *testing.T) {
	for _, test := range []struct {
		name string
		s    *writeServer
	}{
		{"by response", func() *writeServer {
			s := newWriteServer(t)
			s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
				n := 0
				for _, row := range a.rows {
					n += len(row)
				}
				if n > 100_000 {
					return refuse(codes.InvalidArgument, fmt.Sprintf("AppendRows request too large: %d limit 100000 Entity: x", n)), nil
				}
				return nil, nil
			}
			return s
		}()},
		{"by connection", newWriteServer(t, grpc.MaxRecvMsgSize(100_200))},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rows []change.Row
			var want []string
			for i := range 8 {
				text := fmt.Sprintf("%02d%s", i, strings.Repeat("x", 30_000))
				rows, want = append(rows, testRow("p.d.t", text, uint64(i+1))), append(want, text)
			}
			huge := strings.Repeat("y", 120_000)
			rows = slices.Insert(rows, 4, testRow("p.d.t", huge, 100))
			got, err := write(t, newTestWriter(t, testConfig(test.s)), rows...)
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, got, want, map[string]string{huge: "row_too_large"})
			if got.repeats[tooLarge] == 0 {
				t.Error("nothing was repeated as too large")
			}
		})
	}
}

// A request that breaks its connection by its size takes no other's rows with it.
func TestBundle_tooLargeBlamesTheRightRow(t *testing.T) {
	s := newWriteServer(t, grpc.MaxRecvMsgSize(100_000))
	c := testConfig(s)
	c.TargetRequestBytes = 10 // a request a row
	var rows []change.Row
	var want []string
	for i := range 40 {
		text := fmt.Sprintf("row %02d", i)
		rows, want = append(rows, testRow("p.d.t", text, uint64(i+1))), append(want, text)
	}
	huge := strings.Repeat("y", 120_000)
	rows = slices.Insert(rows, 20, testRow("p.d.t", huge, 100))
	got, err := write(t, newTestWriter(t, c), rows...)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, want, map[string]string{huge: "row_too_large"})
}

// TestReady holds a descriptor that is encoded already against the one that it was made of.
func TestReady(t *testing.T) {
	d := testDescriptor()
	r := ready(d)
	got, err := proto.Marshal(proto.CloneOf(r))
	if err != nil {
		t.Fatal(err)
	}
	read := new(descriptorpb.DescriptorProto)
	if err := proto.Unmarshal(got, read); err != nil || !proto.Equal(read, d) {
		t.Errorf("%v is read as %v: %v", d, read, err)
	}
	if got := testing.AllocsPerRun(100, func() { proto.CloneOf(r) }); got > 3 {
		t.Errorf("cloning takes %v allocations, want 3 at most, however many fields there are", got)
	}
}
