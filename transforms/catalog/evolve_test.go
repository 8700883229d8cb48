package catalog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

var growingRule = table.Rule{
	Source: "public.orders", Destination: "shop.orders", PrimaryKey: []string{"id"}, UnknownColumns: "add",
	Columns: []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "n", Type: table.Int64, Mode: table.Required},
		{Name: "address", Type: table.Struct, Fields: []table.Column{{Name: "city", Type: table.String, Mode: table.Required}}},
	},
}

// growing is a server with the rule's table.
func growing(t *testing.T) *server {
	t.Helper()
	s := newServer(t, growingRule)
	s.config.CreateTables = true
	c := s.open(t)
	match, _ := c.Route("public.orders")
	if _, err := c.Destination(t.Context(), match); err != nil {
		t.Fatal(err)
	}
	return s
}

func add(name string, typ table.Type) table.Alteration {
	return table.Alteration{Kind: table.AddColumn, Path: []string{name}, Column: table.Column{Name: name, Type: typ, Mode: table.Nullable}}
}

// columns returns what BigQuery says of the table's columns.
func (s *server) columns(t *testing.T) map[string]string {
	t.Helper()
	m, err := s.client.Dataset("shop").Table("orders").Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	var put func(schema bigquery.Schema, path string)
	put = func(schema bigquery.Schema, path string) {
		for _, f := range schema {
			text := string(f.Type)
			if f.Required {
				text += " REQUIRED"
			}
			if f.Repeated {
				text += " REPEATED"
			}
			if _, twice := got[path+f.Name]; twice {
				t.Errorf("column %s is there twice", path+f.Name)
			}
			got[path+f.Name] = text
			put(f.Schema, path+f.Name+".")
		}
	}
	put(m.Schema, "")
	return got
}

// logged runs f and returns what it logs.
func logged(f func()) string {
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	defer slog.SetDefault(before)
	f()
	return b.String()
}

func TestEvolve(t *testing.T) {
	s := growing(t)
	c := s.open(t)
	match, _ := c.Route("public.orders")
	before, err := c.Destination(t.Context(), match)
	if err != nil {
		t.Fatal(err)
	}
	wanted := []table.Alteration{
		add("NewCol", table.String), add("current", table.Date), add("tags", table.String),
		{Kind: table.AddColumn, Path: []string{"address", "zip"}, Column: table.Column{Name: "zip", Type: table.String, Mode: table.Nullable}},
		{Kind: table.RelaxColumn, Path: []string{"n"}},
		{Kind: table.RelaxColumn, Path: []string{"address", "city"}},
		{Kind: table.WidenColumn, Path: []string{"n"}, Column: table.Column{Name: "n", Type: table.Numeric}},
	}
	wanted[2].Column.Mode = table.Repeated
	var after *Destination
	var done []Altered
	log := logged(func() { after, done, err = c.Evolve(t.Context(), match, wanted) })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"id": "INTEGER REQUIRED", "n": "NUMERIC", "address": "RECORD", "address.city": "STRING", "address.zip": "STRING",
		"NewCol": "STRING", "current": "DATE", "tags": "STRING REPEATED",
	}
	if diff := cmp.Diff(want, s.columns(t)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if len(done) != len(wanted) || strings.Count(log, "ddl=") != len(wanted) {
		t.Errorf("%d alterations done, and logged\n%s", len(done), log)
	}
	for _, ddl := range []string{
		"ALTER TABLE `p.shop.orders` ADD COLUMN `NewCol` STRING;",
		"ALTER TABLE `p.shop.orders` ALTER COLUMN `n` DROP NOT NULL;",
		"ALTER TABLE `p.shop.orders` ALTER COLUMN `n` SET DATA TYPE NUMERIC;",
	} {
		if !strings.Contains(log, ddl) {
			t.Errorf("%s isn't logged:\n%s", ddl, log)
		}
	}
	if !after.Young(time.Now()) || after.Before == nil || after.Before.Plan != before.Plan {
		t.Errorf("the table is not told to be young: since %v, before %v", after.Since, after.Before)
	}
	// What is there is not done again, by whoever: not by this process, nor by another.
	again, done, err := c.Evolve(t.Context(), match, wanted)
	if err != nil || again != after || len(done) > 0 {
		t.Errorf("again: %v, %v", done, err)
	}
	other := s.open(t)
	later, done, err := other.Evolve(t.Context(), match, wanted)
	if err != nil || len(done) > 0 || later.Plan.Fingerprint() != after.Plan.Fingerprint() {
		t.Errorf("another process: %v, %v", done, err)
	}
	// A process that never saw the table before knows what it was, by its label.
	if later.Before == nil || len(later.Before.Table.Columns) != 3 || !later.Young(time.Now()) {
		t.Errorf("another process: since %v, before %+v", later.Since, later.Before)
	}
}

// However many workers see the new columns: each is there once, and altered by one.
func TestEvolve_once(t *testing.T) {
	s := growing(t)
	var mu sync.Mutex
	done := make(map[string]int)
	var wait sync.WaitGroup
	for worker := range 6 {
		c := s.open(t)
		match, _ := c.Route("public.orders")
		for bundle := range 3 {
			wait.Go(func() {
				// In an order and a choice of each one's own.
				for i := range 8 {
					name := fmt.Sprint("c", (i*(worker+1)+bundle)%8)
					_, altered, err := c.Evolve(context.Background(), match, []table.Alteration{add(name, table.String)})
					if err != nil {
						t.Errorf("adding %s: %v", name, err)
					}
					mu.Lock()
					for _, a := range altered {
						done[a.Path[0]]++
					}
					mu.Unlock()
				}
			})
		}
	}
	wait.Wait()
	columns := s.columns(t)
	for i := range 8 {
		name := fmt.Sprint("c", i)
		if columns[name] != "STRING" || done[name] != 1 {
			t.Errorf("column %s: %q, added %d times", name, columns[name], done[name])
		}
	}
}

// What BigQuery refuses to widen is impossible from then on, and no error.
func TestEvolve_impossible(t *testing.T) {
	s := growing(t)
	c := s.open(t)
	match, _ := c.Route("public.orders")
	wanted := []table.Alteration{
		{Kind: table.WidenColumn, Path: []string{"n"}, Column: table.Column{Name: "n", Type: table.BigNumeric}}, // which this emulator doesn't do
		add("other", table.String),
	}
	d, done, err := c.Evolve(t.Context(), match, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 || d.Table.Columns[1].Type != table.Int64 || !c.Impossible(match.Name)[wanted[0].Key()] {
		t.Errorf("done %v, columns %v, impossible %v", done, d.Table.Columns, c.Impossible(match.Name))
	}
}

func TestEvolve_errors(t *testing.T) {
	s := growing(t)
	c := s.open(t)
	match, _ := c.Route("public.orders")
	if _, err := c.Destination(t.Context(), match); err != nil {
		t.Fatal(err)
	}
	// An illegal name is BigQuery's refusal: a dead letter. Names are made legal before.
	if _, _, err := c.Evolve(t.Context(), match, []table.Alteration{add("a`; DROP TABLE x", table.String)}); !IsPermanent(err) {
		t.Errorf("an illegal name: %v", err)
	}
	s.status.Store(http.StatusServiceUnavailable)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := c.Evolve(ctx, match, []table.Alteration{add("x", table.String)}); err == nil || IsPermanent(err) {
		t.Errorf("with BigQuery gone: %v, want an error that passes", err)
	}
	s.status.Store(0)
	narrow := growingRule
	narrow.MaxColumns = 4
	s.config.Rules = []table.Rule{narrow}
	c = s.open(t)
	match, _ = c.Route("public.orders")
	_, _, err := c.Evolve(t.Context(), match, []table.Alteration{add("x", table.String), add("y", table.String)})
	if !IsPermanent(err) || !strings.Contains(err.Error(), `column "x": the table has 3 columns, and with 2 more it would have more than 4`) {
		t.Errorf("beyond max_columns: %v", err)
	}
}

// Rows that were encoded before the table was altered are described by a process that
// sees it only now.
func TestPlan_alteredBefore(t *testing.T) {
	s := growing(t)
	c := s.open(t)
	match, _ := c.Route("public.orders")
	before, err := c.Destination(t.Context(), match)
	if err != nil {
		t.Fatal(err)
	}
	for name, wanted := range map[string]table.Alteration{
		"added":        add("x", table.String),
		"relaxed":      {Kind: table.RelaxColumn, Path: []string{"n"}},
		"widened":      {Kind: table.WidenColumn, Path: []string{"n"}, Column: table.Column{Name: "n", Type: table.Numeric}},
		"nested field": {Kind: table.AddColumn, Path: []string{"address", "zip"}, Column: table.Column{Name: "zip", Type: table.String, Mode: table.Nullable}},
	} {
		t.Run(name, func(t *testing.T) {
			s := growing(t)
			c := s.open(t)
			match, _ := c.Route("public.orders")
			if _, _, err := c.Evolve(t.Context(), match, []table.Alteration{wanted}); err != nil {
				t.Fatal(err)
			}
			fresh := s.open(t)
			plan, err := fresh.Plan(t.Context(), "p.shop.orders", before.Plan.Fingerprint())
			if err != nil {
				t.Fatal(err)
			}
			if plan.Fingerprint() != before.Plan.Fingerprint() {
				t.Errorf("it is another plan's")
			}
			if fits, err := fresh.Fits(t.Context(), "p.shop.orders", before.Plan.Fingerprint()); !fits || err != nil {
				t.Errorf("fits: %v, %v", fits, err)
			}
		})
	}
}
