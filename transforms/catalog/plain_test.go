package catalog

import (
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"

	"beamcdc/schemas/table"
)

var plainColumns = []table.Column{
	{Name: "id", Type: table.String, Mode: table.Required}, {Name: "at", Type: table.Timestamp}, {Name: "image", Type: table.JSON},
}

func plainTable() (*table.Table, View) {
	name := table.Name{Project: "p", Dataset: "d", Table: "past"}
	of := &table.Table{Name: name, Columns: plainColumns, ClusterBy: []string{"id"}, PartitionBy: &table.Partition{Column: "at", Type: "DAY"}}
	view := View{Name: table.Name{Project: "p", Dataset: "d", Table: "past_ids"}, Query: "SELECT DISTINCT id FROM `p.d.past`"}
	return of, view
}

func newPlain(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	s.config.Plain = plainColumns
	return s
}

func (s *server) plain(t *testing.T, create bool) *Catalog {
	t.Helper()
	s.config.CreateTables = create
	c, err := newCatalog(t.Context(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAppendable_creates(t *testing.T) {
	s := newPlain(t)
	of, view := plainTable()
	c := s.plain(t, true)
	for range 3 {
		if err := c.Appendable(t.Context(), of, view); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.gets.Load(); n != 2 { // before and after it was created
		t.Errorf("%d reads", n)
	}
	m, err := s.client.Dataset("d").Table("past").Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.TableConstraints != nil && m.TableConstraints.PrimaryKey != nil {
		t.Errorf("its rows may repeat, and it has the primary key %v", m.TableConstraints.PrimaryKey.Columns)
	}
	if m.TimePartitioning == nil || m.TimePartitioning.Field != "at" || m.Clustering == nil || !slices.Equal(m.Clustering.Fields, []string{"id"}) {
		t.Errorf("partitioning %+v, clustering %+v", m.TimePartitioning, m.Clustering)
	}
	if m, err = s.client.Dataset("d").Table("past_ids").Metadata(t.Context()); err != nil || m.ViewQuery != view.Query {
		t.Errorf("the view: %+v, %v", m, err)
	}
	// Another worker's, which finds both there.
	if err := s.plain(t, true).Appendable(t.Context(), of, view); err != nil {
		t.Error(err)
	}
}

// A table that someone else made is taken as it is, if the rows fit it.
func TestAppendable_found(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns bigquery.Schema // nil: no table
		want    string          // "" takes it
	}{
		{"missing", nil, "does not exist"},
		{"as it is to be", bigquery.Schema{
			{Name: "ID", Type: bigquery.StringFieldType},
			{Name: "at", Type: bigquery.TimestampFieldType},
			{Name: "image", Type: bigquery.JSONFieldType},
			{Name: "more", Type: bigquery.StringFieldType},
		}, ""},
		{"without a column", bigquery.Schema{{Name: "id", Type: bigquery.StringFieldType}, {Name: "at", Type: bigquery.TimestampFieldType}}, "lacks column image of type JSON"},
		{"of another type", bigquery.Schema{
			{Name: "id", Type: bigquery.IntegerFieldType}, {Name: "at", Type: bigquery.TimestampFieldType}, {Name: "image", Type: bigquery.JSONFieldType},
		}, "lacks column id of type STRING"},
		{"that asks for more", bigquery.Schema{
			{Name: "id", Type: bigquery.StringFieldType},
			{Name: "at", Type: bigquery.TimestampFieldType},
			{Name: "image", Type: bigquery.JSONFieldType},
			{Name: "more", Type: bigquery.StringFieldType, Required: true},
		}, "column more is REQUIRED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newPlain(t)
			if err := s.client.Dataset("d").Create(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if c.columns != nil {
				if err := s.client.Dataset("d").Table("past").Create(t.Context(), &bigquery.TableMetadata{Schema: c.columns}); err != nil {
					t.Fatal(err)
				}
			}
			of, view := plainTable()
			err := s.plain(t, false).Appendable(t.Context(), of, view)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!IsPermanent(err) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := s.client.Dataset("d").Table("past_ids").Metadata(t.Context()); err == nil {
				t.Error("it has created a view unasked")
			}
		})
	}
}

// A table that goes missing under the writer is created again.
func TestFits_plain(t *testing.T) {
	s := newPlain(t)
	of, view := plainTable()
	c := s.plain(t, true)
	if fits, err := c.Fits(t.Context(), "p.d.past", 1); !fits || err != nil {
		t.Errorf("a table that was never asked for: %v, %v", fits, err)
	}
	if err := c.Appendable(t.Context(), of, view); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Dataset("d").Table("past").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	plan, err := c.Plan(t.Context(), "p.d.past", 0)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if fits, err := c.Fits(t.Context(), "p.d.past", plan.Fingerprint()); !fits || err != nil {
			t.Fatalf("%v, %v", fits, err)
		}
		if _, err := s.client.Dataset("d").Table("past").Metadata(t.Context()); err == nil {
			break
		}
	}
	s.status.Store(503)
	if err := s.plain(t, true).Appendable(t.Context(), of, view); err == nil || IsPermanent(err) {
		t.Errorf("while BigQuery is out of reach: %v", err)
	}
}
