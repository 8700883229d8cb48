package captured

import (
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/connect"
	"beamcdc/schemas/envelope/internal/scan"
)

// key reads the key columns that an ordering key holds. What is no JSON object
// holds none: an empty one, the sink's "default", a fixed text, a text that is
// cut off. Without a schema of its own the columns have those of the row.
func (r *Reader) key(orderingKey string) Image {
	text := scan.TrimSpace(orderingKey)
	if text == "" || text[0] != '{' {
		return Image{}
	}
	columns, doubts := len(r.columns), len(r.doubts)
	if key, ok := r.keyOfKnownSchema(text); ok {
		return key
	}
	r.forget(columns, doubts)
	schema := r.After.schema
	if schema == nil {
		schema = r.Before.schema
	}
	key, ok := r.bareKey(text, schema)
	if ok && r.isWrapped(key) {
		r.forget(columns, doubts)
		if schema, text, ok = r.unwrapKey(text); ok {
			key, ok = r.bareKey(text, schema)
		}
	}
	if !ok {
		r.forget(columns, doubts)
		return Image{}
	}
	return key
}

// headerKey reads the key that a header of a changed key's two messages holds: of the
// old key's delete the new one, of the new key's create the old one.
func (r *Reader) headerKey(e *change.Event, header string) Image {
	text, ok := e.Message.Attributes[header]
	if !ok || (e.Op != change.OpCreate && e.Op != change.OpDelete) {
		return Image{}
	}
	doubts := len(r.doubts)
	key := r.key(text)
	r.doubts = r.doubts[:doubts] // what it doesn't tell rightly finds no row, and harms none
	return key
}

// forget drops the columns and doubts that came after so many.
func (r *Reader) forget(columns, doubts int) {
	r.columns, r.doubts = r.columns[:columns], r.doubts[:doubts]
}

// bareKey reads {…}.
func (r *Reader) bareKey(text string, schema *connect.Schema) (Image, bool) {
	if r.Scan.Reset(text) != nil {
		return Image{}, false
	}
	key := r.image("key", schema)
	return key, key.start < key.end
}

// isWrapped reports whether what was read as a key is {"schema": …, "payload": …}.
// A key's columns may be so named too, but none of them is an object, or null.
func (r *Reader) isWrapped(key Image) bool {
	columns := r.columns[key.start:key.end]
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
func (r *Reader) keyOfKnownSchema(text string) (Image, bool) {
	rest, ok := cutName(text, '{', `"schema"`)
	if !ok {
		return Image{}, false
	}
	schema, n := r.keys.Prefix(rest)
	if n == 0 {
		return Image{}, false
	}
	if rest, ok = cutName(scan.TrimSpace(rest[n:]), ',', `"payload"`); !ok || rest == "" || rest[0] != '{' {
		return Image{}, false
	}
	n, err := r.Scan.ResetPrefix(rest)
	if err != nil || strings.TrimRight(scan.TrimSpace(rest[n:]), " \t\r\n") != "}" {
		return Image{}, false
	}
	key := r.image("key", schema)
	return key, key.start < key.end
}

// unwrapKey returns the payload and the schema of {"schema": …, "payload": {…}}.
func (r *Reader) unwrapKey(text string) (schema *connect.Schema, payload string, ok bool) {
	var fault error
	scan.EachMember(text, func(name, value string) bool {
		if name == `"payload"` {
			payload = value
		} else {
			schema, fault = r.keys.Schema(value)
		}
		return true
	})
	return schema, payload, fault == nil && payload != "" && payload[0] == '{'
}
