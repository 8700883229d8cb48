package emulator

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// tell sends a request to the admin endpoint.
func (e *env) tell(method, path, body string, want int) string {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), method, e.RESTAddr()+"/emulator/v1/"+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		e.t.Fatalf("%s %s: status %d, error %v, want %d: %s", method, path, response.StatusCode, err, want, text)
	}
	return string(text)
}

// ended sends a request and returns the status with which the connection ends.
func (w *writer) ended(r *storagepb.AppendRowsRequest) *status.Status {
	w.env.t.Helper()
	if err := w.stream.Send(r); err != nil && !errors.Is(err, io.EOF) {
		w.env.t.Fatal(err)
	}
	response, err := w.stream.Recv()
	if err == nil {
		w.env.t.Fatalf("the connection goes on: %v", response)
	}
	return status.Convert(err)
}

func row1(id string) string { return `{"id":` + id + `,"_CHANGE_TYPE":"UPSERT"}` }

func TestFaults_append(t *testing.T) {
	for _, test := range []struct {
		fault  string
		code   codes.Code
		ends   bool // the connection does
		stored bool
		text   string
	}{
		{"code: UNAVAILABLE", codes.Unavailable, false, false, "The emulator was told to fail. Entity: " + streamOf("t")},
		{"code: INTERNAL, message: oops, end_connection: true", codes.Internal, true, false, "oops"},
		{"cut: before", codes.Unavailable, true, false, "The connection was cut."},
		{"cut: after", codes.Unavailable, true, true, "The connection was cut."},
		{"reject_rows: [0, 7], reject_message: no", codes.InvalidArgument, false, false, "Errors found while processing rows."},
		{"delay: 1ms", codes.OK, false, true, ""},
	} {
		t.Run(test.fault, func(t *testing.T) {
			e := newEnv(t, Options{})
			e.table("t", "id INTEGER", "id")
			e.tell("PUT", "faults", "[{times: 1, "+test.fault+"}]", http.StatusOK)
			w := e.writer("t", true)
			if r := w.request(row1("1")); test.ends {
				if st := w.ended(r); st.Code() != test.code || !strings.Contains(st.Message(), test.text) {
					t.Errorf("the connection ends with %v, want %s %q", st, test.code, test.text)
				}
			} else {
				response := w.send(r)
				if got := status.FromProto(response.GetError()); got.Code() != test.code || !strings.Contains(got.Message(), test.text) {
					t.Errorf("response %v, want %s %q", response, test.code, test.text)
				}
				w.append(row1("2")) // what the request said of its stream sticks
			}
			rows, err := e.Rows(t.Context(), "d", "t")
			want := 0
			if test.stored {
				want++
			}
			if !test.ends {
				want++
			}
			if err != nil || len(rows) != want {
				t.Errorf("%d rows, error %v, want %d", len(rows), err, want)
			}
			if list := e.tell("GET", "faults", "", http.StatusOK); !strings.Contains(list, `"happened":1`) {
				t.Errorf("faults %s", list)
			}
		})
	}
}

func TestFaults_rejectedRow(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	e.tell("PUT", "faults", `[{"reject_rows":[1],"reject_message":"no"}]`, http.StatusOK)
	w := e.writer("t", true)
	if got := w.send(w.request(row1("1"), row1("2"))).GetRowErrors(); len(got) != 1 || got[0].GetIndex() != 1 || got[0].GetMessage() != "no" {
		t.Errorf("row errors %v", got)
	}
}

// A response that is lost leaves the connection open and silent: were those that follow to
// come, each would be taken for the one to the request before, as the client tells them by
// their order.
func TestFaults_lostResponse(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	e.tell("PUT", "faults", "[{lose_response: true, times: 1}]", http.StatusOK)
	w := e.writer("t", true)
	w.sendLost(2, w.request(row1("1")), w.request(row1("2")))
	e.want("t", ids(1, 2)...)
}

func TestFaults_throttle(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	e.tell("POST", "clock", `{"freeze":"2026-01-02T03:04:05Z"}`, http.StatusOK)
	e.tell("PUT", "faults", "[{bytes_per_second: 1}]", http.StatusOK)
	w := e.writer("t", true)
	w.append(row1("1"))
	wantError(t, w.send(w.request(row1("2"))), codes.ResourceExhausted, 0, "Exceeds 'AppendRows throughput' quota")
	e.tell("POST", "clock", `{"advance":"1s"}`, http.StatusOK)
	w.append(row1("3"))
}

func TestFaults_unary(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER", "id")
	client := storagepb.NewBigQueryWriteClient(e.conn)
	get := func() error {
		_, err := client.GetWriteStream(t.Context(), &storagepb.GetWriteStreamRequest{Name: streamOf("t")})
		return err
	}
	e.tell("PUT", "faults", "[{method: GetWriteStream, table: p.d.t, code: PERMISSION_DENIED, storage_error: STREAM_NOT_FOUND, times: 1}]", http.StatusOK)
	e.wantStorageError(get(), codes.PermissionDenied, storagepb.StorageError_STREAM_NOT_FOUND)
	if err := get(); err != nil {
		t.Error(err)
	}
	e.tell("PUT", "faults", "[{method: CreateWriteStream, cut: after}]", http.StatusOK)
	_, err := client.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: "projects/p/datasets/d/tables/t", WriteStream: &storagepb.WriteStream{Type: storagepb.WriteStream_PENDING},
	})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("error %v", err)
	}
	e.tell("DELETE", "faults", "", http.StatusOK)
	if list := e.tell("GET", "faults", "", http.StatusOK); list != `{"faults":[]}`+"\n" {
		t.Errorf("faults %s", list)
	}
}

// "BigQuery's metadata lags by minutes": a new table isn't there yet for the Write API.
func TestFaults_hideNew(t *testing.T) {
	clock := &Clock{}
	e := newEnv(t, Options{Clock: clock})
	clock.Freeze(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	e.table("old", "id INTEGER", "id")
	message := e.descriptor("old", true)
	if err := e.SetFaults([]Fault{{Effect: Effect{HideNew: 2 * time.Minute}, Table: "d.*"}}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(119 * time.Second)
	w := e.writerWith("old", message)
	wantError(t, w.send(w.request(row1("1"))), codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND, "Requested entity was not found.")
	clock.Advance(time.Second)
	w.append(row1("1"))

	// Nor is a new column: writers that have it are told so, others go on.
	if err := e.SetFaults(nil); err != nil {
		t.Fatal(err)
	}
	e.addColumn("old", "color")
	wide := e.descriptor("old", true)
	if err := e.SetFaults([]Fault{{Effect: Effect{HideNew: 2 * time.Minute}}}); err != nil {
		t.Fatal(err)
	}
	w.append(row1("2"))
	if got := e.descriptor("old", false); len(got.GetField()) != 1 {
		t.Errorf("the stream shows the new column: %v", got)
	}
	const colored = `{"id":3,"color":"red","_CHANGE_TYPE":"UPSERT"}`
	early := e.writerWith("old", wide)
	wantError(t, early.send(early.request(colored)), codes.InvalidArgument, storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS, "Input schema has more fields than BigQuery schema, extra fields: 'color'")
	clock.Advance(2 * time.Minute)
	late := e.writerWith("old", wide)
	late.append(colored)
	if response := w.send(w.request(row1("4"))); response.GetUpdatedSchema() == nil {
		t.Error("the open connection isn't told of the new column")
	}
}

// addColumn adds a STRING column by REST.
func (e *env) addColumn(table, name string) {
	e.t.Helper()
	handle := e.bq.Dataset("d").Table(table)
	m, err := handle.Metadata(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	schema := append(slices.Clone(m.Schema), &bigquery.FieldSchema{Name: name, Type: bigquery.StringFieldType})
	if _, err := handle.Update(e.t.Context(), bigquery.TableMetadataToUpdate{Schema: schema}, ""); err != nil {
		e.t.Fatal(err)
	}
}

func TestOnCall(t *testing.T) {
	var seen []Call
	e := newEnv(t, Options{OnCall: func(c Call) Effect {
		seen = append(seen, c)
		if len(seen) == 3 {
			return Effect{Code: "ABORTED"}
		}
		return Effect{}
	}})
	e.table("t", "id INTEGER", "id")
	w := e.writer("t", true)
	wantError(t, w.send(w.request(row1("1"))), codes.Aborted, 0, "The emulator was told to fail.")
	if len(seen) != 3 || seen[0].Method != "tables.insert" || seen[1].Method != "GetWriteStream" || seen[2].Method != "AppendRows" || seen[2].Table != "p.d.t" || seen[2].Request == nil {
		t.Errorf("calls %v", seen)
	}
}

// Faults reach REST's methods, by their names.
func TestFaults_rest(t *testing.T) {
	for _, test := range []struct {
		fault  string
		code   int // 0 for a connection that is cut
		reason string
		stored bool
	}{
		{"method: tabledata.insertAll, table: d.t, times: 1, code: UNAVAILABLE, message: busy", 503, "backendError", false},
		{"method: tabledata.*, times: 1, code: RESOURCE_EXHAUSTED", 403, "rateLimitExceeded", false},
		{"method: tabledata.insertAll, times: 1, code: NOT_FOUND", 404, "notFound", false},
		{"method: tabledata.insertAll, times: 1, cut: before", 0, "", false},
		{"method: tabledata.insertAll, times: 1, cut: after", 0, "", true},
		{"method: tabledata.insertAll, times: 1, delay: 1ms", 200, "", true},
		{"method: tabledata.insertAll, table: d.other, code: UNAVAILABLE", 200, "", true},
		{"method: jobs.query, code: UNAVAILABLE", 200, "", true},
	} {
		t.Run(test.fault, func(t *testing.T) {
			e := newEnv(t, Options{})
			e.table("t", "id INTEGER")
			list, err := ParseFaults([]byte("- {" + test.fault + "}"))
			if err != nil {
				t.Fatal(err)
			}
			if err := e.SetFaults(list); err != nil {
				t.Fatal(err)
			}
			url := e.RESTAddr() + "/bigquery/v2/projects/p/datasets/d/tables/t/insertAll"
			r, err := http.Post(url, "application/json", strings.NewReader(`{"rows":[{"json":{"id":1}}]}`))
			if (err != nil) != (test.code == 0) {
				t.Fatalf("error %v", err)
			}
			if err == nil {
				body, _ := io.ReadAll(r.Body)
				_ = r.Body.Close()
				if r.StatusCode != test.code || !strings.Contains(string(body), test.reason) {
					t.Errorf("%d %s, want %d %s", r.StatusCode, body, test.code, test.reason)
				}
			}
			if rows, err := e.Rows(t.Context(), "d", "t"); err != nil || (len(rows) == 1) != test.stored {
				t.Errorf("%d rows, error %v", len(rows), err)
			}
		})
	}
}

// The service closes a connection on which nothing happens.
func TestIdleConnection(t *testing.T) {
	clock := &Clock{}
	e := newEnv(t, Options{Clock: clock, IdleTimeout: 600 * time.Second})
	e.table("t", "id INTEGER", "id")
	w := e.writer("t", true)
	w.append(row1("1"))
	clock.Advance(599 * time.Second)
	w.append(row1("2"))
	clock.Advance(600 * time.Second)
	if _, err := w.stream.Recv(); status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "inactive for 600 seconds") {
		t.Errorf("error %v", err)
	}
}

// Every method that a fault can be for is one that the error lists.
func TestFaults_methods(t *testing.T) {
	_, err := ParseFaults([]byte("[{method: tables.gets, code: ABORTED}]"))
	if err == nil || !strings.Contains(err.Error(), `"tables.gets" is none of AppendRows, `) {
		t.Fatalf("error %v", err)
	}
	for _, method := range []string{"AppendRows", "GetWriteStream", "BatchCommitWriteStreams", "CreateReadSession", "tables.get", "jobs.query", "tabledata.insertAll"} {
		if !strings.Contains(err.Error()+",", " "+method+",") {
			t.Errorf("%s isn't among the methods: %v", method, err)
		}
		if _, err := ParseFaults([]byte("[{method: " + method + ", code: ABORTED}]")); err != nil {
			t.Error(err)
		}
	}
	if err := newEnv(t, Options{}).SetFaults([]Fault{{Method: "tables.gets", Effect: Effect{Code: "ABORTED"}}}); err == nil {
		t.Error("a fault for no method is set")
	}
}

func TestClock(t *testing.T) {
	var c Clock
	if d := time.Until(c.Now()); d < -time.Second || d > time.Second {
		t.Errorf("a new clock is off by %v", d)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c.Freeze(at)
	c.Advance(time.Hour)
	if got := c.Now(); !got.Equal(at.Add(time.Hour)) {
		t.Errorf("frozen at %v", got)
	}
	c.Run()
	if d := c.Now().Sub(at.Add(time.Hour)); d < 0 || d > time.Minute {
		t.Errorf("running again, it is off by %v", d)
	}
}
