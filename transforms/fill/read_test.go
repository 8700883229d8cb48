package fill

import (
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"google.golang.org/api/option"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

func TestMain(m *testing.M) { ptest.Main(m) }

// A row that is there is read with all its values in the types of their columns, one
// that isn't is known to be missing, and neither is asked for again.
func TestRead(t *testing.T) {
	server, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	config := Config{Catalog: catalog.Config{
		Project: "demo", RESTEndpoint: server.RESTAddr(), GRPCEndpoint: server.GRPCAddr(), Plaintext: true, CreateTables: true,
		Rules: []table.Rule{{
			Source: "public.docs", Destination: "shop.docs", PrimaryKey: []string{"id", "day"}, UnavailableValues: "fill",
			Fill: &table.Fill{FirstSeen: "read"},
			Columns: []table.Column{
				{Name: "id", Type: table.String},
				{Name: "day", Type: table.Date},
				{Name: "doc", Type: table.String},
				{Name: "price", Type: table.Numeric},
				{Name: "tags", Type: table.String, Mode: table.Repeated},
				{Name: "raw", Type: table.Bytes},
			},
		}},
	}}
	tables, err := catalog.Open(t.Context(), config.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	match, _ := tables.Route("public.docs")
	d, err := tables.Destination(t.Context(), match)
	if err != nil {
		t.Fatal(err)
	}
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(server.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if _, err := client.Query("INSERT INTO shop.docs (id, day, doc, price, tags, raw) VALUES ('a', '2025-03-09', 'one', 12.5, ['x', 'y'], b'\\x00')").Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	changeOf := func(id string) change.RowChange {
		key := []change.Column{{Name: "id", Value: change.String(id)}, {Name: "day", Value: change.Date(20156)}}
		coded, err := d.Plan.AppendKey(nil, key)
		if err != nil {
			t.Fatal(err)
		}
		return change.RowChange{Event: change.Event{Table: "public.docs", Op: change.OpUpdate}, Table: "demo.shop.docs", Key: coded, Type: change.Upsert, Columns: key}
	}
	f := &readFn{Config: config}
	if err := f.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []change.RowChange
	emit := func(_ beam.EventTime, _ []byte, c change.RowChange) { got = append(got, c) }
	bundle := func(ids ...string) {
		t.Helper()
		got = nil
		f.StartBundle(t.Context(), emit)
		for _, id := range ids {
			if err := f.ProcessElement(t.Context(), 0, []byte("read "+id), changeOf(id), emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.FinishBundle(t.Context(), emit); err != nil {
			t.Fatal(err)
		}
	}
	f.StartBundle(t.Context(), emit)
	if err := f.ProcessElement(t.Context(), 0, []byte("read a"), changeOf("a"), emit); err != nil {
		t.Fatal(err)
	} // the bundle fails, and what it was told is lost
	bundle("a", "b", "a")
	if len(got) != 3 || !got[0].Read || !got[1].Read || got[2].Read || got[0].Stored == nil || got[1].Stored != nil {
		t.Fatalf("read %v %v %v, stored %t %t", got[0].Read, got[1].Read, got[2].Read, got[0].Stored != nil, got[1].Stored != nil)
	}
	stored, err := change.ReadRowChange(got[0].Stored)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]change.Value{
		"doc": change.String("one"), "price": change.Decimal("12.5"), "raw": change.Bytes("\x00"), "day": change.Date(20156),
	} {
		v, ok := find(stored.Columns, name)
		if !ok || v.Kind() != want.Kind() || v.Int() != want.Int() || name != "price" && v.Text() != want.Text() {
			t.Errorf("column %s is %v %q", name, v.Kind(), v.Text())
		}
	}
	if v, _ := find(stored.Columns, "tags"); v.Kind() != change.KindArray || len(v.Elems()) != 2 {
		t.Errorf("tags are %v of %d", v.Kind(), len(v.Elems()))
	}
	bundle("a", "b")
	if got[0].Read || got[1].Read {
		t.Error("rows are read again")
	}
}

// What BigQuery has of a row is asked for where a change may lack some of it: the row
// itself, or the row that it goes on as under another key.
func TestRead_asks(t *testing.T) {
	t.Parallel()
	hard, soft := settingsOf(&table.Rule{UnavailableValues: "fill"}), settingsOf(&table.Rule{Deletes: "soft"})
	for _, test := range []struct {
		what       string
		c          change.RowChange
		hard, soft bool
	}{
		{"a new row", change.RowChange{Event: change.Event{Op: change.OpCreate}, Type: change.Upsert}, false, false},
		{"a row of a snapshot", change.RowChange{Event: change.Event{Op: change.OpSnapshot}, Type: change.Upsert}, false, false},
		{"a new row that was published before this process began", change.RowChange{Event: change.Event{Op: change.OpCreate, Message: change.Message{PublishTime: began.Add(-time.Second)}}, Type: change.Upsert}, true, true},
		{"one of a snapshot", change.RowChange{Event: change.Event{Op: change.OpSnapshot, Message: change.Message{PublishTime: began.Add(-time.Second)}}, Type: change.Upsert}, true, true},
		{"a new row that was published since", change.RowChange{Event: change.Event{Op: change.OpCreate, Message: change.Message{PublishTime: began.Add(time.Hour)}}, Type: change.Upsert}, false, false},
		{"an update", change.RowChange{Event: change.Event{Op: change.OpUpdate}, Type: change.Upsert}, true, true},
		{"a delete", change.RowChange{Event: change.Event{Op: change.OpDelete}, Type: change.Delete}, false, true},
		{"the delete of a changed key", change.RowChange{Event: change.Event{Op: change.OpUpdate}, Type: change.Delete, MovedTo: []byte("b")}, true, true},
		{"one by a message of its own", change.RowChange{Event: change.Event{Op: change.OpDelete}, Type: change.Delete, MovedTo: []byte("b")}, true, true},
		{"the row of a changed key", change.RowChange{Event: change.Event{Op: change.OpCreate}, Type: change.Upsert, MovedFrom: []byte("a")}, true, true},
	} {
		f := new(readFn)
		if got := f.asks(hard, &test.c); got != test.hard {
			t.Errorf("%s, hard deletes: %t", test.what, got)
		}
		if got := f.asks(soft, &test.c); got != test.soft {
			t.Errorf("%s, soft deletes: %t", test.what, got)
		}
	}
}
