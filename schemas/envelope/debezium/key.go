package debezium

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/scan"
)

// key reads the key columns that an ordering key holds. What is no JSON object
// holds none: an empty one, the sink's "default", a fixed text, a text that is
// cut off. Without a schema of its own the columns have those of the row.
func (d *Decoder) key(orderingKey string) image {
	text := scan.TrimSpace(orderingKey)
	if text == "" || text[0] != '{' {
		return image{}
	}
	columns, doubts := len(d.columns), len(d.doubts)
	if key, ok := d.keyOfKnownSchema(text); ok {
		return key
	}
	d.forget(columns, doubts)
	schema := d.msg.after.schema
	if schema == nil {
		schema = d.msg.before.schema
	}
	key, ok := d.bareKey(text, schema)
	if ok && d.isWrapped(key) {
		d.forget(columns, doubts)
		if schema, text, ok = d.unwrapKey(text); ok {
			key, ok = d.bareKey(text, schema)
		}
	}
	if !ok {
		d.forget(columns, doubts)
		return image{}
	}
	return key
}

// forget drops the columns and doubts that came after so many.
func (d *Decoder) forget(columns, doubts int) {
	d.columns, d.doubts = d.columns[:columns], d.doubts[:doubts]
}

// bareKey reads {…}.
func (d *Decoder) bareKey(text string, schema *connect.Schema) (image, bool) {
	if d.scan.Reset(text) != nil {
		return image{}, false
	}
	key := d.image("key", schema)
	return key, key.start < key.end
}

// isWrapped reports whether what was read as a key is {"schema": …, "payload": …}.
// A key's columns may be so named too, but none of them is an object, or null.
func (d *Decoder) isWrapped(key image) bool {
	columns := d.columns[key.start:key.end]
	if len(columns) != 2 {
		return false
	}
	for _, c := range columns {
		kind := c.Value.Kind()
		isObject := kind == change.KindNull || (kind == change.KindRaw && c.Value.Text()[0] == '{')
		if (c.Name != "schema" && c.Name != "payload") || !isObject {
			return false
		}
	}
	return true
}

// keyOfKnownSchema reads {"schema": …, "payload": {…}} with a schema that was
// used not long ago.
func (d *Decoder) keyOfKnownSchema(text string) (image, bool) {
	rest, ok := cutName(text, '{', `"schema"`)
	if !ok {
		return image{}, false
	}
	schema, n := d.keys.Prefix(rest)
	if n == 0 {
		return image{}, false
	}
	if rest, ok = cutName(scan.TrimSpace(rest[n:]), ',', `"payload"`); !ok || rest == "" || rest[0] != '{' {
		return image{}, false
	}
	n, err := d.scan.ResetPrefix(rest)
	if err != nil || strings.TrimRight(scan.TrimSpace(rest[n:]), " \t\r\n") != "}" {
		return image{}, false
	}
	key := d.image("key", schema)
	return key, key.start < key.end
}

// unwrapKey returns the payload and the schema of {"schema": …, "payload": {…}}.
func (d *Decoder) unwrapKey(text string) (schema *connect.Schema, payload string, ok bool) {
	var fault error
	scan.EachMember(text, func(name, value string) bool {
		if name == `"payload"` {
			payload = value
		} else {
			schema, fault = d.keys.Schema(value)
		}
		return true
	})
	return schema, payload, fault == nil && payload != "" && payload[0] == '{'
}
