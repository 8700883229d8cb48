package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"beamcdc/emulator"
	"beamcdc/schemas/table"
)

// server is an emulator behind a proxy that counts tables.get and can fail.
type server struct {
	config Config
	client *bigquery.Client
	gets   atomic.Int64
	status atomic.Int64 // 0: pass on
}

func newServer(t *testing.T, rules ...table.Rule) *server {
	t.Helper()
	e, err := emulator.New(emulator.Options{Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(e.RESTAddr())
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/tables/") {
			s.gets.Add(1)
		}
		if status := s.status.Load(); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(int(status))
			_, _ = fmt.Fprintf(w, `{"error": {"code": %d, "message": "refused", "errors": [{"reason": "refused"}]}}`, status)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	s.config = Config{
		Project: "p", RESTEndpoint: front.URL, GRPCEndpoint: e.GRPCAddr(), Plaintext: true,
		Rules: rules, CallTimeout: time.Second, RefreshEvery: time.Millisecond,
	}
	s.client, err = bigquery.NewClient(t.Context(), "p", option.WithEndpoint(e.RESTAddr()), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		front.Close()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *server) open(t *testing.T) *Catalog {
	t.Helper()
	c, err := newCatalog(t.Context(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *server) create(t *testing.T, name string, m *bigquery.TableMetadata) {
	t.Helper()
	dataset := s.client.Dataset("shop")
	_ = dataset.Create(t.Context(), nil) // there from the second time on
	if err := dataset.Table(name).Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// addColumn adds a column to the table at BigQuery.
func (s *server) addColumn(t *testing.T, name, column string) {
	t.Helper()
	handle := s.client.Dataset("shop").Table(name)
	m, err := handle.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	schema := slices.Concat(m.Schema, bigquery.Schema{{Name: column, Type: bigquery.StringFieldType}})
	if _, err := handle.Update(t.Context(), bigquery.TableMetadataToUpdate{Schema: schema}, ""); err != nil {
		t.Fatal(err)
	}
}

var ordersRule = table.Rule{
	Source: "public.orders", Destination: "shop.orders", PrimaryKey: []string{"id"},
	Columns: []table.Column{
		{Name: "id", Type: table.Int64, Mode: table.Required},
		{Name: "total", Type: table.Numeric, Precision: 12, Scale: 2, From: table.FromDecimal, FromScale: 2},
		{Name: "at", Type: table.Timestamp, From: table.FromMicros},
	},
	PartitionBy: &table.Partition{Column: "at", Type: "DAY"}, MaxStaleness: 15 * time.Minute,
}

func ordersMetadata() *bigquery.TableMetadata {
	return &bigquery.TableMetadata{
		Schema: bigquery.Schema{
			{Name: "id", Type: bigquery.IntegerFieldType, Required: true},
			{Name: "total", Type: bigquery.NumericFieldType, Precision: 12, Scale: 2},
			{Name: "at", Type: bigquery.TimestampFieldType},
		},
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
	}
}

func destination(t *testing.T, c *Catalog, source string) (*Destination, error) {
	t.Helper()
	m, ok := c.Route(source)
	if !ok {
		t.Fatalf("no rule for %s", source)
	}
	return c.Destination(t.Context(), m)
}

// Each bundle asks for all of its tables, and for what each row's error means.
func TestDestination_known(t *testing.T) {
	s := newServer(t, ordersRule)
	s.config.CreateTables = true
	c := s.open(t)
	m, _ := c.Route("public.orders")
	want, err := c.Destination(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(100, func() {
		if d, err := c.Destination(t.Context(), m); d != want || err != nil || IsPermanent(err) {
			t.Errorf("%v, %v, want the same as before", d, err)
		}
	})
	if allocations != 0 {
		t.Errorf("a known table costs %v allocations", allocations)
	}
}

// What is missing is created, dataset and all, as the rule says; the key decides
// the clustering.
func TestDestination_creates(t *testing.T) {
	s := newServer(t, ordersRule)
	s.config.CreateTables = true
	d, err := destination(t, s.open(t), "public.orders")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.client.Dataset("shop").Table("orders").Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	created, err := fromMetadata(d.Table.Name, m)
	if err != nil {
		t.Fatal(err)
	}
	want := &table.Table{
		Name: table.Name{Project: "p", Dataset: "shop", Table: "orders"},
		Columns: []table.Column{
			{Name: "id", Type: table.Int64, Mode: table.Required},
			{Name: "total", Type: table.Numeric, Mode: table.Nullable, Precision: 12, Scale: 2},
			{Name: "at", Type: table.Timestamp, Mode: table.Nullable},
		},
		PrimaryKey: []string{"id"}, ClusterBy: []string{"id"},
		PartitionBy: &table.Partition{Column: "at", Type: "DAY"}, MaxStaleness: 15 * time.Minute,
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if c := d.Table.Columns[1]; c.From != table.FromDecimal || c.FromScale != 2 {
		t.Errorf("the destination's column has no hints of the rule: %+v", c)
	}
}

// A rule without a primary key takes the one that a message names, in the order
// of the columns. Until one does, its changes are refused, and the start is not.
func TestDestination_createsWithTheMessagesKey(t *testing.T) {
	rule := ordersRule
	rule.PrimaryKey = nil
	rule.Columns = append(slices.Clone(rule.Columns), table.Column{Name: "Line", Type: table.Int64})
	s := newServer(t, rule)
	s.config.CreateTables = true
	s.config.RefreshEvery = time.Hour // what was learned is remembered
	c := s.open(t)
	if errs := c.Check(t.Context()); len(errs) > 0 {
		t.Fatalf("Check found %v", errs)
	}
	if _, err := destination(t, c, "public.orders"); !IsPermanent(err) || !strings.Contains(err.Error(), "no message has named the key yet") {
		t.Fatalf("error %v, want one that asks for the key", err)
	}
	m, _ := c.Route("public.orders")
	m.Declared = []string{"line", "id"}
	d, err := c.Destination(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"id", "line"}, d.Table.PrimaryKey, cmp.Comparer(strings.EqualFold)); diff != "" {
		t.Errorf("primary key (-want +got):\n%s", diff)
	}
	m.Declared = []string{"id"} // another message can't change it any more
	if again, err := c.Destination(t.Context(), m); err != nil || again != d {
		t.Errorf("the next message got %v, %v", again, err)
	}
}

// Every way in which a destination can be out of the question names the table and
// what to do, and is permanent; case 29 is the table without a primary key.
func TestDestination_refuses(t *testing.T) {
	columns := bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}}
	key := &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}}
	bare := table.Rule{Source: "t", Destination: "shop.t"}
	for _, test := range []struct {
		name   string
		rule   table.Rule
		exists *bigquery.TableMetadata // nil: it doesn't
		create bool
		want   string
	}{
		{"missing", bare, nil, false, "table p.shop.t: it does not exist; create it, or set create_tables"},
		{"missing, not enough to create it", bare, nil, true, "primary_key"},
		{"no primary key", bare, &bigquery.TableMetadata{Schema: columns}, false, "it has no primary key"},
		{
			"another key",
			table.Rule{Source: "t", Destination: "shop.t", PrimaryKey: []string{"other"}},
			&bigquery.TableMetadata{Schema: columns, TableConstraints: key}, false, "configured primary key is (other)",
		},
		{
			"a configured column that is not there",
			table.Rule{Source: "t", Destination: "shop.t", Columns: []table.Column{{Name: "x", Type: table.String}}},
			&bigquery.TableMetadata{Schema: columns, TableConstraints: key}, false, `configured column "x"`,
		},
		{"too many columns", bare, func() *bigquery.TableMetadata {
			m := &bigquery.TableMetadata{Schema: columns, TableConstraints: key}
			for i := range 2000 {
				m.Schema = append(m.Schema, &bigquery.FieldSchema{Name: fmt.Sprint("c", i), Type: bigquery.StringFieldType})
			}
			return m
		}(), false, "2001 columns"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, test.rule)
			s.config.CreateTables = test.create
			if test.exists != nil {
				s.create(t, "t", test.exists)
			}
			_, err := destination(t, s.open(t), "t")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "p.shop.t") || !IsPermanent(err) {
				t.Errorf("error %v (permanent: %v), want %q", err, IsPermanent(err), test.want)
			}
			if errs := s.open(t).Check(t.Context()); len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want) {
				t.Errorf("Check returns %v, want one %q", errs, test.want)
			}
		})
	}
}

// A world that is out of order is not the rows' fault.
func TestDestination_world(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, ordersRule)
			s.create(t, "orders", ordersMetadata())
			s.status.Store(int64(status))
			c := s.open(t)
			_, err := destination(t, c, "public.orders")
			if err == nil || IsPermanent(err) || !strings.Contains(err.Error(), "table p.shop.orders: reading its schema") {
				t.Errorf("error %v (permanent: %v)", err, IsPermanent(err))
			}
			s.status.Store(0)
			time.Sleep(5 * time.Millisecond)
			if _, err := destination(t, c, "public.orders"); err != nil {
				t.Errorf("after recovery: %v", err)
			}
		})
	}
}

// However many ask, a table is read once; a table that can't be had is not asked
// for with every row.
func TestDestination_readsOnce(t *testing.T) {
	s := newServer(t, ordersRule, table.Rule{Source: "gone", Destination: "shop.gone"})
	s.config.RefreshEvery = time.Hour
	s.create(t, "orders", ordersMetadata())
	c := s.open(t)
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			m, _ := c.Route("public.orders")
			if _, err := c.Destination(t.Context(), m); err != nil {
				t.Error(err)
			}
			m, _ = c.Route("gone")
			if _, err := c.Destination(t.Context(), m); !IsPermanent(err) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for range 10 {
		if _, err := destination(t, c, "gone"); !IsPermanent(err) {
			t.Error(err)
		}
	}
	if n := s.gets.Load(); n != 2 {
		t.Errorf("%d calls of tables.get, want 2", n)
	}
}

// The caller that began a read may go; the others get the answer all the same.
func TestDestination_outlivesItsCaller(t *testing.T) {
	s := newServer(t, ordersRule)
	s.create(t, "orders", ordersMetadata())
	c := s.open(t)
	m, _ := c.Route("public.orders")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Destination(ctx, m); err == nil {
		t.Log("the read was faster than its caller") // possible, and fine
	}
	if _, err := c.Destination(t.Context(), m); err != nil {
		t.Error(err)
	}
}

func TestRefresh(t *testing.T) {
	s := newServer(t, ordersRule)
	s.create(t, "orders", ordersMetadata())
	c := s.open(t)
	before, err := destination(t, c, "public.orders")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Route("public.orders")
	time.Sleep(2 * time.Millisecond)
	same, err := c.Refresh(t.Context(), m)
	if err != nil || same != before {
		t.Errorf("an unchanged table is not the same destination (error %v)", err)
	}
	s.addColumn(t, "orders", "note")
	time.Sleep(2 * time.Millisecond)
	after, err := c.Refresh(t.Context(), m)
	if err != nil || len(after.Table.Columns) != 4 || after.Plan.Fingerprint() == before.Plan.Fingerprint() {
		t.Fatalf("after ADD COLUMN: %d columns, error %v", len(after.Table.Columns), err)
	}
	// Rows encoded by the old schema are still on their way.
	plan, err := c.Plan(t.Context(), "p.shop.orders", before.Plan.Fingerprint())
	if err != nil || plan != before.Plan {
		t.Errorf("the old plan is not kept: %v", err)
	}
	// Out of reach, what is known stays good.
	s.status.Store(http.StatusForbidden)
	time.Sleep(2 * time.Millisecond)
	if kept, err := c.Refresh(t.Context(), m); err != nil || kept != after {
		t.Errorf("while BigQuery is out of reach: %v", err)
	}
	if _, err := c.Fits(t.Context(), "p.shop.orders", after.Plan.Fingerprint()); err == nil {
		t.Error("Fits trusts what it could not read")
	}
	time.Sleep(2 * time.Millisecond)
	if _, err := c.Plan(t.Context(), "p.shop.orders", 42); err == nil || IsPermanent(err) || errors.Is(err, ErrUnknownSchema) {
		t.Errorf("Plan judges by what it could not read: %v", err)
	}
}
