package history

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/rowproto"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

// world is a BigQuery with a table and its history.
type world struct {
	t      *testing.T
	server *emulator.Server
	client *bigquery.Client
	writes *managedwriter.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := emulator.New(emulator.Options{Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	w := &world{t: t, server: server}
	if w.client, err = bigquery.NewClient(t.Context(), "p", option.WithEndpoint(server.RESTAddr()), option.WithoutAuthentication()); err != nil {
		t.Fatal(err)
	}
	w.writes, err = managedwriter.NewClient(t.Context(), "p", option.WithEndpoint(server.GRPCAddr()), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.writes.Close() })
	return w
}

// mirrored is a rule's table with its history.
type mirrored struct {
	*world
	rule *table.Rule
	fn   *rowsFn
	plan *rowproto.Plan
	past table.Name
}

func (w *world) mirror(rule table.Rule) *mirrored {
	w.t.Helper()
	config := catalog.Config{
		Project: "p", RESTEndpoint: w.server.RESTAddr(), GRPCEndpoint: w.server.GRPCAddr(), Plaintext: true, CreateTables: true, Rules: []table.Rule{rule},
	}
	m := &mirrored{world: w, rule: &rule, fn: &rowsFn{Tables: config, Histories: Catalog(config)}}
	if err := m.fn.Setup(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	match, ok := m.fn.tables.Route(rule.Source)
	if !ok {
		w.t.Fatal("no route")
	}
	destination, err := m.fn.tables.Destination(w.t.Context(), match)
	if err != nil {
		w.t.Fatal(err)
	}
	if problems := Check(w.t.Context(), Config{Tables: config, Histories: Catalog(config)}); len(problems) > 0 {
		w.t.Fatal(problems)
	}
	m.plan, m.past = destination.Plan, match.History
	return m
}

// keyOf completes a change with its key's bytes.
func (m *mirrored) keyed(c change.RowChange) change.RowChange {
	m.t.Helper()
	c.Event.Table, c.Table = m.rule.Source, m.plan.Table().Name.String()
	if c.Type == 0 {
		return c
	}
	var err error
	if c.Key, err = m.plan.AppendKey(nil, c.Columns); err != nil {
		m.t.Fatal(err)
	}
	return c
}

// remember returns the history's rows of the changes, and the dead letters.
func (m *mirrored) remember(changes ...change.RowChange) (rows []change.Row, letters []deadletter.Letter) {
	m.t.Helper()
	emit := func(row change.Row) { rows = append(rows, row) }
	letter := func(l deadletter.Letter) { letters = append(letters, l) }
	m.fn.StartBundle(emit, letter)
	for i := range changes {
		if err := m.fn.ProcessElement(m.t.Context(), changes[i], emit, letter); err != nil {
			m.t.Fatal(err)
		}
	}
	return rows, letters
}

// write writes the changes to the table and to its history, in their order.
func (m *mirrored) write(changes ...change.RowChange) {
	m.t.Helper()
	m.writePast(changes...)
	m.writeRows(changes...)
}

// writePast writes the changes to the history.
func (m *mirrored) writePast(changes ...change.RowChange) {
	m.t.Helper()
	rows, letters := m.remember(changes...)
	if len(letters) > 0 {
		m.t.Fatalf("%+v", letters[0])
	}
	past := make([][]byte, len(rows))
	for i := range rows {
		past[i] = rows[i].Data
	}
	plain, err := m.fn.histories.PlainPlan(m.past)
	if err != nil {
		m.t.Fatal(err)
	}
	m.append(plain, past)
}

// writeRows writes the changes to the table.
func (m *mirrored) writeRows(changes ...change.RowChange) {
	m.t.Helper()
	var data [][]byte
	var err error
	for i := range changes {
		c := &changes[i]
		var row []byte
		switch c.Type {
		case change.Upsert:
			row, err = m.plan.AppendUpsert(nil, c.Columns, c.Event.Sequence, rowproto.RowOptions{})
		case change.Delete:
			row, err = m.plan.AppendDelete(nil, c.Columns, c.Event.Sequence)
		default:
			continue
		}
		if err != nil {
			m.t.Fatal(err)
		}
		data = append(data, row)
	}
	m.append(m.plan, data)
}

func (w *world) append(plan *rowproto.Plan, rows [][]byte) {
	w.t.Helper()
	name := plan.Table().Name
	stream, err := w.writes.NewManagedStream(context.WithoutCancel(w.t.Context()), managedwriter.WithType(managedwriter.DefaultStream),
		managedwriter.WithDestinationTable(fmt.Sprintf("projects/%s/datasets/%s/tables/%s", name.Project, name.Dataset, name.Table)),
		managedwriter.WithSchemaDescriptor(plan.Descriptor()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	result, err := stream.AppendRows(w.t.Context(), rows)
	if err == nil {
		_, err = result.GetResult(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// query returns the rows of a query.
func (w *world) query(sql string) [][]bigquery.Value {
	w.t.Helper()
	it, err := w.client.Query(sql).Read(w.t.Context())
	if err != nil {
		w.t.Fatalf("%v\n%s", err, sql)
	}
	var rows [][]bigquery.Value
	for {
		var row []bigquery.Value
		switch err := it.Next(&row); {
		case errors.Is(err, iterator.Done):
			return rows
		case err != nil:
			w.t.Fatalf("%v\n%s", err, sql)
		}
		rows = append(rows, row)
	}
}

// schema returns the names and types of a query's columns.
func (w *world) schema(sql string) []string {
	w.t.Helper()
	it, err := w.client.Query(sql).Read(w.t.Context())
	if err != nil {
		w.t.Fatalf("%v\n%s", err, sql)
	}
	var row []bigquery.Value
	_ = it.Next(&row) // the schema comes with the first page
	return shownSchema(it.Schema)
}

func shownSchema(fields bigquery.Schema) []string {
	shown := make([]string, len(fields))
	for i, f := range fields {
		shown[i] = fmt.Sprint(f.Name, " ", f.Type, " ", f.Repeated, " ", shownSchema(f.Schema))
		if f.RangeElementType != nil {
			shown[i] += fmt.Sprint(" ", f.RangeElementType.Type)
		}
	}
	return shown
}

// wantRebuilt compares the table with what its history makes of it, types and all.
func (m *mirrored) wantRebuilt(order string) {
	m.t.Helper()
	mirror := fmt.Sprintf("SELECT * FROM `%s`", m.plan.Table().Name)
	if own := m.rule.OwnColumns(); len(own) > 0 {
		names := make([]string, len(own))
		for i := range own {
			names[i] = own[i].Name
		}
		mirror = fmt.Sprintf("SELECT * EXCEPT (%s) FROM `%s`", strings.Join(names, ", "), m.plan.Table().Name)
	}
	rebuild := RebuildQuery(m.plan.Table(), m.rule, m.past)
	if diff := cmp.Diff(m.schema(mirror), m.schema(rebuild)); diff != "" {
		m.t.Errorf("types (-table +rebuilt):\n%s", diff)
	}
	ordered := " ORDER BY " + order
	got, want := m.query("SELECT * FROM ("+rebuild+")"+ordered), m.query(mirror+ordered)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }), cmp.Comparer(func(a, b float64) bool {
		return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b) // -0 is not 0
	})); diff != "" {
		m.t.Errorf("rows (-table +rebuilt):\n%s\n%s", diff, rebuild)
	}
}
