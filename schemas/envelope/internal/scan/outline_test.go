package scan_test

import (
	"testing"

	"beamcdc/schemas/envelope/internal/scan"
)

// TestOutline: each name with the kind of value that tells something, and with
// one that doesn't.
func TestOutline(t *testing.T) {
	for text, want := range map[string]scan.Names{
		`"op":"c"`: scan.Op, `"op":1`: 0,
		`"source":{}`: scan.Source, `"source":"web"`: 0,
		`"schema":{}`: scan.Schema, `"schema":null`: scan.Schema, `"schema":"public"`: scan.SchemaText,
		`"payload":{}`: scan.Payload, `"payload":null`: scan.Payload | scan.NullPayload, `"payload":[]`: 0,
		`"specversion":"1.0"`: scan.SpecVersion, `"specversion":1`: 0,
		`"iodebeziumop":"c"`: scan.DebeziumExtension, `"iodebezium":1`: scan.DebeziumExtension, `"iodebez":1`: 0,
		`"mods":[]`: scan.Mods, `"mods":{}`: 0,
		`"tableName":"t"`: scan.TableName, `"table_name":"t"`: scan.TableName, `"table_name":null`: 0,
		`"modType":"INSERT"`: scan.ModType, `"mod_type":"INSERT"`: scan.ModType, `"modType":1`: 0,
		`"type":"insert"`: scan.Type, `"type":{}`: 0,
		`"data":{}`: scan.Data, `"data":null`: scan.Data, `"data":[]`: scan.Data | scan.DataArray,
		`"isDdl":false`: scan.IsDDL, `"isDdl":true`: scan.IsDDL, `"isDdl":"false"`: 0,
		`"mysqlType":{}`: scan.MySQLType, `"mysqlType":null`: scan.MySQLType, `"mysqlType":"x"`: 0,
		`"database":"shop"`: scan.Database, `"database":{}`: 0,
		`"table":"t"`: scan.Table, `"table":{}`: 0,
		`"ts":1`: scan.TS, `"ts":-1`: scan.TS, `"ts":"1"`: 0,
		`"action":"I"`: scan.ActionLetter, `"action":"insert"`: scan.ActionWord, `"action":""`: scan.ActionWord,
		`"action":"\n"`: scan.ActionWord, `"action":null`: 0,
		`"change":[]`: scan.ChangeArray, `"change":{}`: 0,
		`"metadata":{}`: scan.Metadata, `"metadata":"x"`: 0,
		`"control":{}`: scan.Control, `"control":1`: 0,
		`"record":{}`: scan.Record, `"record":null`: scan.Record, `"record":"x"`: 0,
		`"__op":"c"`: scan.FlatOp | scan.FlatPrefix, `"__deleted":"false"`: scan.FlatDeleted | scan.FlatPrefix,
		`"__lsn":1`: scan.FlatPrefix, `"_op":1`: 0, `"__":1`: 0, `"":1`: 0,
		`"_CHANGE_TYPE":"UPSERT"`: scan.ChangeType, `"_CHANGE_TYPE":1`: 0, `"_change_type":"UPSERT"`: 0,
		`"_CHANGE_SEQUENCE_NUMBER":"1"`: scan.ChangeSequence, `"_CHANGE_SEQUENCE_NUMBER":null`: scan.ChangeSequence,
		`"xid":1,"lsn":"0/1","nextlsn":"0/1","timestamp":"x","origin":1`: scan.XID | scan.LSN | scan.NextLSN | scan.Timestamp | scan.Origin,
		`"prefix":"p","content":"c"`:                                     scan.Prefix | scan.Content,
	} {
		s := outline(t, "{"+text+"}")
		if got := s.Outline.Top.Names; got != want {
			t.Errorf("{%s}: names %b, want %b", text, got, want)
		}
	}
}

// TestOutline_nested: the members of payload and metadata are in the outline,
// and no others.
func TestOutline_nested(t *testing.T) {
	s := outline(t, `{"other":{"op":"c"},"payload":{"op":"c","x":{"source":{}}},"metadata" : { "record-type":"data", "commit_lsn":1,"table_schema":"p"} }`)
	o := &s.Outline
	if o.Top.Count != 3 || o.Top.Names != scan.Payload|scan.Metadata {
		t.Errorf("top: %+v", o.Top)
	}
	if o.Payload.Count != 2 || o.Payload.Names != scan.Op {
		t.Errorf("payload: %+v", o.Payload)
	}
	if o.Metadata.Count != 3 || o.Metadata.Names != scan.RecordType|scan.CommitLSN|scan.TableSchema {
		t.Errorf("metadata: %+v", o.Metadata)
	}
}

// outline reads a message as a decoder does that has no use for any member.
func outline(t *testing.T, text string) *scan.Scanner {
	t.Helper()
	s := new(scan.Scanner)
	if err := s.Reset(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !s.Object() {
		t.Fatalf("%s is no object", text)
	}
	for {
		name, more := s.Member()
		if !more {
			return s
		}
		s.Note(name)
		if raw := s.Pass(name); raw == "" {
			t.Errorf("%s: the value of %s is empty", text, name)
		}
	}
}
