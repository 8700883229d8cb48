package e2e

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"
)

// avroSchema is Debezium's for a table, as a converter to Avro makes it, cut to
// what matters here.
const avroSchema = `{"type":"record","name":"Envelope","namespace":"acme.public.avro_items","fields":[
	{"name":"before","type":["null",{"type":"record","name":"Value","fields":[
		{"name":"id","type":"int"},{"name":"v","type":["null","string"],"default":null},{"name":"qty","type":"long"}]}],"default":null},
	{"name":"after","type":["null","Value"],"default":null},
	{"name":"source","type":{"type":"record","name":"Source","namespace":"io.debezium.connector.postgresql","fields":[
		{"name":"connector","type":"string"},{"name":"name","type":"string"},{"name":"snapshot","type":["string","null"],"default":"false"},
		{"name":"db","type":"string"},{"name":"sequence","type":["null","string"],"default":null},{"name":"schema","type":"string"},
		{"name":"table","type":"string"},{"name":"lsn","type":["null","long"],"default":null}]}},
	{"name":"op","type":"string"},
	{"name":"ts_ms","type":["null","long"],"default":null}]}`

// avroValue is a change of Debezium's as the Avro encoder takes it.
func avroValue(m message) map[string]any {
	var change struct {
		Before, After *struct {
			ID  int     `json:"id"`
			V   *string `json:"v"`
			Qty int64   `json:"qty"`
		}
		Source struct {
			Connector, Name, Snapshot, DB, Schema, Table string
			Sequence                                     string
			LSN                                          int64
		}
		Op string
	}
	_ = json.Unmarshal([]byte(m.data), &change) // it was written in this test
	value := map[string]any{"before": nil, "after": nil, "op": change.Op, "ts_ms": nil}
	for name, image := range map[string]*struct {
		ID  int     `json:"id"`
		V   *string `json:"v"`
		Qty int64   `json:"qty"`
	}{"before": change.Before, "after": change.After} {
		if image == nil {
			continue
		}
		row := map[string]any{"id": image.ID, "v": nil, "qty": image.Qty}
		if image.V != nil {
			row["v"] = map[string]any{"string": *image.V}
		}
		value[name] = map[string]any{"acme.public.avro_items.Value": row}
	}
	s := change.Source
	value["source"] = map[string]any{
		"connector": s.Connector, "name": s.Name, "snapshot": map[string]any{"string": s.Snapshot}, "db": s.DB,
		"sequence": map[string]any{"string": s.Sequence}, "schema": s.Schema, "table": s.Table, "lsn": map[string]any{"long": s.LSN},
	}
	return value
}

// debeziumAvro has the changes of a step in an object container file, compressed.
func debeziumAvro(table string, s step) []message {
	var file bytes.Buffer
	e, err := ocf.NewEncoder(avroSchema, &file, ocf.WithCodec(ocf.Deflate))
	if err != nil {
		panic(err)
	}
	for _, m := range debeziumPG(table, s) {
		if err := e.Encode(avroValue(m)); err != nil {
			panic(err)
		}
	}
	if err := e.Close(); err != nil {
		panic(err)
	}
	return []message{{data: file.String()}}
}

// singleAvro has each change of a step as one Avro value, behind a header.
func singleAvro(header string) func(string, step) []message {
	schema := avro.MustParse(avroSchema)
	return func(table string, s step) []message {
		messages := debeziumPG(table, s)
		for i := range messages {
			value, err := avro.Marshal(schema, avroValue(messages[i]))
			if err != nil {
				panic(err)
			}
			messages[i].data = header + string(value)
		}
		return messages
	}
}

// A message in Avro that doesn't hold its schema has the configured one: bare, or
// in Avro's single-object encoding, which begins with the schema's fingerprint.
func TestFormats_avroSchema(t *testing.T) {
	path := t.TempDir() + "/envelope.avsc"
	if err := os.WriteFile(path, []byte(avroSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	fingerprint, err := avro.MustParse(avroSchema).FingerprintUsing(avro.CRC64AvroLE)
	if err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]string{"bare": "", "single object": "\xC3\x01" + string(fingerprint)} {
		t.Run(name, func(t *testing.T) {
			tellers := []teller{
				{format: "debezium", source: "public.avro_items", tell: singleAvro(header)},
				{format: "debezium", source: "public.avro_files", tell: debeziumAvro}, // whose files have their own
			}
			config := strings.Replace(formatsConfig("debezium", tellers), "format: debezium", "format: debezium, avro_schema: "+path, 1)
			checkStory(t, runLocal(t, config, told(rand.New(rand.NewPCG(5, 0)), tellers)), tellers)
		})
	}
}

// A message in Confluent's wire format names its schema's ID in a registry. One that
// the registry doesn't have makes a dead letter, and nothing else.
func TestFormats_schemaRegistry(t *testing.T) {
	asked := make(chan string, 100)
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		if r.URL.Path != "/schemas/ids/42" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error_code":40403,"message":"Schema not found"}`))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"schema": avroSchema})
	}))
	defer registry.Close()
	tellers := []teller{
		{format: "debezium", source: "public.avro_items", tell: singleAvro("\x00\x00\x00\x00\x2A")},
		{format: "debezium", source: "public.pg_items", tell: debeziumPG},
	}
	config := strings.Replace(formatsConfig("auto", tellers), "format: auto", "format: auto, schema_registry: "+registry.URL, 1)
	messages := append(told(rand.New(rand.NewPCG(6, 0)), tellers), message{data: "\x00\x00\x00\x00\x2Brest"})
	out := runLocal(t, config, messages)
	if len(out.DeadLetters) != 1 || out.DeadLetters[0].Reason != "unknown_schema" {
		t.Errorf("dead letters %v, want one with an unknown schema", out.DeadLetters)
	}
	out.DeadLetters = nil
	checkStory(t, out, tellers)
	if n := len(asked); n != 2 {
		t.Errorf("the registry was asked %d times, want once for each schema", n)
	}
}
