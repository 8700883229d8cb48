package decode

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"google.golang.org/grpc/codes"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

const avroSchema = `{"type":"record","name":"Envelope","namespace":"acme.public.t","fields":[
	{"name":"after","type":{"type":"record","name":"Value","fields":[{"name":"id","type":"long"}]}},
	{"name":"source","type":{"type":"record","name":"Source","fields":[{"name":"connector","type":"string"},{"name":"table","type":"string"},{"name":"lsn","type":"long"}]}},
	{"name":"op","type":"string"}]}`

// avroValue is the binary encoding of a change by that schema.
func avroValue(id int64) []byte {
	b := binary.AppendVarint(nil, id)
	for _, text := range []string{"postgresql", "orders"} {
		b = append(binary.AppendVarint(b, int64(len(text))), text...)
	}
	b = binary.AppendVarint(b, 32)
	return append(binary.AppendVarint(b, 1), 'c')
}

func withID(id uint32, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), value...)
}

// registryServer is a schema registry that answers by ID.
type registryServer struct {
	*httptest.Server
	calls atomic.Int64

	mu      sync.Mutex
	answers map[string]func(http.ResponseWriter, *http.Request) // by path; others are 40403
}

func newRegistryServer(t *testing.T) *registryServer {
	r := &registryServer{answers: make(map[string]func(http.ResponseWriter, *http.Request))}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.calls.Add(1)
		r.mu.Lock()
		respond, ok := r.answers[req.URL.Path]
		r.mu.Unlock()
		if !ok {
			respond = status404
		}
		respond(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *registryServer) set(path string, respond func(http.ResponseWriter, *http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[path] = respond
}

func reply(code int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func status404(w http.ResponseWriter, r *http.Request) {
	reply(http.StatusNotFound, `{"error_code":40403,"message":"Schema not found"}`)(w, r)
}

func schemaJSON(schema string) string { return fmt.Sprintf(`{"schema":%q}`, schema) }

// patient is short enough for a test, and long enough for a try or two.
func patient(url string) SchemaConfig {
	return SchemaConfig{RegistryURL: url, RetryFor: 500 * time.Millisecond, CallTimeout: 250 * time.Millisecond}
}

// TestRegistry: what each of a registry's answers means.
func TestRegistry(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(secret, []byte("key:se:cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := newRegistryServer(t)
	server.set("/schemas/ids/1", reply(200, schemaJSON(avroSchema)))
	server.set("/schemas/ids/2", reply(200, `{"schema":"{}","schemaType":"JSON"}`))
	server.set("/schemas/ids/3", reply(200, `{"schema":"\"int\"","schemaType":"AVRO","references":[{"name":"x","subject":"x","version":1}]}`))
	server.set("/schemas/ids/4", reply(401, `{"error_code":401,"message":"Unauthorized"}`))
	server.set("/schemas/ids/5", reply(404, `<html>no such page</html>`))
	server.set("/schemas/ids/6", reply(200, `<html>welcome</html>`))
	server.set("/schemas/ids/7", reply(503, ``))
	server.set("/schemas/ids/8", reply(429, ``))
	server.set("/schemas/ids/9", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "key" || password != "se:cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		reply(200, schemaJSON(`"int"`))(w, r)
	})
	server.set("/apis/ccompat/v7/schemas/ids/1", reply(200, schemaJSON(`"long"`)))
	server.set("/schemas/ids/10", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })

	withAuth := patient(server.URL)
	withAuth.RegistryAuthFile = secret
	withoutFile := patient(server.URL)
	withoutFile.RegistryAuthFile = secret + ".missing"
	for _, test := range []struct {
		what   string
		config SchemaConfig
		id     uint64
		schema string
		err    error  // "": any but those two
		says   string // the error does
	}{
		{"a schema", patient(server.URL), 1, avroSchema, nil, ""},
		{"a path, with a slash at its end", patient(server.URL + "/apis/ccompat/v7/"), 1, `"long"`, nil, ""},
		{"credentials", withAuth, 9, `"int"`, nil, ""},
		{"no such schema", patient(server.URL), 99, "", envelope.ErrUnknownSchema, ""},
		{"a schema of JSON", patient(server.URL), 2, "", envelope.ErrNotAvro, `"JSON"`},
		{"a schema with references", patient(server.URL), 3, "", envelope.ErrNotAvro, "refers to other schemas"},
		{"no credentials", patient(server.URL), 4, "", nil, "401"},
		{"a missing file of credentials", withoutFile, 9, "", nil, "credentials"},
		{"another server's 404", patient(server.URL), 5, "", nil, "404"},
		{"another server", patient(server.URL), 6, "", nil, "URL"},
		{"no service", patient(server.URL), 7, "", nil, "503"},
		{"too many calls", patient(server.URL), 8, "", nil, "429"},
		{"no answer", patient(server.URL), 10, "", nil, "deadline"},
		{"nobody there", patient("http://127.0.0.1:1"), 1, "", nil, "refused"},
		{"no registry", SchemaConfig{RetryFor: time.Second}, 1, "", envelope.ErrUnknownSchema, "no schema registry is configured"},
	} {
		t.Run(test.what, func(t *testing.T) {
			if err := test.config.Validate(); err != nil {
				t.Fatal(err)
			}
			got, err := newSchemaSource(test.config.withDefaults()).Schema(envelope.SchemaRef{ID: test.id})
			if got != test.schema || (err == nil) != (test.schema != "") {
				t.Fatalf("schema %q, error %v, want %q", got, err, test.schema)
			}
			if err == nil {
				return
			}
			for _, fault := range []error{envelope.ErrUnknownSchema, envelope.ErrNotAvro} {
				if is := errors.Is(err, fault); is != errors.Is(test.err, fault) {
					t.Errorf("error %v is %v: %t", err, fault, is)
				}
			}
			if text := err.Error(); !strings.Contains(text, test.says) || strings.Contains(text, "se:cret") || strings.Contains(text, "/schemas/ids") {
				t.Errorf("error %v, want it to say %q", err, test.says)
			}
		})
	}
}

// TestSchemas_remembered: a schema is asked for once by the process, one that is
// missing once in a while, and a failure is no answer.
func TestSchemas_remembered(t *testing.T) {
	server := newRegistryServer(t)
	s := newSchemaSource(patient(server.URL).withDefaults())
	ask := func(id uint64) error {
		_, err := s.Schema(envelope.SchemaRef{ID: id})
		return err
	}
	server.set("/schemas/ids/1", reply(500, ``))
	if err := ask(1); err == nil {
		t.Fatal("a server that fails gave a schema")
	}
	server.set("/schemas/ids/1", reply(200, schemaJSON(avroSchema)))
	server.calls.Store(0)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := ask(1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for range 3 {
		if err := ask(2); !errors.Is(err, envelope.ErrUnknownSchema) {
			t.Errorf("error %v, want %v", err, envelope.ErrUnknownSchema)
		}
	}
	if n := server.calls.Load(); n != 2 {
		t.Errorf("%d calls for two schemas", n)
	}
	// Once its time is over, a missing schema is asked for again.
	s.mu.Lock()
	a := s.answers[envelope.SchemaRef{ID: 2}]
	a.until = time.Now().Add(-time.Second)
	s.answers[envelope.SchemaRef{ID: 2}] = a
	s.mu.Unlock()
	server.set("/schemas/ids/2", reply(200, schemaJSON(avroSchema)))
	if err := ask(2); err != nil {
		t.Error(err)
	}
}

// TestSchemas_retried: a server that recovers in time is no error.
func TestSchemas_retried(t *testing.T) {
	server := newRegistryServer(t)
	var tries atomic.Int64
	server.set("/schemas/ids/1", func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		reply(200, schemaJSON(avroSchema))(w, r)
	})
	c := patient(server.URL)
	c.RetryFor = time.Minute
	if _, err := newSchemaSource(c.withDefaults()).Schema(envelope.SchemaRef{ID: 1}); err != nil {
		t.Error(err)
	}
}

// TestTopicSchema: schemas of Pub/Sub's.
func TestTopicSchema(t *testing.T) {
	newServer := func(options ...pstest.ServerReactorOption) (*pstest.Server, SchemaConfig) {
		server := pstest.NewServer(options...)
		t.Cleanup(func() { _ = server.Close() })
		return server, SchemaConfig{PubSubEndpoint: server.Addr, PubSubPlaintext: true, RetryFor: 500 * time.Millisecond}
	}
	server, config := newServer()
	create := func(id string, typ pubsubpb.Schema_Type, definition string) envelope.SchemaRef {
		made, err := server.GServer.CreateSchema(context.Background(), &pubsubpb.CreateSchemaRequest{
			Parent: "projects/p", SchemaId: id, Schema: &pubsubpb.Schema{Type: typ, Definition: definition},
		})
		if err != nil {
			t.Fatal(err)
		}
		return envelope.SchemaRef{Name: "projects/p/schemas/" + id, Revision: made.GetRevisionId()}
	}
	avro := create("orders", pubsubpb.Schema_AVRO, avroSchema)
	proto := create("proto", pubsubpb.Schema_PROTOCOL_BUFFER, `syntax = "proto3";`)
	_, denied := newServer(pstest.WithErrorInjection("GetSchema", codes.PermissionDenied, "no"))
	_, down := newServer(pstest.WithErrorInjection("GetSchema", codes.Unavailable, "no"))
	for _, test := range []struct {
		what   string
		config SchemaConfig
		ref    envelope.SchemaRef
		err    error
		says   string
	}{
		{"a revision", config, avro, nil, ""},
		{"no revision", config, envelope.SchemaRef{Name: avro.Name}, nil, ""},
		{"another revision", config, envelope.SchemaRef{Name: avro.Name, Revision: "00000000"}, envelope.ErrUnknownSchema, ""},
		{"another name", config, envelope.SchemaRef{Name: "projects/p/schemas/no", Revision: "1"}, envelope.ErrUnknownSchema, ""},
		{"no name", config, envelope.SchemaRef{Name: "orders"}, envelope.ErrUnknownSchema, "projects/PROJECT/schemas/NAME"},
		{"two revisions", config, envelope.SchemaRef{Name: avro.Name + "@1", Revision: "2"}, envelope.ErrUnknownSchema, ""},
		{"a protocol buffer", config, proto, envelope.ErrNotAvro, "PROTOCOL_BUFFER"},
		{"not permitted", denied, avro, errors.New(""), "pubsub.schemas.get"},
		{"not available", down, avro, errors.New(""), "gave up"},
	} {
		t.Run(test.what, func(t *testing.T) {
			got, err := newSchemaSource(test.config.withDefaults()).Schema(test.ref)
			if test.err == nil {
				if got != avroSchema || err != nil {
					t.Errorf("schema %q, error %v", got, err)
				}
				return
			}
			for _, fault := range []error{envelope.ErrUnknownSchema, envelope.ErrNotAvro} {
				if is := errors.Is(err, fault); is != errors.Is(test.err, fault) {
					t.Errorf("error %v is %v: %t", err, fault, is)
				}
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want it to say %q", err, test.says)
			}
		})
	}
}

// TestEvents_avro: a pipeline that finds its schemas.
func TestEvents_avro(t *testing.T) {
	server := newRegistryServer(t)
	server.set("/schemas/ids/7", reply(200, schemaJSON(avroSchema)))
	p, s := beam.NewPipelineWithRoot()
	unknown := withID(8, avroValue(1))
	messages := beam.CreateList(s, []change.Message{
		{ID: "1", Token: 11, Data: withID(7, avroValue(1))},
		{ID: "2", Token: 12, Data: unknown},
	})
	events, receipts, letters := Events(s, Config{Schemas: patient(server.URL)}, messages)
	passert.Equals(s, beam.ParDo(s, showEvent, events), "orders create 0/20/20/1 1 0/1")
	passert.Empty(s, receipts)
	passert.Equals(s, beam.ParDo(s, showLetter, letters), fmt.Sprintf(`2 decode unknown_schema %q 0 [{12 0 1}]`, unknown))
	ptest.RunAndValidate(t, p)
}

// TestEvents_unreachable: a registry that can't be reached fails the bundle, and
// makes no dead letter (invariant 7).
func TestEvents_unreachable(t *testing.T) {
	server := newRegistryServer(t)
	server.set("/schemas/ids/7", reply(503, ``))
	f := &decodeFn{Config: Config{Schemas: patient(server.URL)}}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	messages := beam.CreateList(s, []change.Message{{ID: "1", Token: 11, Data: withID(7, avroValue(1))}})
	Events(s, f.Config, messages)
	if err := ptest.Run(p); err == nil || !strings.Contains(err.Error(), "asking the schema registry") {
		t.Errorf("error %v, want that the registry can't be asked", err)
	}
}

func TestSchemaConfig_Validate(t *testing.T) {
	for _, c := range []SchemaConfig{
		{RegistryURL: "localhost:8081"},
		{RegistryURL: "ftp://registry"},
		{RegistryURL: "http://"},
		{RegistryURL: "http://user:password@registry"},
		{RegistryURL: "http://registry?x=1"},
		{RegistryAuthFile: "/secret"},
		{PubSubPlaintext: true},
		{RetryFor: -1},
	} {
		if err := c.Validate(); err == nil || strings.Contains(err.Error(), "password") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	if err := (Config{Envelope: envelope.Options{AvroSchema: `{"type":"nope"}`}}).Validate(); err == nil {
		t.Error("a schema that is none was taken")
	}
}

// A registry's redirect to http:// on another machine would take USER:PASSWORD there
// for all to read.
func TestRegistry_redirect(t *testing.T) {
	server := newRegistryServer(t)
	server.answers["/schemas/ids/1"] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://registry.example.com/schemas/ids/1", http.StatusFound)
	}
	server.answers["/schemas/ids/2"] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/schemas/ids/2", http.StatusFound)
	}
	for id, want := range map[uint64]string{1: "plaintext", 2: "redirects more than"} {
		_, err := newRegistry(SchemaConfig{RegistryURL: server.URL}).get(t.Context(), envelope.SchemaRef{ID: id})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schema %d: %v; want %q", id, err, want)
		}
	}
}
