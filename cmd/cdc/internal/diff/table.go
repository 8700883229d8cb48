package diff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
)

// Table is what is compared: the columns that a source and its table in BigQuery
// both have.
type Table struct {
	Source       string // as change events name it: "public.orders"
	Name         table.Name
	Columns      []Column // in BigQuery's order
	Key          []int    // the primary key's columns among them, in the order of the constraint
	MaxStaleness time.Duration

	// What one side alone has isn't compared: the source's columns that BigQuery's
	// table lacks, and BigQuery's that the source's lacks.
	OnlySource, OnlyBigQuery []string
	others                   []Column // OnlySource
	// Left are columns that both have and that aren't compared, by why.
	Left map[string]string

	enrichment *Enrichment // nil where the rule has no steps
	inputs     []Column    // all the source's, where it has some

	source *rowproto.Encoder // by the pipeline's rule
	plain  *rowproto.Encoder // without from and bad_values: what BigQuery says is typed
}

// Column is one that both sides have.
type Column struct {
	table.Column        // as the pipeline writes it
	Source       string // the source's name of it; "" for one that a step of enrich makes
	Key          bool
	// Bits says that the source's are bits, of which connectors write the zero bytes
	// at the high end or don't.
	Bits bool
	// Spans says that the source's are intervals, of which connectors send months, days and
	// time, or one number for all.
	Spans bool
}

// NoColumnError says that a source lacks a column of the primary key.
type NoColumnError struct {
	Source, Column string
	Table          table.Name
}

func (e *NoColumnError) Error() string {
	return fmt.Sprintf("%s has no column %s, which is of the primary key of %v", e.Source, e.Column, e.Table)
}

// NewTable returns what to compare of a source's table with these columns. The
// destination is as the catalog knows it, with the hints of its rule.
func NewTable(source string, destination *table.Table, sourceColumns []string) (*Table, error) {
	t := &Table{Source: source, Name: destination.Name, MaxStaleness: destination.MaxStaleness}
	taken := make([]bool, len(sourceColumns))
	for _, c := range destination.Columns {
		at := -1
		for i, name := range sourceColumns {
			if strings.EqualFold(name, c.Name) {
				if at >= 0 {
					return nil, fmt.Errorf("%s has two columns for %s of %v: BigQuery's names know no case", source, c.Name, t.Name)
				}
				at = i
			}
		}
		if at < 0 {
			t.OnlyBigQuery = append(t.OnlyBigQuery, c.Name)
			continue
		}
		taken[at] = true
		t.Columns = append(t.Columns, Column{Column: c, Source: sourceColumns[at]})
	}
	for i, name := range sourceColumns {
		if !taken[i] {
			t.OnlySource = append(t.OnlySource, name)
			t.others = append(t.others, Column{Column: table.Column{Name: name}, Source: name})
		}
	}
	for _, name := range destination.PrimaryKey {
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return nil, &NoColumnError{Source: source, Column: name, Table: t.Name}
		}
		t.Columns[i].Key = true
		t.Key = append(t.Key, i)
	}
	return t, t.compile(destination)
}

// compile makes the two encoders of the columns that are compared.
func (t *Table) compile(destination *table.Table) error {
	hinted := table.Table{Name: t.Name, PrimaryKey: destination.PrimaryKey}
	for _, c := range t.Columns {
		hinted.Columns = append(hinted.Columns, c.Column)
	}
	plain := hinted
	plain.Columns = withoutHints(hinted.Columns)
	source, err := rowproto.Compile(&hinted)
	if err != nil {
		return err
	}
	other, err := rowproto.Compile(&plain)
	if err != nil {
		return err
	}
	t.source, t.plain = source.NewEncoder(), other.NewEncoder()
	return nil
}

func withoutHints(columns []table.Column) []table.Column {
	plain := slices.Clone(columns)
	for i := range plain {
		c := &plain[i]
		c.From, c.FromScale, c.FromUnscaled, c.BadValues = "", 0, false, ""
		c.MaxLength, c.Precision, c.Scale = 0, 0, 0 // a table may hold what was allowed before
		c.Fields = withoutHints(c.Fields)
	}
	return plain
}

// KeyNames are the key's columns as BigQuery calls them.
func (t *Table) KeyNames() []string {
	names := make([]string, len(t.Key))
	for i, c := range t.Key {
		names[i] = t.Columns[c].Name
	}
	return names
}

// KeyObject returns a key as a JSON object.
func (t *Table) KeyObject(k Key) any {
	o := make(object, 0, len(t.Key))
	for i, c := range t.Key {
		o = append(o, member{t.Columns[c].Name, valueJSON(k.Values[i])})
	}
	return o
}

// Row is a row of one side.
type Row struct {
	Key     Key
	Columns []change.Column // by BigQuery's names
	fields  [][]byte        // encoded, in the order of the table's columns
	others  []change.Column // of a row that is to be published: what BigQuery has no column for
	raw     []change.Column // of a row that steps were done to: what it was before
	// Refused is why the pipeline would make a dead letter of a source's row.
	Refused *rowproto.ValueError
}
