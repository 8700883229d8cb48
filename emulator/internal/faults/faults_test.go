package faults

import (
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
)

// methods are some of those that there are.
var methods = []string{"AppendRows", "GetWriteStream", "tables.get", "tables.list"}

// run calls a set n times and returns which calls went wrong, as "--x-".
func run(s *Set, c Call, n int) string {
	var b strings.Builder
	for range n {
		if e := s.Next(c); e.IsZero() {
			b.WriteByte('-')
		} else {
			b.WriteByte('x')
		}
	}
	return b.String()
}

func TestSet_Next(t *testing.T) {
	append := Call{Method: "AppendRows", Table: "p.shop.orders"}
	for text, want := range map[string]string{
		`[{code: UNAVAILABLE}]`:                                      "xxxxxxxx",
		`[{code: UNAVAILABLE, skip: 2, every: 3, times: 2}]`:         "--x--x--",
		`[{code: UNAVAILABLE, times: 1}]`:                            "x-------",
		`[{code: UNAVAILABLE, table: shop.orders}]`:                  "xxxxxxxx",
		`[{code: UNAVAILABLE, table: "shop.*"}]`:                     "xxxxxxxx",
		`[{code: UNAVAILABLE, table: p.shop.orders}]`:                "xxxxxxxx",
		`[{code: UNAVAILABLE, table: q.shop.orders}]`:                "--------",
		`[{code: UNAVAILABLE, table: "*.shop"}]`:                     "--------",
		`[{code: UNAVAILABLE, method: "*"}]`:                         "xxxxxxxx",
		`[{code: UNAVAILABLE, method: GetWriteStream}]`:              "--------",
		`[{cut: before, skip: 1, times: 1}, {cut: after, times: 2}]`: "xxx-----",
		`[]`: "--------",
		``:   "--------",
	} {
		if got := run(must(t, text), append, 8); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A chance is one: half of the calls, and the same ones for the same seed.
func TestSet_chance(t *testing.T) {
	const text, calls = `[{code: UNAVAILABLE, chance: 0.5, seed: 1}]`, 1000
	first := run(must(t, text), Call{Method: "AppendRows"}, calls)
	if n := strings.Count(first, "x"); n < calls*4/10 || n > calls*6/10 {
		t.Errorf("%d of %d calls went wrong", n, calls)
	}
	if run(must(t, text), Call{Method: "AppendRows"}, calls) != first {
		t.Error("the seed doesn't reproduce the calls")
	}
	if run(must(t, strings.Replace(text, "seed: 1", "seed: 2", 1)), Call{Method: "AppendRows"}, calls) == first {
		t.Error("another seed makes no difference")
	}
}

func must(t *testing.T, text string) *Set {
	t.Helper()
	list, err := Parse([]byte(text), methods)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(func() time.Time { return time.Unix(0, 0) }, methods)
	if err := s.Replace(list); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSet_time(t *testing.T) {
	now := time.Unix(1000, 0)
	s := NewSet(func() time.Time { return now }, methods)
	if err := s.Replace([]Fault{{From: time.Minute, For: time.Minute, Effect: Effect{Code: "UNAVAILABLE"}}, {Table: "d.t", Effect: Effect{HideNew: time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for range 4 {
		got.WriteString(run(s, Call{Method: "AppendRows"}, 1))
		now = now.Add(45 * time.Second)
	}
	if got.String() != "--x-" && got.String() != "--xx" {
		t.Errorf("calls at 0, 45, 90 and 135 s: %s", got.String())
	}
	if s.Hidden("p.d.t") != time.Hour || s.Hidden("p.d.other") != 0 {
		t.Errorf("hidden %v, %v", s.Hidden("p.d.t"), s.Hidden("p.d.other"))
	}
}

func TestSet_throttle(t *testing.T) {
	now := time.Unix(1000, 0)
	s := NewSet(func() time.Time { return now }, methods)
	if err := s.Replace([]Fault{{Effect: Effect{Throttle: 100}}}); err != nil {
		t.Fatal(err)
	}
	call := Call{Method: "AppendRows", Request: &storagepb.AppendRowsRequest{TraceId: strings.Repeat("x", 40)}}
	if got := run(s, call, 4); got != "--xx" {
		t.Errorf("of four requests of 43 bytes in a second: %s", got)
	}
	now = now.Add(time.Second)
	call.Request = &storagepb.AppendRowsRequest{TraceId: strings.Repeat("x", 400)}
	if got := run(s, call, 2); got != "-x" {
		t.Errorf("of two requests that are larger than the rate: %s", got)
	}
}

func TestParse_errors(t *testing.T) {
	for text, want := range map[string]string{
		`[{code: NOPE}]`:                                `"NOPE" is no gRPC code`,
		`[{code: OK}]`:                                  `"OK" is no gRPC code`,
		`[{method: x}]`:                                 "nothing goes wrong",
		`[{cut: during}]`:                               "neither before nor after",
		`[{code: ABORTED, cut: after}]`:                 "only one of",
		`[{delay: -1s}]`:                                "delay: it is negative",
		`[{code: ABORTED, method: appendRows}]`:         `method: "appendRows" is none of AppendRows, GetWriteStream, tables.get, tables.list`,
		`[{delay: 1s, method: "table.*"}]`:              `method: "table.*" is none of`,
		`[{reject_rows: [0], method: tables.get}]`:      "reject_rows: it is for AppendRows alone",
		`[{lose_response: true, method: "tables.*"}]`:   "lose_response: it is for AppendRows alone",
		`[{bytes_per_second: 1, method: "Get*"}]`:       "bytes_per_second: it is for AppendRows alone",
		`[{delay: soon}]`:                               "reading the faults",
		`[{code: ABORTED, storage_error: X}]`:           "no code of the Storage Write API",
		`[{storage_error: STREAM_FINALIZED}]`:           "code: it is missing",
		`[{reject_rows: [-1]}]`:                         "position is negative",
		`[{code: ABORTED, table: orders}]`:              "neither dataset.table",
		`[{code: ABORTED, table: "[.x"}]`:               "is no pattern",
		`[{code: ABORTED, chance: 2}]`:                  "not between 0 and 1",
		`[{code: ABORTED, colour: red}]`:                "colour",
		`[{code: ABORTED}, {code: ABORTED, every: -1}]`: "fault 2: every",
		`{code: ABORTED}`:                               "reading the faults",
		strings.Repeat("[", 100):                        "too deeply",
		strings.Repeat(" ", maxScript+1):                "more than",
	} {
		if _, err := Parse([]byte(text), methods); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	list, err := Parse([]byte(`
- method: AppendRows
  table: shop.orders
  delay: 1500ms
  reject_rows: [0, 2]
  reject_message: no
- {"code": "RESOURCE_EXHAUSTED", "storage_error": "TABLE_NOT_FOUND", "end_connection": true}
`), methods)
	if err != nil {
		t.Fatal(err)
	}
	if f := list[0]; f.Delay != 1500*time.Millisecond || len(f.RejectRows) != 2 || f.RejectMessage != "no" {
		t.Errorf("%+v", f)
	}
	if f := list[1]; f.GRPCCode() != codes.ResourceExhausted || f.StorageCode() != storagepb.StorageError_TABLE_NOT_FOUND || !f.EndConnection {
		t.Errorf("%+v", f)
	}
}
