package bqcdc

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// emulated is a BigQuery that applies CDC, with a writer that creates its table.
type emulated struct {
	server *emulator.Server
	config Config
	plan   *rowproto.Plan
	client *bigquery.Client
}

func newEmulated(t *testing.T, o emulator.Options) *emulated {
	t.Helper()
	o.Project = "p"
	server, err := emulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	e := &emulated{server: server, config: testConfig(&writeServer{addr: server.GRPCAddr()})}
	e.config.Catalog = catalog.Config{
		Project: "p", RESTEndpoint: server.RESTAddr(), GRPCEndpoint: server.GRPCAddr(), Plaintext: true, CreateTables: true,
		Rules: []table.Rule{{
			Source: "items", Destination: "d.items", PrimaryKey: []string{"id"},
			Columns: []table.Column{{Name: "id", Type: table.Int64, Mode: table.Required}, {Name: "text", Type: table.String, MaxLength: 12}},
		}},
	}
	tables, err := catalog.Open(t.Context(), e.config.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	match, _ := tables.Route("items")
	destination, err := tables.Destination(t.Context(), match)
	if err != nil {
		t.Fatal(err)
	}
	e.plan = destination.Plan
	e.client, err = bigquery.NewClient(t.Context(), "p", option.WithEndpoint(server.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// writer returns a writer as a worker has it.
func (e *emulated) writer(t *testing.T) *writer {
	t.Helper()
	w, err := openWriter(t.Context(), e.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutdown(w.streams) })
	return w
}

// row is a change of the table; "" deletes.
func (e *emulated) row(t *testing.T, id int64, sequence uint64, text string) change.Row {
	t.Helper()
	r := change.Row{
		Table: "p.d.items", Schema: e.plan.Fingerprint(), Type: change.Upsert, Sequence: change.NewSequence(0, sequence, 0, 1),
		Message: change.Message{ID: fmt.Sprint(id, "@", sequence)},
	}
	columns := []change.Column{{Name: "id", Value: change.Int64(id)}, {Name: "text", Value: change.String(text)}}
	var err error
	if text == "" {
		r.Type = change.Delete
		r.Data, err = e.plan.AppendDelete(nil, columns[:1], r.Sequence)
	} else {
		r.Data, err = e.plan.AppendUpsert(nil, columns, r.Sequence, rowproto.RowOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// table returns what BigQuery has, as text by id.
func (e *emulated) table(t *testing.T) map[string]string {
	t.Helper()
	rows, err := e.server.Rows(t.Context(), "d", "items")
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, text := range rows {
		var row map[string]any
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint(row["id"])
		if _, twice := got[id]; twice {
			t.Errorf("key %s is there twice", id)
		}
		got[id] = fmt.Sprint(row["text"])
	}
	return got
}

// Invariant 2, through a server that fails every so often: any order and
// repetition leaves the latest change of each key.
func TestWriter_convergesUnderFire(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	var calls atomic.Uint64
	e := newEmulated(t, emulator.Options{OnAppend: func(r *storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
		switch n := calls.Add(1); {
		case n%7 == 3:
			return nil, status.Error(codes.Unavailable, "the connection is draining"), true
		case r.GetWriteStream() != "": // the emulator has to hear what a connection is about
		case n%11 == 5:
			return refuse(codes.ResourceExhausted, "Exceeds 'AppendRows throughput' quota"), nil, true
		case n%13 == 6:
			return refuse(codes.Internal, "oops"), nil, true
		}
		return nil, nil, false
	}})
	w := e.writer(t)
	w.config.MaxRequestRows = 20

	want := make(map[string]string)
	var rows []change.Row
	for id := range int64(100) {
		for sequence := range uint64(10) {
			text := fmt.Sprint("v", sequence)
			if (uint64(id)+sequence)%4 == 0 {
				text = ""
			}
			rows = append(rows, e.row(t, id, sequence+1, text))
			delete(want, fmt.Sprint(id))
			if text != "" {
				want[fmt.Sprint(id)] = text
			}
		}
	}
	rows = append(rows, rows[:200]...)
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	got, err := write(t, w, rows...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.acknowledged) != len(rows) || got.repeats[transient] == 0 || got.repeats[throttled] == 0 {
		t.Errorf("%d of %d rows acknowledged, repeats %v", len(got.acknowledged), len(rows), got.repeats)
	}
	if diff := cmp.Diff(want, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// BigQuery's own row errors: the rows they name are dead letters, the others are there.
func TestWriter_rowErrorsOfTheEmulator(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	good1, good3, good5 := e.row(t, 1, 1, "one"), e.row(t, 3, 1, "three"), e.row(t, 5, 1, "five")
	// The encoder knows the column's length, so that it takes another schema's plan
	// to send a text that BigQuery refuses.
	wide := *e.plan.Table()
	wide.Columns = []table.Column{wide.Columns[0], {Name: "text", Type: table.String, Mode: table.Nullable}}
	plan, err := rowproto.Compile(&wide)
	if err != nil {
		t.Fatal(err)
	}
	tooLong := func(id int64) change.Row {
		r := e.row(t, id, 1, "x")
		r.Data, err = plan.AppendUpsert(nil, []change.Column{{Name: "id", Value: change.Int64(id)}, {Name: "text", Value: change.String("a text of more than twelve")}}, r.Sequence, rowproto.RowOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	got, err := write(t, e.writer(t), good1, tooLong(2), good3, tooLong(4), good5)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1@1", "3@1", "5@1"}, map[string]string{"2@1": "rejected_row", "4@1": "rejected_row"})
	if diff := cmp.Diff(map[string]string{"1": "one", "3": "three", "5": "five"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// A column that is added while rows of the old schema are on their way, seen
// first by another worker: rows of both are written, by a stream each.
func TestWriter_addedColumn(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	old := e.row(t, 1, 1, "old")
	handle := e.client.Dataset("d").Table("items")
	m, err := handle.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	schema := slices.Concat(m.Schema, bigquery.Schema{{Name: "more", Type: bigquery.StringFieldType}})
	if _, err := handle.Update(t.Context(), bigquery.TableMetadataToUpdate{Schema: schema}, ""); err != nil {
		t.Fatal(err)
	}
	newer := *e.plan.Table()
	newer.Columns = append(newer.Columns[:2:2], table.Column{Name: "more", Type: table.String, Mode: table.Nullable})
	plan, err := rowproto.Compile(&newer)
	if err != nil {
		t.Fatal(err)
	}
	fresh := e.row(t, 2, 1, "new")
	fresh.Schema = plan.Fingerprint()
	fresh.Data, err = plan.AppendUpsert(nil, []change.Column{
		{Name: "id", Value: change.Int64(2)}, {Name: "text", Value: change.String("new")}, {Name: "more", Value: change.String("more")},
	}, fresh.Sequence, rowproto.RowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e.config.Catalog.CallTimeout = 9e9 // a catalog of its own, as on another worker
	got, err := write(t, e.writer(t), old, fresh)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"1@1", "2@1"}, nil)
	if diff := cmp.Diff(map[string]string{"1": "old", "2": "new"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// A table that is dropped while rows are on their way is created again.
func TestWriter_droppedTable(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	e.config.Catalog.RefreshEvery = 1
	w := e.writer(t)
	if _, err := write(t, w, e.row(t, 1, 1, "lost")); err != nil {
		t.Fatal(err)
	}
	if err := e.client.Dataset("d").Table("items").Delete(context.Background()); err != nil {
		t.Fatal(err)
	}
	got, err := write(t, w, e.row(t, 2, 1, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, []string{"2@1"}, nil)
	if diff := cmp.Diff(map[string]string{"2": "kept"}, e.table(t)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
