package diff

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/table"
)

// settled is a source whose log is at a position.
type settled struct {
	at   Position
	rows []Row
}

func (s *settled) Settled(context.Context, []Key) (Position, []Row, error) { return s.at, s.rows, nil }

// typesTable has a column of each kind that a database gives, with the hints that a
// pipeline without schemas needs: a repair means what it means all the same.
func typesTable(t *testing.T) *Table {
	t.Helper()
	columns := []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "b", Type: table.Bool},
		{Name: "u", Type: table.Numeric, From: table.FromUnsigned},
		{Name: "f", Type: table.Float64},
		{Name: "n", Type: table.Numeric, From: table.FromDecimal, FromScale: 2},
		{Name: "s", Type: table.String},
		{Name: "raw", Type: table.Bytes, From: table.FromHex},
		{Name: "d", Type: table.Date, From: table.FromDays},
		{Name: "t", Type: table.Time, From: table.FromMicros},
		{Name: "dt", Type: table.DateTime, From: table.FromMillis},
		{Name: "ts", Type: table.Timestamp, From: table.FromMicros},
		{Name: "i", Type: table.Interval},
		{Name: "j", Type: table.JSON},
		{Name: "a", Type: table.Numeric, Mode: table.Repeated, From: table.FromDecimal},
		{Name: "null", Type: table.String},
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	compared, err := NewTable("public.types", &table.Table{Name: table.Name{Project: "p", Dataset: "d", Table: "types"}, PrimaryKey: []string{"id"}, Columns: columns},
		append(names, "only_there"))
	if err != nil {
		t.Fatal(err)
	}
	return compared
}

// Of a row that the rule's steps are done to the source's own columns are published: the
// pipeline does them again.
func TestRepairer_enriched(t *testing.T) {
	rule, destination := people()
	compared, _, err := enriched(t, rule, destination, readKey, `{"id":1}`)
	if err != nil {
		t.Fatal(err)
	}
	row, stays, err := compared.enrichedRow([]change.Column{
		{Name: "id", Value: change.Int64(1)}, {Name: "email", Value: change.Text("one@x")}, {Name: "net", Value: change.Int64(5000)}, {Name: "note", Value: change.Null()},
	})
	if err != nil || stays {
		t.Fatalf("%v, stays %t: net is over what where lets stay", err, stays)
	}
	r := Repairer{Table: compared, Now: time.Now}
	data, err := r.envelope(Position{Connector: "postgresql", LSN: 7}, row.Key, &row)
	if want := `"after":{"id":1,"email":"one@x","net":5000,"note":null}`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("%v, no %s in\n%s", err, want, data)
	}
}

func TestRepairer_types(t *testing.T) {
	compared := typesTable(t)
	values := []change.Value{
		change.Int64(math.MinInt64), change.Bool(true), change.Uint64(math.MaxUint64), change.Float64(math.Inf(-1)), change.Decimal("1234"),
		change.String("a\"\n\u2028<"), change.Bytes("\x00\xff"), change.Date(-719162), change.Time(86_399_999_999), change.DateTime(-62135596800000000),
		change.Timestamp(253402300799999999), change.String("P1Y2M3DT4H5M6.7S"), change.JSON(`{"b": 1.0, "a": [null]}`),
		change.Array([]change.Column{{Value: change.Decimal("1234")}, {Value: change.Decimal("-0.05")}}), change.Null(),
	}
	var columns []change.Column
	for i, v := range values {
		columns = append(columns, change.Column{Name: compared.Columns[i].Name, Value: v})
	}
	row, err := compared.SourceRow(columns)
	if err != nil || row.Refused != nil {
		t.Fatal(err, row.Refused)
	}
	row.others = []change.Column{{Name: "only_there", Value: change.Int64(7)}}
	key := row.Key
	for connector, at := range map[string]Position{
		"public.types": {Connector: "postgresql", LSN: 0x10_0000_0200}, "shop.types": {Connector: "mysql", File: "binlog.000042", Pos: 1234},
	} {
		compared.Source = connector
		var published []Message
		r := Repairer{
			Table: compared, Settler: &settled{at, []Row{row}}, Now: func() time.Time { return time.UnixMilli(1741507626005) },
			Publish: func(_ context.Context, messages []Message) error {
				published = append(published, messages...)
				return nil
			},
		}
		gone := key
		gone.order += "x"
		n, err := r.Repair(context.Background(), []Difference{{Kind: Different, Key: key}, {Kind: Extra, Key: gone}, {Kind: Refused, Key: key}})
		if err != nil || n != 2 || len(published) != 2 {
			t.Fatalf("%d published, %v", n, err)
		}
		decoder, err := envelope.New(envelope.Options{Format: "debezium", Epoch: 3})
		if err != nil {
			t.Fatal(err)
		}
		decode := func(m Message) change.Event {
			events, _, err := decoder.Decode(change.Message{Data: m.Data}, nil)
			if err != nil || len(events) != 1 {
				t.Fatalf("%s: %d events, %v", m.Data, len(events), err)
			}
			return events[0]
		}
		upsert, remove := decode(published[0]), decode(published[1])
		if upsert.Op != change.OpSnapshot || upsert.Table != connector || remove.Op != change.OpDelete || remove.Table != connector {
			t.Errorf("got %v of %q and %v of %q", upsert.Op, upsert.Table, remove.Op, remove.Table)
		}
		last := len(upsert.After) - 1
		if upsert.After[last].Name != "only_there" {
			t.Errorf("the last column is %q: what the rule's expressions may want is not there", upsert.After[last].Name)
		}
		again, err := compared.SourceRow(upsert.After[:last])
		if err != nil || again.Refused != nil {
			t.Fatal(err, again.Refused)
		}
		for i := range compared.Columns {
			if diff := cmp.Diff(row.fields[i], again.fields[i]); diff != "" {
				t.Errorf("column %s (-source +published):\n%s", compared.Columns[i].Name, diff)
			}
		}
		if v, _ := change.Find(remove.Before, "id"); v.Int() != math.MinInt64 || len(remove.Before) != 1 {
			t.Errorf("the delete has %+v", remove.Before)
		}
		want := map[string]string{"postgresql": "3/1000000200/0/0", "mysql": "3/2A/4D2/0"}[at.Connector]
		if got := upsert.Sequence.String(); got != want {
			t.Errorf("sequence %s, want %s", got, want)
		}
		if remove.Sequence.Compare(upsert.Sequence) < 0 || remove.Sequence.Sections()[1] != upsert.Sequence.Sections()[1] {
			t.Errorf("the delete's sequence is %s, the other's %s", remove.Sequence, upsert.Sequence)
		}
	}
}
