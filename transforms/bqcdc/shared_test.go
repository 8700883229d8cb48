package bqcdc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// Invariant 2 over connections that many tables of different schemas share, and that end
// every so often; plain rows are written beside them (invariant 6), for the emulator
// refuses a mixture as BigQuery does.
func TestWriter_sharedConnections(t *testing.T) {
	const tables, ids, sequences, seed = 60, 5, 6, 11
	random := rand.New(rand.NewPCG(seed, seed))
	var calls atomic.Uint64
	e := newEmulated(t, emulator.Options{OnAppend: func(r *storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, error, bool) {
		switch n := calls.Add(1); {
		case n%17 == 3:
			return nil, status.Error(codes.Unavailable, "the connection is draining"), true
		case r.GetProtoRows().GetWriterSchema() != nil: // the emulator has to hear what a connection is about
		case n%5 == 0:
			return refuse(codes.ResourceExhausted, "Exceeds 'AppendRows throughput' quota"), nil, true
		}
		return nil, nil, false
	}})
	e.config.OwnConnections, e.config.SharedConnections = 2, 2
	e.config.MaxRequestRows = 7
	e.config.RetryFor = time.Minute
	e.config.Catalog.Rules = nil
	for i := range tables { // the column of the values is another in each, by number and type
		columns := []table.Column{{Name: "id", Type: table.Int64, Mode: table.Required}}
		for c := range i % 4 {
			columns = append(columns, table.Column{Name: fmt.Sprint("other", c), Type: table.Bool})
		}
		kind := table.String
		if i%3 == 0 {
			kind = table.Int64
		}
		e.config.Catalog.Rules = append(e.config.Catalog.Rules, table.Rule{
			Source: fmt.Sprint("s", i), Destination: fmt.Sprint("d.t", i), PrimaryKey: []string{"id"}, Columns: append(columns, table.Column{Name: "value", Type: kind}),
		})
	}
	known, err := catalog.Open(t.Context(), e.config.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	var rows []change.Row
	for i := range tables {
		match, _ := known.Route(fmt.Sprint("s", i))
		destination, err := known.Destination(t.Context(), match)
		if err != nil {
			t.Fatal(err)
		}
		for id := range ids {
			for sequence := range sequences {
				rows = append(rows, sharedRow(t, destination.Plan, i, id, sequence))
			}
		}
	}
	rows = append(rows, rows[:200]...)
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })

	plain, plainTables := e.plainWriter(t)
	w := e.writer(t)
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range int64(20) {
			if got, err := write(t, plain, plainRow(t, plainTables, "p.d.past", i)); err != nil || len(got.acknowledged) != 1 {
				t.Errorf("plain row %d: %d acknowledged, %v", i, len(got.acknowledged), err)
			}
		}
	})
	got, err := write(t, w, rows...)
	wait.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.acknowledged) != len(rows) || got.repeats[transient] == 0 {
		t.Errorf("%d of %d rows acknowledged, repeats %v", len(got.acknowledged), len(rows), got.repeats)
	}
	for i := range tables {
		stored, err := e.server.Rows(t.Context(), "d", fmt.Sprint("t", i))
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for id := range ids {
			if (id+sequences-1)%4 != 0 { // not deleted last
				want++
			}
		}
		if len(stored) != want {
			t.Errorf("table %d has %d rows, want %d", i, len(stored), want)
		}
		for _, text := range stored {
			var row map[string]any
			if err := json.Unmarshal(text, &row); err != nil {
				t.Fatal(err)
			}
			if value := fmt.Sprint(row["value"]); value != fmt.Sprint(1000*i+sequences-1) {
				t.Errorf("table %d: %s", i, text)
			}
		}
	}
	w.streams.mu.Lock()
	defer w.streams.mu.Unlock()
	if len(w.streams.shared[false]) == 0 {
		t.Error("no connection is shared")
	}
}

func sharedRow(t *testing.T, plan *rowproto.Plan, i, id, sequence int) change.Row {
	t.Helper()
	r := change.Row{
		Table: fmt.Sprint("p.d.t", i), Schema: plan.Fingerprint(), Type: change.Upsert, Sequence: change.NewSequence(0, uint64(sequence+1), 0, 1),
		Message: change.Message{ID: fmt.Sprint(i, ".", id, "@", sequence)},
	}
	value := change.String(fmt.Sprint(1000*i + sequence))
	if i%3 == 0 {
		value = change.Int64(int64(1000*i + sequence))
	}
	columns := []change.Column{{Name: "id", Value: change.Int64(int64(id))}}
	for c := range i % 4 {
		columns = append(columns, change.Column{Name: fmt.Sprint("other", c), Value: change.Bool(true)})
	}
	columns = append(columns, change.Column{Name: "value", Value: value})
	var err error
	if (id+sequence)%4 == 0 {
		r.Type = change.Delete
		r.Data, err = plan.AppendDelete(nil, columns[:1], r.Sequence)
	} else {
		r.Data, err = plan.AppendUpsert(nil, columns, r.Sequence, rowproto.RowOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A table that is dropped and made again as it was, while rows are on their way: its
// connections say so for as long as they live, and new ones don't know it at first.
func TestBundle_recreatedTable(t *testing.T) {
	for connection, table := range map[string]string{"own": "p.d.first", "shared": "p.d.other"} {
		t.Run(connection, func(t *testing.T) {
			s := newWriteServer(t)
			var before sync.Map // connections that knew the table that was dropped
			var recreated atomic.Bool
			var lag atomic.Int64
			lag.Store(3)
			s.answer = func(a *appendCall) (*storagepb.AppendRowsResponse, error) {
				switch {
				case a.table != table:
					return nil, nil
				case !recreated.Load():
					before.Store(a.connection, true)
					return nil, nil
				}
				if _, knew := before.Load(a.connection); knew {
					return refuse(codes.NotFound, "Table 123:d.t is re-created. Entity: x"), nil
				}
				if lag.Add(-1) >= 0 {
					return nil, status.Error(codes.NotFound, "Requested entity was not found")
				}
				return nil, nil
			}
			w := sharingWriter(t, testConfig(s))
			for round := range 10 {
				recreated.Store(round >= 3)
				got, err := write(t, w, testRow(table, fmt.Sprint(round), uint64(round+1)), testRow("p.d.third", fmt.Sprint(round), uint64(round+1)))
				if err != nil {
					t.Fatal(err)
				}
				if len(got.acknowledged) != 2 {
					t.Errorf("round %d: acknowledged %v", round, got.acknowledged)
				}
			}
			if lag.Load() > 0 {
				t.Error("the new table was known at once")
			}
			if got := s.stored(table); !strings.HasSuffix(strings.Join(got, " "), "0 1 2 3 4 5 6 7 8 9") {
				t.Errorf("stored %v", got)
			}
		})
	}
}

// The same in the emulator, by someone else's hand.
func TestWriter_recreatedTable(t *testing.T) {
	e := newEmulated(t, emulator.Options{})
	w := e.writer(t)
	if _, err := write(t, w, e.row(t, 1, 1, "lost")); err != nil {
		t.Fatal(err)
	}
	handle := e.client.Dataset("d").Table("items")
	m, err := handle.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := handle.Delete(t.Context()); err != nil {
			t.Error(err)
		}
		again := &bigquery.TableMetadata{Schema: m.Schema, TableConstraints: m.TableConstraints, Clustering: m.Clustering}
		if err := handle.Create(t.Context(), again); err != nil && !strings.Contains(err.Error(), "Already Exists") { // the writer may have been first
			t.Error(err)
		}
	})
	for id := range int64(20) {
		if _, err := write(t, w, e.row(t, id, 2, "during")); err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	for id := range int64(20) {
		if _, err := write(t, w, e.row(t, 100+id, 1, "after")); err != nil {
			t.Fatal(err)
		}
	}
	got := e.table(t)
	for id := range 20 {
		if got[fmt.Sprint(100+id)] != "after" {
			t.Errorf("row %d is %q", 100+id, got[fmt.Sprint(100+id)])
		}
	}
	if got["1"] == "lost" {
		t.Error("the table was not dropped")
	}
}
