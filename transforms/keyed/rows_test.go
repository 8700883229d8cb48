package keyed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"beamcdc/emulator"
	"beamcdc/schemas/change"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
	"beamcdc/transforms/deadletter"
)

func init() {
	register.Function2x1(showKeyedRow)
	register.Function1x1(showLetter)
	register.Function1x1(showReceipt)
}

func showKeyedRow(key []byte, row change.Row) string {
	if want := row.Table + "\x00" + string(row.Key); string(key) != want {
		return fmt.Sprintf("key %q, want %q", key, want)
	}
	return fmt.Sprintf("%s %v %v message %s %v", row.Table, row.Type, row.Sequence, row.Message.ID, row.Receipts)
}

func showLetter(l deadletter.Letter) string {
	return fmt.Sprintf("%s %s %s %s part %d %v", l.Message.ID, l.Table, l.Stage, l.Reason, l.Part, l.Receipts)
}

func showReceipt(r change.Receipt) string { return fmt.Sprint(r) }

// newCatalog starts an emulator and returns a catalog's configuration for it.
func newCatalog(t *testing.T) catalog.Config {
	t.Helper()
	server, err := emulator.New(emulator.Options{Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	columns := []table.Column{{Name: "id", Type: table.Int64, Mode: table.Required}, {Name: "v", Type: table.String}}
	rule := func(source, destination string) table.Rule {
		return table.Rule{Source: source, Destination: destination, PrimaryKey: []string{"id"}, Columns: columns}
	}
	arrival, missing := rule("public.arrival", "shop.arrival"), rule("public.missing", "shop.missing")
	arrival.MissingPositions = "arrival"
	tombstones := rule("public.tombstones", "shop.tombstones")
	tombstones.Tombstones = "delete"
	missing.Columns = nil // so that it can't be created
	return catalog.Config{
		Project: "demo", RESTEndpoint: server.RESTAddr(), GRPCEndpoint: server.GRPCAddr(), Plaintext: true, CreateTables: true,
		Rules: []table.Rule{rule("public.orders", "shop.orders"), arrival, missing, tombstones}, RefreshEvery: time.Millisecond,
	}
}

func event(id, source string, op change.Op, after string) change.Event {
	e := change.Event{
		Message: change.Message{ID: id, Token: 1, Data: []byte("x"), PublishTime: time.UnixMicro(0x55).UTC()}, Parts: 1, Table: source, Op: op,
		After: row(after), Sequence: change.NewSequence(7, 5, 5, 1), Position: "0/5",
	}
	if op == change.OpDelete {
		e.Key, e.After = e.After, nil
	}
	return e
}

func TestRows(t *testing.T) {
	config := newCatalog(t)
	noPosition := func(e change.Event) change.Event {
		e.Sequence, e.Position = change.Sequence{}, "no lsn"
		return e
	}
	tombstone := func(id, source string) change.Event {
		e := noPosition(event(id, source, change.OpDelete, "id=5"))
		e.Tombstone = true
		return e
	}
	later := noPosition(event("12", "public.arrival", change.OpDelete, "id=4"))
	later.Part, later.Parts = 1, 2
	events := []change.Event{
		event("1", "public.orders", change.OpCreate, "id=1 v=a"),
		event("2", "public.orders", change.OpDelete, "id=1"),
		event("3", "public.orders", change.OpTruncate, ""),
		event("4", "public.carts", change.OpCreate, "id=1"),
		event("5", "", change.OpCreate, "id=1"),
		event("6", "public.orders", change.OpCreate, "id=1 color=red"),
		event("7", "public.orders", change.OpCreate, "v=a"),
		event("8", "public.missing", change.OpCreate, "id=1"),
		noPosition(event("9", "public.orders", change.OpCreate, "id=1")),
		noPosition(event("10", "public.arrival", change.OpCreate, "id=4 v=a")),
		later,
		tombstone("13", "public.tombstones"),
		event("14", "public.tombstones", change.OpUpdate, "id=5 v=a"),
		tombstone("15", "public.orders"), // another's rule made it a delete
	}
	wantRows := []any{
		"demo.shop.orders UPSERT 7/5/5/1 message 1 [{1 0 1}]",
		"demo.shop.orders DELETE 7/5/5/1 message 2 [{1 0 1}]",
		"demo.shop.arrival UPSERT 3/55/A/1 message 10 [{1 0 1}]",
		"demo.shop.arrival DELETE 3/55/C/2 message 12 [{1 2 4} {1 3 4}]",
	}
	wantRows = append(wantRows,
		"demo.shop.tombstones DELETE 3/55/D/0 message 13 [{1 0 1}]",
		"demo.shop.tombstones UPSERT 3/55/E/1 message 14 [{1 0 1}]", // by arrival too, though it has a position
	)
	wantLetters := []any{
		"3 public.orders key truncate part 0 [{1 0 1}]",
		"5  key unnamed_table part 0 [{1 0 1}]",
		"6 public.orders encode unknown_column part 0 [{1 0 1}]",
		"7 public.orders key missing_key part 0 [{1 0 1}]",
		"8 public.missing key bad_destination part 0 [{1 0 1}]",
		"9 public.orders key no_position part 0 [{1 0 1}]",
	}
	unlisted := "4 public.carts key unlisted_table part 0 [{1 0 1}]"
	for _, filter := range []bool{false, true} {
		t.Run(fmt.Sprintf("filter %v", filter), func(t *testing.T) {
			p, s := beam.NewPipelineWithRoot()
			rows, _, _, _, receipts, letters := Rows(s, config, RowsConfig{Epoch: 3, FilterUnlisted: filter}, beam.CreateList(s, events))
			passert.Equals(s, beam.ParDo(s, showKeyedRow, rows), wantRows...)
			if filter {
				passert.Equals(s, beam.ParDo(s, showLetter, letters), wantLetters...)
				passert.Equals(s, beam.ParDo(s, showReceipt, receipts), "{1 0 1}", "{1 0 1}")
			} else {
				passert.Equals(s, beam.ParDo(s, showLetter, letters), append(slices.Clone(wantLetters), unlisted)...)
				passert.Equals(s, beam.ParDo(s, showReceipt, receipts), "{1 0 1}") // the tombstone of a table that ignores them
			}
			result := ptest.RunAndValidate(t, p)
			got := make(map[string]int64)
			for _, c := range result.Metrics().AllMetrics().Counters() {
				if c.Namespace() == Namespace {
					got[c.Name()] += c.Result()
				}
			}
			want := map[string]int64{"events": 14, "upserts": 3, "deletes": 3, "letters": 7, "filtered": 1, "filtered_by_table/tombstone/public.orders": 1}
			if filter {
				want["letters"], want["filtered"], want["filtered_by_table/unlisted/public.carts"] = 6, 2, 1
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

// process hands events to a DoFn as a bundle does, and returns what it emits.
func process(t *testing.T, f *rowsFn, events ...change.Event) (rows, letters []string, err error) {
	t.Helper()
	emit := func(key []byte, row change.Row) { rows = append(rows, showKeyedRow(key, row)) }
	divert := func([]byte, change.RowChange) {}
	rest := func(change.Receipt) {}
	letter := func(l deadletter.Letter) { letters = append(letters, showLetter(l)+": "+l.Error) }
	remember := func(change.RowChange) {}
	truncate := func(change.RowChange) {}
	f.StartBundle(emit, divert, remember, truncate, rest, letter)
	for _, e := range events {
		if err := f.ProcessElement(t.Context(), e, emit, divert, remember, truncate, rest, letter); err != nil {
			return rows, letters, err
		}
	}
	return rows, letters, nil
}

// A column that was added to the table after its schema was read is known as
// soon as a row brings it.
func TestRows_newColumn(t *testing.T) {
	config := newCatalog(t)
	f := &rowsFn{Catalog: config}
	if err := f.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	old, fresh := event("1", "public.orders", change.OpCreate, "id=1 v=a"), event("2", "public.orders", change.OpCreate, "id=2 v=a color=red")
	rows, letters, err := process(t, f, old, fresh)
	if err != nil || len(rows) != 1 || len(letters) != 1 {
		t.Fatalf("rows %v, letters %v, error %v", rows, letters, err)
	}
	if !strings.Contains(letters[0], "color") {
		t.Errorf("the letter does not name the column: %s", letters[0])
	}
	client, err := bigquery.NewClient(t.Context(), "demo", option.WithEndpoint(config.RESTEndpoint), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, err = client.Dataset("shop").Table("orders").Update(t.Context(), bigquery.TableMetadataToUpdate{Schema: bigquery.Schema{
		{Name: "id", Type: bigquery.IntegerFieldType, Required: true}, {Name: "v", Type: bigquery.StringFieldType}, {Name: "color", Type: bigquery.StringFieldType},
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * config.RefreshEvery)
	rows, letters, err = process(t, f, fresh, old)
	if err != nil || len(rows) != 2 || len(letters) != 0 {
		t.Errorf("after the column was added: rows %v, letters %v, error %v", rows, letters, err)
	}
}

// A dead letter says what to do, and of which table it speaks.
func TestRows_lettersSayWhatToDo(t *testing.T) {
	f := &rowsFn{Catalog: newCatalog(t)}
	if err := f.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := event("1", "public.orders", change.OpCreate, "id=1 v=a")
	lost.Sequence, lost.Position = change.Sequence{}, "no lsn"
	for want, e := range map[string]change.Event{
		"ordering a change of demo.shop.orders: it has no position":                                        lost,
		`no configured table matches "server.public.order"; the closest is "public.orders"; list it under`: event("2", "server.public.order", change.OpCreate, "id=1"),
		`no configured table matches "public.xyz"; list it under`:                                          event("3", "public.xyz", change.OpCreate, "id=1"),
		"or set `unlisted_tables: filter`":                                                                 event("4", "public.xyz", change.OpCreate, "id=1"),
	} {
		_, letters, err := process(t, f, e)
		if err != nil || len(letters) != 1 || !strings.Contains(letters[0], want) {
			t.Errorf("letters %v, error %v, want %q", letters, err, want)
		}
	}
}

// Invariant 7: a catalog out of reach is an error, never a dead letter.
func TestRows_catalogOutOfReach(t *testing.T) {
	config := newCatalog(t)
	config.RESTEndpoint, config.CallTimeout = "http://127.0.0.1:1", 50*time.Millisecond
	f := &rowsFn{Catalog: config, Rows: RowsConfig{RetryFor: 300 * time.Millisecond}}
	if err := f.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, letters, err := process(t, f, event("1", "public.orders", change.OpCreate, "id=1"))
	if err == nil || len(letters) > 0 {
		t.Errorf("letters %v, error %v", letters, err)
	}
	if err != nil && !strings.Contains(err.Error(), "public.orders") {
		t.Errorf("the error does not name the table: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the bundle is over")
	cancel(cause)
	f.maker.rows.RetryFor = time.Hour
	if _, err := f.maker.ask(ctx, catalog.Match{Rule: &config.Rules[0], Name: table.Name{Project: "demo", Dataset: "shop", Table: "orders"}}); err == nil {
		t.Error("a cancelled bundle goes on asking")
	}
}
