package envelope

import (
	"errors"
	"fmt"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
	"beamcdc/schemas/envelope/internal/scan"
)

// mark is something that messages of a format have: one of several names.
type mark struct {
	of   func(*scan.Outline) scan.Names
	any  scan.Names
	text string
}

func atTop(o *scan.Outline) scan.Names      { return o.Top.Names }
func inChange(o *scan.Outline) scan.Names   { return o.Change().Names }
func inMetadata(o *scan.Outline) scan.Names { return o.Metadata.Names }

// marks are what a format's messages are told by, for an error to say what an
// unknown message lacks. They decide nothing.
var marks = map[string][]mark{
	"debezium": {
		{inChange, scan.Source, "source, an object"},
		{inChange, scan.Op, "op, a string"},
		{inChange, scan.TSMillis, "ts_ms"},
	},
	"debezium_flat": {
		{inChange, scan.FlatPrefix, "names that begin with __"},
		{inChange, scan.FlatOp | scan.FlatDeleted, "__op or __deleted"},
	},
	"cloudevents": {
		{atTop, scan.SpecVersion, "specversion"},
		{atTop, scan.DebeziumExtension, "names that begin with iodebezium"},
	},
	"datastream": {
		{atTop, scan.SourceMetadata, "source_metadata, an object"},
		{atTop, scan.Payload, "payload, an object"},
	},
	"maxwell": {
		{atTop, scan.Database, "database, a string"},
		{atTop, scan.Table, "table, a string"},
		{atTop, scan.Type, "type, a string"},
		{atTop, scan.TS, "ts, a number"},
		{atTop, scan.Data, "data"},
	},
	"canal": {
		{atTop, scan.IsDDL | scan.MySQLType, "isDdl or mysqlType"},
		{atTop, scan.Type, "type, a string"},
		{atTop, scan.DataArray, "data, an array"},
	},
	"wal2json": {
		{atTop, scan.ActionLetter | scan.ChangeArray, "action, a letter, or change, an array"},
		{atTop, scan.SchemaText, "schema, a string"},
		{atTop, scan.Table, "table, a string"},
	},
	"dms": {
		{atTop, scan.Metadata, "metadata, an object"},
		{inMetadata, scan.RecordType, "metadata.record-type"},
		{atTop, scan.Data | scan.Control, "data or control"},
	},
	"spanner": {
		{atTop, scan.Mods, "mods, an array"},
		{atTop, scan.TableName, "tableName, a string"},
		{atTop, scan.ModType, "modType, a string"},
	},
	"sequin": {
		{atTop, scan.Record, "record, an object"},
		{atTop, scan.ActionWord, "action, a word"},
		{inMetadata, scan.CommitLSN, "metadata.commit_lsn"},
	},
	"columns": {
		{atTop, scan.ChangeType, "_CHANGE_TYPE, a string"},
		{atTop, scan.ChangeSequence, "_CHANGE_SEQUENCE_NUMBER"},
	},
}

// unknownFormat says which format a message is closest to, and the first thing
// that it lacks.
func unknownFormat(o *scan.Outline) error {
	const unknown = "it has the members of no known format"
	if o.Top.Count == 0 {
		return outcome.Errorf(outcome.UnknownFormat, unknown+": it is no JSON object with members")
	}
	if inside := o.Payload.Names; inside.Has(scan.Op|scan.Source) && !o.Top.Names.Has(scan.Schema) {
		return outcome.Errorf(outcome.UnknownFormat, unknown+"; its payload is debezium's, but there is no schema beside it: set the format")
	}
	var name, has, lacks string
	most := 0
	for i := range formats {
		var have []string
		first := ""
		for _, m := range marks[formats[i].name] {
			switch {
			case m.of(o).Any(m.any):
				have = append(have, m.text)
			case first == "":
				first = m.text
			}
		}
		if len(have) > most && first != "" {
			most = len(have)
			name, has, lacks = formats[i].name, strings.Join(have, " and "), first
		}
	}
	if most == 0 {
		return outcome.Errorf(outcome.UnknownFormat, unknown+"; a row by itself needs __op, __deleted or _CHANGE_TYPE beside its columns, or `source.format: debezium_flat`")
	}
	return outcome.Errorf(outcome.UnknownFormat, unknown+"; the closest is %s: it has %s, but lacks %s", name, has, lacks)
}

// looksLike adds to what a configured format found wrong with a message which
// other one's it is.
func (d *Decoder) looksLike(m *change.Message, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Reason == outcome.BadJSON {
		return err
	}
	found := d.find(m)
	if found < 0 || found == d.format {
		return err
	}
	return &Error{Reason: e.Reason, Table: e.Table, Err: fmt.Errorf("%w; it looks like %s: set `source.format` to that or to auto", e.Err, formats[found].name)}
}
