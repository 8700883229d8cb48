package catalog

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/table"
)

// Check says one thing when BigQuery can't be reached, within its timeout.
func TestCheck_unreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := listener.Addr().String()
	_ = listener.Close()
	s := newServer(t, ordersRule, table.Rule{Source: "b", Destination: "shop.b"}, table.Rule{Source: "c", Destination: "shop.c"})
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"REST", func(c *Config) { c.RESTEndpoint = "http://" + nowhere }, "http://" + nowhere},
		{"REST, patterns only", func(c *Config) {
			c.RESTEndpoint, c.Rules = "http://"+nowhere, []table.Rule{{Source: "public.*", Destination: "shop.{table}"}}
		}, "http://" + nowhere},
		{"gRPC", func(c *Config) { c.GRPCEndpoint = nowhere }, "connecting to the Storage Write API at " + nowhere},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := s.config
			test.change(&config)
			c, err := newCatalog(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			errs := c.Check(t.Context())
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want) || time.Since(start) > 5*time.Second {
				t.Errorf("after %v: %v, want one error with %q", time.Since(start), errs, test.want)
			}
		})
	}
}

// Check reports every table, and patterns are left to the first message.
func TestCheck(t *testing.T) {
	s := newServer(t, ordersRule,
		table.Rule{Source: "a", Destination: "shop.a"}, table.Rule{Source: "b", Destination: "shop.b"}, table.Rule{Source: "other.*", Destination: "shop.{table}"})
	s.create(t, "orders", ordersMetadata())
	errs := s.open(t).Check(t.Context())
	if len(errs) != 2 || !strings.Contains(errs[0].Error(), "p.shop.a") || !strings.Contains(errs[1].Error(), "p.shop.b") {
		t.Errorf("%v, want one error each for shop.a and shop.b", errs)
	}
}

// Rows are written by the configuration that a worker reads from JSON.
func TestConfig_travels(t *testing.T) {
	want := Config{Project: "p", RESTEndpoint: "http://127.0.0.1:1", Rules: []table.Rule{ordersRule}, CreateTables: true, CallTimeout: time.Second}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a, err := Open(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), got)
	if err != nil || a != b {
		t.Errorf("one configuration has two catalogs in a process (error %v)", err)
	}
}

func TestOpen_badRules(t *testing.T) {
	if _, err := Open(t.Context(), Config{Project: "p", Rules: []table.Rule{{Source: "x"}}}); !IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}
