package diff

import (
	"encoding/json"
	"testing"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// spans is a table of intervals, as a rule with this from has it.
func spans(t *testing.T, from table.From) *Table {
	t.Helper()
	compared, err := NewTable("public.spans", &table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: "spans"}, PrimaryKey: []string{"id"},
		Columns: []table.Column{
			{Name: "id", Type: table.Int64, Mode: table.Required},
			{Name: "ship", Type: table.Interval, From: from},
			{Name: "all", Type: table.Interval, Mode: table.Repeated, From: from},
		},
	}, []string{"id", "ship", "all"})
	if err != nil {
		t.Fatal(err)
	}
	return compared
}

// postgresSpans is a source of it.
func postgresSpans(compared *Table) *Postgres {
	p := &Postgres{types: map[string]pgType{"id": {name: "int8"}, "ship": {name: "interval"}, "all": {name: "_interval", element: "interval"}}}
	p.sqlSource = p.source()
	p.Use(compared)
	return p
}

func (p *Postgres) spansRow(t *testing.T, compared *Table, text string) Row {
	t.Helper()
	row, err := compared.SourceRow(p.values(compared.allColumns(false), [][]byte{[]byte("1"), []byte(text), []byte("{" + text + "}")}))
	if err != nil || row.Refused != nil {
		t.Fatal(err, row.Refused)
	}
	return row
}

func bigQuerySpans(t *testing.T, compared *Table, text string) Row {
	t.Helper()
	row, err := compared.BigQueryRow([]change.Column{
		{Name: "id", Value: change.Int64(1)},
		{Name: "ship", Value: change.String(text)},
		{Name: "all", Value: change.Array([]change.Column{{Value: change.String(text)}})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// What Debezium sends of an interval by default is a number of microseconds, in which a
// month has 365.25/12 days: of a rule that says so that is what the pipeline writes, and
// nothing else is equal.
func TestPostgres_intervalsOfMicros(t *testing.T) {
	for _, test := range []struct {
		source, wrote, not string
	}{
		{"P1DT2H", "0-0 0 26:0:0", "0-0 1 2:0:0"},
		{"P1MT2H", "0-0 0 732:30:0", "0-1 0 2:0:0"},
		{"P-1Y-2M3DT-4H-5M-6.7S", "0-0 0 -10159:5:6.700", "-1-2 3 -4:5:6.700"},
		{"P1Y", "0-0 0 8766:0:0", "0-0 0 8766:0:0.000002"},
		{"PT-0.000001S", "0-0 0 -0:0:0.000001", "0-0 0 0:0:1"},
		{"PT0S", "0-0 0 0:0:0", "0-0 1 0:0:0"},
	} {
		compared := spans(t, table.FromMicros)
		source := postgresSpans(compared).spansRow(t, compared, test.source)
		wrote, not := bigQuerySpans(t, compared, test.wrote), bigQuerySpans(t, compared, test.not)
		if names := compared.Differing(&source, &wrote); len(names) > 0 {
			t.Errorf("%s: %v differ from %s: %v", test.source, names, test.wrote, valueJSON(source.Columns[1].Value))
		}
		if names := compared.Differing(&source, &not); len(names) != 2 {
			t.Errorf("%s: %v differ from %s, want both", test.source, names, test.not)
		}
		if text, _ := valueJSON(source.Columns[1].Value).(string); text != test.wrote {
			t.Errorf("%s is shown as %q, want it as BigQuery has it: %s", test.source, text, test.wrote)
		}

		// The repair is what the stream sends of it.
		r := Repairer{Table: compared, Now: time.Now}
		data, err := r.envelope(Position{Connector: "postgresql", LSN: 7}, source.Key, &source)
		if err != nil {
			t.Fatal(err)
		}
		repaired := written(t, compared, data)
		if names := compared.Differing(&repaired, &wrote); len(names) > 0 {
			t.Errorf("the repair of %s writes other values of %v than the stream: %s", test.source, names, data)
		}
	}
}

// written returns the row that the pipeline's rule makes of a message.
func written(t *testing.T, compared *Table, data []byte) Row {
	t.Helper()
	if !json.Valid(data) {
		t.Fatalf("it is no JSON: %s", data)
	}
	decoder, err := envelope.New(envelope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	events, _, err := decoder.Decode(change.Message{ID: "m", Data: data}, nil)
	if err != nil || len(events) != 1 {
		t.Fatal(err, len(events))
	}
	row, err := compared.SourceRow(events[0].After)
	if err != nil || row.Refused != nil {
		t.Fatal(err, row.Refused)
	}
	return row
}

// A rule without from leaves open as which intervals come: both are what it writes.
func TestPostgres_intervalsOfEither(t *testing.T) {
	compared := spans(t, "")
	source := postgresSpans(compared).spansRow(t, compared, "P1M1DT2H")
	for text, want := range map[string]int{"0-1 1 2:0:0": 0, "0-0 0 756:30:0": 0, "0-0 31 12:30:0": 2, "0-0 0 756:30:1": 2} {
		other := bigQuerySpans(t, compared, text)
		if names := compared.Differing(&source, &other); len(names) != want {
			t.Errorf("%v differ from %s, want %d", names, text, want)
		}
	}
}

// A rule's steps find the numbers that Debezium sends, too.
func TestPostgres_intervalsOfMicrosEnriched(t *testing.T) {
	destination := &table.Table{
		Name: table.Name{Project: "p", Dataset: "d", Table: "spans"}, PrimaryKey: []string{"id"},
		Columns: []table.Column{{Name: "id", Type: table.Int64, Mode: table.Required}, {Name: "took", Type: table.Interval, From: table.FromMicros}},
	}
	rule := &table.Rule{Source: "public.spans", Destination: "d.spans", Enrich: []table.Step{{Rename: []table.Renaming{{From: "ship", To: "took"}}}}}
	plan, err := rowproto.Compile(destination)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"id", "ship"}
	steps, err := NewEnrichment(rule, plan, names, readKey)
	if err != nil {
		t.Fatal(err)
	}
	compared, err := NewEnrichedTable(rule.Source, destination, names, steps)
	if err != nil {
		t.Fatal(err)
	}
	source, stays, err := compared.enrichedRow(postgresSpans(compared).values(compared.allColumns(false), [][]byte{[]byte("1"), []byte("P1DT2H")}))
	if err != nil || !stays || source.Refused != nil {
		t.Fatal(err, stays, source.Refused)
	}
	other, err := compared.BigQueryRow([]change.Column{{Name: "id", Value: change.Int64(1)}, {Name: "took", Value: change.String("0-0 0 26:0:0")}})
	if err != nil {
		t.Fatal(err)
	}
	if different := compared.Differing(&source, &other); len(different) > 0 {
		t.Errorf("%v differ", different)
	}
}
