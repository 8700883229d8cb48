package emulator

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"go.uber.org/goleak"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/emulator/internal/engine"
)

// childDB names the database of a child process, which is a server and nothing else.
const childDB = "EMULATOR_TEST_CHILD_DB"

// childScript names what the child does before it is killed; "" is to serve.
const childScript = "EMULATOR_TEST_CHILD_SCRIPT"

func TestMain(m *testing.M) {
	if path := os.Getenv(childDB); path != "" {
		s, err := New(Options{Project: "p", DB: path, mergeRows: 200})
		if err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		if os.Getenv(childScript) == "streams" {
			if err := childStreams(s); err != nil {
				fmt.Println("failed", err)
				os.Exit(1)
			}
		} else {
			fmt.Println("ready", s.GRPCAddr(), s.RESTAddr())
		}
		select {} // until it is killed
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if code == 0 {
		// What Google's clients leave: OpenCensus, and a pause after a stream's end.
		if err := goleak.Find(
			goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
			goleak.IgnoreAnyFunction("cloud.google.com/go/bigquery/storage/managedwriter.(*connection).getStream.func1"),
		); err != nil {
			fmt.Println("goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// child starts a server in a process of its own, and returns clients for it.
func child(t *testing.T, db string) (*env, *exec.Cmd) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDB+"="+db)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[0] != "ready" {
		t.Fatalf("the child says %q: %v", line, err)
	}
	e := &env{t: t}
	if e.conn, err = grpc.NewClient(words[1], grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.conn.Close() })
	if e.bq, err = bigquery.NewClient(t.Context(), "p", option.WithEndpoint(words[2]), option.WithoutAuthentication()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.bq.Close() })
	return e, cmd
}

// Every acknowledged row survives a kill -9 at any moment, merges included; three
// times in a row with one file.
func TestCrash_AcknowledgedRowsSurvive(t *testing.T) {
	db := filepath.Join(t.TempDir(), "crash.db")
	const connections = 4
	acknowledged := map[int]int{} // key -> the value that was acknowledged last
	for round := range 3 {
		e, cmd := child(t, db)
		if round == 0 {
			if err := e.bq.Dataset("d").Create(t.Context(), &bigquery.DatasetMetadata{}); err != nil {
				t.Fatal(err)
			}
			e.table("t", "id INTEGER, v INTEGER", "id")
		}
		message := e.descriptor("t", true)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for c := range connections {
			w := e.writerWith("t", message)
			wg.Go(func() {
				for n := 0; ; n++ {
					key, value := (n%50)*connections+c, round*1_000_000+n
					r := w.request(fmt.Sprintf(`{"id":%d,"v":%d,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"%X/%X"}`, key, value, round, n))
					if err := w.stream.Send(r); err != nil {
						return
					}
					answer, err := w.stream.Recv()
					if err != nil {
						return
					}
					if answer.GetError() != nil {
						t.Error(answer)
						return
					}
					mu.Lock()
					acknowledged[key] = value
					mu.Unlock()
				}
			})
		}
		time.Sleep(400 * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		_ = cmd.Wait() // "signal: killed"
	}
	if len(acknowledged) < connections {
		t.Fatalf("%d keys were acknowledged: the test proves nothing", len(acknowledged))
	}
	s, err := New(Options{Project: "p", DB: db})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	rows, err := s.Rows(t.Context(), "d", "t")
	if err != nil {
		t.Fatal(err)
	}
	stored := map[int]int{}
	for _, text := range rows {
		var row struct {
			ID int `json:"id,string"`
			V  int `json:"v,string"`
		}
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		stored[row.ID] = row.V
	}
	for key, value := range acknowledged {
		// A later value may have been stored whose acknowledgement was lost.
		if got, ok := stored[key]; !ok || got < value {
			t.Errorf("key %d: stored %d (%v), acknowledged %d", key, got, ok, value)
		}
	}
}

// What streams hold, what was applied and what is pending survive a kill -9.
func TestCrash_StreamsAndApplies(t *testing.T) {
	db := filepath.Join(t.TempDir(), "crash.db")
	s, err := New(Options{Project: "p", DB: db})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateDataset(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "cdc"} {
		resource := &bq.Table{MaxStaleness: "0-0 0 1:0:0", Schema: &bq.TableSchema{Fields: []*bq.TableFieldSchema{{Name: "id", Type: "INTEGER"}}}}
		if name == "cdc" {
			resource.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: []string{"id"}}}
		}
		if _, err := s.engine.CreateTable(t.Context(), engine.TableRef{Project: "p", Dataset: "d", Table: name}, resource); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDB+"="+db, childScript+"=streams")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 4 || words[0] != "streams" {
		t.Fatalf("the child says %q: %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"

	e := newEnv(t, Options{DB: db})
	e.want("plain", `{"id":"10"}`, `{"id":"30"}`)
	ref := engine.TableRef{Project: "p", Dataset: "d", Table: "plain"}
	for i, id := range words[1:] {
		s, err := e.engine.Stream(ref, id)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := e.engine.Finalize(t.Context(), s)
		if err != nil || rows != int64(1+i/2) {
			t.Errorf("stream %d has %d rows, error %v", i, rows, err)
		}
		switch s.Type() {
		case engine.Pending:
			_, err = e.engine.CommitStreams(t.Context(), ref, []string{id})
		case engine.Buffered:
			err = e.engine.Flush(t.Context(), s, 1)
		case engine.Committed: // they show already
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := e.Rows(t.Context(), "d", "plain")
	if err != nil || len(rows) != 4 {
		t.Errorf("rows %s, error %v", rows, err)
	}
	table, err := e.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: "cdc"})
	if err != nil {
		t.Fatal(err)
	}
	if state := e.engine.CDCState(table); state.Pending != 1 || state.Watermark.IsZero() || state.RuntimeMerge {
		t.Errorf("state %+v", state)
	}
	if jobs := e.engine.ApplyJobs(); len(jobs) != 1 || jobs[0].Rows != 2 {
		t.Errorf("jobs %+v", jobs)
	}
	e.want("cdc", `{"id":"2"}`, `{"id":"3"}`)
	e.writer("cdc", true).append(`{"id":1,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"4"}`) // older than its delete
	e.want("cdc", `{"id":"2"}`, `{"id":"3"}`)
}

// childStreams fills a server with what a kill must leave, and prints the streams' IDs.
func childStreams(s *Server) error {
	ctx := context.Background()
	table := func(name string) *engine.Table {
		t, err := s.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: name})
		if err != nil {
			panic(err)
		}
		return t
	}
	store := func(b *engine.Batch, sequence engine.Sequence, deleted bool, ids ...int64) error {
		for _, id := range ids {
			if err := b.Add([]any{id}, sequence, deleted); err != nil {
				return err
			}
		}
		return errors.Join(s.engine.Append(ctx, b), b.Wait(ctx))
	}
	plain, cdc := table("plain"), table("cdc")
	line := "streams"
	for i, kind := range []engine.StreamType{engine.Committed, engine.Pending, engine.Buffered} {
		stream, err := s.engine.CreateStream(ctx, plain.Ref(), kind)
		if err != nil {
			return err
		}
		b := s.engine.NewBatch(plain, plain.Schema(), false, 2)
		b.To(stream, 0)
		if err := store(b, engine.Sequence{}, false, []int64{int64(10 + 10*i), int64(11 + 10*i)}[:1+i/2]...); err != nil {
			return err
		}
		if kind == engine.Buffered {
			if err := s.engine.Flush(ctx, stream, 0); err != nil {
				return err
			}
		}
		line += " " + stream.ID()
	}
	five, err := engine.ParseSequence("5")
	if err != nil {
		return err
	}
	if err := store(s.engine.NewBatch(cdc, cdc.Schema(), true, 1), five, true, 1); err != nil {
		return err
	}
	if err := store(s.engine.NewBatch(cdc, cdc.Schema(), true, 1), five, false, 2); err != nil {
		return err
	}
	if err := s.engine.Apply(ctx, cdc); err != nil {
		return err
	}
	if err := store(s.engine.NewBatch(cdc, cdc.Schema(), true, 1), five, false, 3); err != nil {
		return err
	}
	fmt.Println(line)
	return nil
}

// A server that is closed leaves all to the next one: rows, deletes remembered,
// pending changes, the catalog, the order of ingestion.
func TestReopen(t *testing.T) {
	db := filepath.Join(t.TempDir(), "reopen.db")
	e := newEnv(t, Options{DB: db})
	e.table("t", "id INTEGER REQUIRED, v STRING", "id")
	if err := e.bq.Dataset("d").Table("plain").Create(t.Context(), &bigquery.TableMetadata{Schema: parseTestSchema("a STRING"), Description: "no key"}); err != nil {
		t.Fatal(err)
	}
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"merged","_CHANGE_TYPE":"UPSERT"}`, `{"id":2,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"5"}`)
	e.merge("t")
	w.append(`{"id":3,"v":"pending","_CHANGE_TYPE":"UPSERT"}`)
	e.writer("plain", false).append(`{"a":"x"}`, `{"a":"w"}`)
	_, err := e.bq.Dataset("d").Table("t").Update(t.Context(), bigquery.TableMetadataToUpdate{Schema: parseTestSchema("new INTEGER, id INTEGER, v STRING")}, "")
	if err != nil {
		t.Fatal(err)
	}
	before, err := e.bq.Dataset("d").Table("t").Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	e = newEnv(t, Options{DB: db})
	after, err := e.bq.Dataset("d").Table("t").Metadata(t.Context())
	if err != nil || after.ETag != before.ETag {
		t.Errorf("metadata %+v, error %v, want the ETag %s", after, err, before.ETag)
	}
	if pending := e.Stats().Pending; pending != 1 {
		t.Errorf("%d changes are pending, want 1", pending)
	}
	e.want("plain", `{"a":"x"}`, `{"a":"w"}`)
	e.want("t", `{"new":null,"id":"1","v":"merged"}`, `{"new":null,"id":"3","v":"pending"}`)
	e.writer("t", true).append(
		`{"new":7,"id":2,"v":"late","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"4"}`,
		`{"new":8,"id":3,"v":"later","_CHANGE_TYPE":"UPSERT"}`, `{"new":9,"id":1,"v":"later","_CHANGE_TYPE":"UPSERT"}`)
	want := []string{`{"new":"9","id":"1","v":"later"}`, `{"new":"8","id":"3","v":"later"}`}
	e.want("t", want...)
	e.merge("t")
	e.want("t", want...)
	if _, err := New(Options{DB: db}); err == nil {
		t.Error("a second server opened the same file")
	}
}

// Connections that append while others merge, read, alter and delete: every
// request gets its answer, and what was acknowledged is there.
func TestConcurrency(t *testing.T) {
	e := newEnv(t, Options{mergeRows: 100})
	const tables, connections, requests, rowsEach = 3, 6, 40, 5
	for i := range tables {
		e.table(fmt.Sprintf("t%d", i), "id INTEGER, v INTEGER", "id")
	}
	message := e.descriptor("t0", true)
	ctx, cancel := context.WithCancel(t.Context())
	var background, appenders sync.WaitGroup
	background.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := e.Rows(ctx, "d", fmt.Sprintf("t%d", i%tables)); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	background.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			name := fmt.Sprintf("x%d", i)
			e.table(name, "id INTEGER", "id")
			columns := "id INTEGER, v INTEGER"
			for c := range i/tables + 1 {
				columns += fmt.Sprintf(", c%d STRING", c)
			}
			if _, err := e.bq.Dataset("d").Table(fmt.Sprintf("t%d", i%tables)).Update(t.Context(), bigquery.TableMetadataToUpdate{Schema: parseTestSchema(columns)}, ""); err != nil {
				t.Error(err)
			}
			if err := e.bq.Dataset("d").Table(name).Delete(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	for c := range connections {
		table := fmt.Sprintf("t%d", c%tables)
		w := e.writerWith(table, message)
		appenders.Go(func() {
			for n := range requests {
				var rows []string
				for i := range rowsEach {
					rows = append(rows, fmt.Sprintf(`{"id":%d,"v":%d,"_CHANGE_TYPE":"UPSERT"}`, c*1000+(n*rowsEach+i)%30, n))
				}
				r := w.request(rows...)
				if err := w.stream.Send(r); err != nil {
					t.Error(err)
					return
				}
				if answer, err := w.stream.Recv(); err != nil || answer.GetError() != nil {
					t.Error(answer, err)
					return
				}
			}
		})
	}
	appenders.Wait()
	cancel()
	background.Wait()
	for i := range tables {
		rows, err := e.Rows(t.Context(), "d", fmt.Sprintf("t%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if want := connections / tables * 30; len(rows) != want {
			t.Errorf("t%d has %d rows, want %d", i, len(rows), want)
		}
	}
	if e.Stats().Merges == 0 {
		t.Error("nothing was merged: the test proves less than it should")
	}
}

// Options.OnAppend: an answer of its own, a response that never comes, nor any after
// it, the end of the connection, and requests that it lets through.
func TestOnAppend(t *testing.T) {
	var mu sync.Mutex
	var seen int
	e := newEnv(t, Options{OnAppend: func(req *storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
		mu.Lock()
		defer mu.Unlock()
		seen++
		switch req.GetTraceId() {
		case "answer":
			return &storagepb.AppendRowsResponse{WriteStream: "hook"}, nil, true
		case "swallow":
			return nil, nil, true
		case "break":
			return nil, errors.New("broken"), true
		}
		return nil, errors.New("ignored"), false
	}})
	e.table("t", "id INTEGER, v STRING", "id")
	w := e.writer("t", true)
	const row = `{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`
	w.append(row)
	r := w.request(row)
	r.TraceId = "answer"
	if answer := w.send(r); answer.GetWriteStream() != "hook" {
		t.Errorf("answer %v", answer)
	}
	silent := e.writer("t", true)
	silent.append(row)
	r = silent.request(row)
	r.TraceId = "swallow"
	silent.sendLost(2, r, silent.request(`{"id":2,"v":"b","_CHANGE_TYPE":"UPSERT"}`))
	r = w.request(row)
	r.TraceId = "break"
	if err := w.stream.Send(r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.stream.Recv(); err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v", err)
	}
	e.want("t", `{"id":"1","v":"a"}`, `{"id":"2","v":"b"}`)
	if mu.Lock(); seen != 6 {
		t.Errorf("the hook saw %d requests, want 6", seen)
	}
	mu.Unlock()
}
