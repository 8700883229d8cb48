package catalog

import (
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

// everything has a column of each type, parameterized where BigQuery has parameters.
var everything = &table.Table{
	Name: table.Name{Project: "p", Dataset: "d", Table: "t"},
	Columns: []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required, Description: "the key"},
		{Name: "b", Type: table.Bool, Mode: table.Nullable},
		{Name: "f", Type: table.Float64, Mode: table.Nullable},
		{Name: "n", Type: table.Numeric, Mode: table.Nullable, Precision: 12, Scale: 2},
		{Name: "bn", Type: table.BigNumeric, Mode: table.Nullable, Precision: 50, Scale: 20},
		{Name: "s", Type: table.String, Mode: table.Nullable, MaxLength: 10},
		{Name: "by", Type: table.Bytes, Mode: table.Nullable, MaxLength: 20},
		{Name: "d", Type: table.Date, Mode: table.Nullable},
		{Name: "t", Type: table.Time, Mode: table.Nullable},
		{Name: "dt", Type: table.DateTime, Mode: table.Nullable},
		{Name: "ts", Type: table.Timestamp, Mode: table.Nullable},
		{Name: "j", Type: table.JSON, Mode: table.Nullable},
		{Name: "g", Type: table.Geography, Mode: table.Nullable},
		{Name: "i", Type: table.Interval, Mode: table.Nullable},
		{Name: "r", Type: table.Range, Element: table.Date, Mode: table.Nullable},
		{Name: "a", Type: table.String, Mode: table.Repeated},
		{Name: "st", Type: table.Struct, Mode: table.Repeated, Fields: []table.Column{
			{Name: "x", Type: table.Int64, Mode: table.Required},
			{Name: "y", Type: table.Struct, Mode: table.Nullable, Fields: []table.Column{{Name: "z", Type: table.Range, Element: table.Timestamp, Mode: table.Nullable}}},
		}},
	},
	PrimaryKey: []string{"id"}, ClusterBy: []string{"id", "s"},
	PartitionBy: &table.Partition{Column: "ts", Type: "MONTH"}, MaxStaleness: 26*time.Hour + 3*time.Minute + 4*time.Second,
	Description: "everything",
}

// A table comes back from BigQuery as it was created.
func TestMetadata_roundTrip(t *testing.T) {
	got, err := fromMetadata(everything.Name, toMetadata(everything))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everything, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The same, with BigQuery's client and an emulator between.
func TestMetadata_roundTripOverREST(t *testing.T) {
	s := newServer(t)
	c := s.open(t)
	want := *everything
	want.Name = table.Name{Project: "p", Dataset: "fresh", Table: "t"}
	if err := c.create(t.Context(), &want); err != nil {
		t.Fatal(err)
	}
	if err := c.create(t.Context(), &want); err != nil {
		t.Errorf("creating what is there: %v", err)
	}
	got, err := c.read(t.Context(), want.Name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFromMetadata_refuses(t *testing.T) {
	name := table.Name{Project: "p", Dataset: "d", Table: "t"}
	for _, test := range []struct {
		m    *bigquery.TableMetadata
		want string
	}{
		{&bigquery.TableMetadata{Type: bigquery.ViewTable}, "it is a VIEW"},
		{&bigquery.TableMetadata{Schema: bigquery.Schema{{Name: "a", Type: "RECORD", Schema: bigquery.Schema{{Name: "b", Type: "NEW"}}}}}, `column a.b has type "NEW"`},
		{&bigquery.TableMetadata{Schema: bigquery.Schema{{Name: "a", Type: "RANGE"}}}, "without an element type"},
	} {
		if _, err := fromMetadata(name, test.m); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}

func TestFromMetadata_googleSQLNames(t *testing.T) {
	got, err := fromSchema(bigquery.Schema{
		{Name: "a", Type: "INT64"},
		{Name: "b", Type: "struct", Schema: bigquery.Schema{{Name: "c", Type: "FLOAT64"}, {Name: "d", Type: "BOOL"}}},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []table.Column{
		{Name: "a", Type: table.Int64, Mode: table.Nullable},
		{Name: "b", Type: table.Struct, Mode: table.Nullable, Fields: []table.Column{
			{Name: "c", Type: table.Float64, Mode: table.Nullable}, {Name: "d", Type: table.Bool, Mode: table.Nullable},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A month counts thirty days, as BigQuery reckons staleness nowhere more precisely.
func TestFromInterval(t *testing.T) {
	v, err := bigquery.ParseInterval("1-1 2 3:4:5.5")
	if err != nil {
		t.Fatal(err)
	}
	want := (365+30+2)*24*time.Hour + 3*time.Hour + 4*time.Minute + 5*time.Second + 500*time.Millisecond
	if got := fromInterval(v); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
