package pipeline

import (
	"strings"
	"testing"

	"beamcdc/transforms/catalog"
)

// Plain text leaves this machine only where a setting says so: each address is a
// finding, and allow_plaintext takes them all away.
func TestValidate_plaintext(t *testing.T) {
	text := []byte(`
source: {subscription: projects/demo/subscriptions/changes, schema_registry: "http://registry:8081"}
tables:
  - {source: public.orders, destination: shop.orders}
dead_letters: {table: ops.dead_letters}
runtime: {bigquery_rest_endpoint: "http://10.0.0.7:9050", bigquery_grpc_endpoint: "10.0.0.7:9060", bigquery_plaintext: true, pubsub_endpoint: "emulator:8085", pubsub_plaintext: true}
`)
	o := Parse("p.yaml", text)
	err := o.Validate()
	if err == nil {
		t.Fatal("plain text goes anywhere")
	}
	for _, key := range []string{"source.schema_registry", "runtime.bigquery_rest_endpoint", "runtime.bigquery_grpc_endpoint", "runtime.pubsub_endpoint"} {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%s is not among the findings:\n%v", key, err)
		}
	}
	if err := o.Set("allow_plaintext", "true"); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// An emulator that the environment names is an address like any other.
func TestValidate_environment(t *testing.T) {
	t.Setenv("PUBSUB_EMULATOR_HOST", "emulator:8085")
	o := Parse("p.yaml", []byte(`
source: {subscription: projects/demo/subscriptions/changes}
tables:
  - {source: public.orders, destination: shop.orders}
dead_letters: {table: ops.dead_letters}
`))
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "PUBSUB_EMULATOR_HOST") {
		t.Errorf("the environment's emulator on another machine: %v", err)
	}
	if _, err := o.SourceConfig().ClientOptions(); err == nil {
		t.Error("a worker's client speaks to it")
	}
	t.Setenv("PUBSUB_EMULATOR_HOST", "127.0.0.1:8085")
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// No message chooses the dead letters' table by the name of its own, whatever the rules'
// placeholders allow.
func TestCatalogConfig_reserved(t *testing.T) {
	o := Parse("p.yaml", []byte(`
source: {subscription: projects/demo/subscriptions/changes}
tables: [{source: "*.*", destination: "{schema}.{table}"}]
dead_letters: {table: ops.dead_letters}
runtime: {bigquery_rest_endpoint: "http://127.0.0.1:1", bigquery_grpc_endpoint: "127.0.0.1:1", bigquery_plaintext: true}
`))
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	tables, err := catalog.Open(t.Context(), o.CatalogConfig())
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := tables.Route("ops.dead_letters"); !ok || m.Err == nil {
		t.Errorf("it goes to %v", m.Name)
	}
}
