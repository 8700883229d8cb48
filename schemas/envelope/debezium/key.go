package debezium

import (
	"beamcdc/schemas/envelope/connect"
)

// key reads the key columns that an ordering key holds. What is no JSON object
// holds none: an empty one, the sink's "default", a fixed text, a text that is
// cut off. Without a schema of its own the columns have those of the row.
func (d *Decoder) key(orderingKey string) image {
	if orderingKey == "" || orderingKey[0] != '{' {
		return image{}
	}
	rows := d.msg.after.schema
	if rows == nil {
		rows = d.msg.before.schema
	}
	columns, doubts := len(d.columns), len(d.doubts)
	key, ok := d.wrappedKey(orderingKey)
	if !ok {
		d.columns, d.doubts = d.columns[:columns], d.doubts[:doubts]
		key, ok = d.bareKey(orderingKey, rows)
	}
	if !ok || key.start == key.end {
		d.columns, d.doubts = d.columns[:columns], d.doubts[:doubts]
		return image{}
	}
	return key
}

// wrappedKey reads {"schema": …, "payload": {…}}.
func (d *Decoder) wrappedKey(text string) (image, bool) {
	rest, ok := cutName(text, '{', `"schema"`)
	if !ok {
		return image{}, false
	}
	schema, n := d.schemas.Prefix(rest)
	if n == 0 {
		return d.scanWrappedKey(text)
	}
	if rest, ok = cutName(rest[n:], ',', `"payload"`); !ok {
		return image{}, false
	}
	d.scan.Reset(rest)
	key, err := d.image("key", schema)
	if err != nil {
		return image{}, false
	}
	rest = d.scan.Rest()
	return key, rest == "}"
}

// scanWrappedKey reads the same with a schema that is new.
func (d *Decoder) scanWrappedKey(text string) (image, bool) {
	s := d.scan
	s.Reset(text)
	if _, err := s.Object(); err != nil {
		return image{}, false
	}
	var (
		schema  *connect.Schema
		key     image
		members int
	)
	for {
		name, more, err := s.Member()
		switch {
		case err != nil:
			return image{}, false
		case !more:
			return key, members == 2 && s.End() == nil
		}
		members++
		switch kind := s.Peek(); {
		case name == "schema" && members == 1 && kind == '{':
			var raw string
			if raw, err = s.Value(); err == nil {
				schema, err = d.schemas.Schema(raw)
			}
		case name == "schema" && members == 1 && kind == 'n':
			err = s.Skip()
		case name == "payload" && members == 2 && kind == '{':
			key, err = d.image("key", schema)
		default:
			return image{}, false
		}
		if err != nil {
			return image{}, false
		}
	}
}

// bareKey reads {…}.
func (d *Decoder) bareKey(text string, schema *connect.Schema) (image, bool) {
	d.scan.Reset(text)
	key, err := d.image("key", schema)
	return key, err == nil && d.scan.End() == nil
}
