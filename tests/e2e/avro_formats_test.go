package e2e

import (
	"bytes"
	"encoding/json"

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
