package diff

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/columns"
	"beamcdc/schemas/table"
)

// Message is what is to be published.
type Message struct {
	Data       []byte
	Attributes map[string]string
}

// Repairer publishes what the source has of rows that differ, for the pipeline to
// write: what it does with changes (from, enrichment, history, dead letters) it does
// with these too.
//
// # Of a database
//
// A row becomes a change in Debezium's envelope, with its schema, so that no setting
// is needed to say what its values mean: a snapshot's row (r), or a delete (d) where
// the source has none, at a position of the source's log. The pipeline makes the
// sequence of it, as of all it streams of the source, epoch included. So the repair
// beats every change before the position, and loses to each after it; [Settler] says
// why the row is just that old. It needs a pipeline whose positions are Debezium's.
//
// # Of a file
//
// A row becomes a message of the columns format, as the file has it, with the
// sequence that the user gives.
type Repairer struct {
	Table    *Table
	Publish  func(context.Context, []Message) error
	Settler  Settler         // of a database
	File     *File           // else
	Sequence change.Sequence // of a file's rows
	Now      func() time.Time
}

// rowsAtOnce is how many rows are read and published at one position.
const rowsAtOnce = 500

// Repair publishes the rows of these differences, and returns how many. Those that
// the pipeline would refuse are left out.
func (r *Repairer) Repair(ctx context.Context, differences []Difference) (int, error) {
	var keys []Key
	for i := range differences {
		if differences[i].Kind != Refused {
			keys = append(keys, differences[i].Key)
		}
	}
	published := 0
	for chunk := range slices.Chunk(keys, rowsAtOnce) {
		messages, err := r.messages(ctx, chunk)
		if err != nil {
			return published, fmt.Errorf("repairing %s: %w", r.Table.Source, err)
		}
		if err := r.Publish(ctx, messages); err != nil {
			return published, fmt.Errorf("publishing repairs of %s: %w", r.Table.Source, err)
		}
		published += len(messages)
	}
	return published, nil
}

func (r *Repairer) messages(ctx context.Context, keys []Key) ([]Message, error) {
	if r.File != nil {
		return r.fileMessages(ctx, keys)
	}
	at, rows, err := r.Settler.Settled(ctx, keys)
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]*Row, len(rows))
	for i := range rows {
		byKey[rows[i].Key.order] = &rows[i]
	}
	var messages []Message
	for _, key := range keys {
		row := byKey[key.order]
		if row != nil && row.Refused != nil { // it has become one that can't be written
			continue
		}
		data, err := r.envelope(at, key, row)
		if err != nil {
			return nil, err
		}
		messages = append(messages, Message{Data: data})
	}
	return messages, nil
}

// envelope returns a row, or where it is nil a delete, as Debezium's JSON converter
// writes it with schemas enabled.
func (r *Repairer) envelope(at Position, key Key, row *Row) ([]byte, error) {
	image, op, before, after := "after", "r", any(nil), any(nil)
	var values []change.Column
	switch {
	case row == nil:
		image, op = "before", "d"
		for i, c := range r.Table.Key {
			values = append(values, change.Column{Name: r.Table.Columns[c].Source, Value: key.Values[i]})
		}
	case row.raw != nil:
		values = row.raw // the pipeline does its steps to it
	default:
		for i := range r.Table.Columns {
			values = append(values, change.Column{Name: r.Table.Columns[i].Source, Value: row.Columns[i].Value})
		}
		values = append(values, row.others...)
	}
	var schemas []any
	written := object{}
	for _, v := range values {
		schema, value := connectValue(v.Value)
		schemas = append(schemas, append(object{{"field", v.Name}, {"optional", true}}, schema...))
		written = append(written, member{v.Name, value})
	}
	if row == nil {
		before = written
	} else {
		after = written
	}
	millis := r.Now().UnixMilli()
	return marshal(object{
		{"schema", object{{"type", "struct"}, {"fields", []any{object{{"field", image}, {"type", "struct"}, {"optional", true}, {"fields", schemas}}}}}},
		{"payload", object{{"before", before}, {"after", after}, {"source", at.source(r.Table.Source, millis)}, {"op", op}, {"ts_ms", millis}}},
	})
}

// source is Debezium's source block.
func (p Position) source(name string, millis int64) object {
	space, table, found := strings.Cut(name, ".")
	if !found {
		space, table = "", name
	}
	o := object{{"connector", p.Connector}, {"name", "cdc diff"}, {"ts_ms", millis}}
	if p.Connector == "postgresql" {
		return append(o, member{"schema", space}, member{"table", table}, member{"lsn", p.LSN})
	}
	return append(o, member{"db", space}, member{"table", table}, member{"file", p.File}, member{"pos", p.Pos})
}

// connectValue returns a value's schema, as members of a field's, and the value as
// the converter writes it.
func connectValue(v change.Value) (object, any) {
	named := func(typ, name string, value any) (object, any) {
		return object{{"type", typ}, {"name", name}, {"version", 1}}, value
	}
	switch v.Kind() {
	case change.KindBool:
		return object{{"type", "boolean"}}, v.Bool()
	case change.KindInt64:
		return object{{"type", "int64"}}, v.Int()
	case change.KindUint64:
		unscaled := new(big.Int).SetUint64(v.Uint()).Bytes()
		if unscaled[0] >= 0x80 { // two's complement
			unscaled = append([]byte{0}, unscaled...)
		}
		return object{{"type", "bytes"}, {"name", "org.apache.kafka.connect.data.Decimal"}, {"version", 1}, {"parameters", object{{"scale", "0"}}}},
			base64.StdEncoding.EncodeToString(unscaled)
	case change.KindFloat64:
		return object{{"type", "double"}}, floatJSON(v.Float())
	case change.KindBytes:
		return object{{"type", "bytes"}}, valueJSON(v)
	case change.KindDate:
		return named("int32", "io.debezium.time.Date", v.Int())
	case change.KindTime:
		return named("int64", "io.debezium.time.MicroTime", v.Int())
	case change.KindDateTime:
		return named("int64", "io.debezium.time.MicroTimestamp", v.Int())
	case change.KindTimestamp:
		return named("string", "io.debezium.time.ZonedTimestamp", valueJSON(v))
	case change.KindJSON:
		return named("string", "io.debezium.data.Json", v.Text())
	case change.KindArray:
		return connectArray(v.Elems())
	default: // decimals too, whose text every column reads as it reads a decimal
		return object{{"type", "string"}}, valueJSON(v)
	}
}

func connectArray(elements []change.Column) (object, any) {
	items := object{{"type", "string"}}
	values := []any{}
	for _, e := range elements {
		schema, value := connectValue(e.Value)
		if !e.Value.IsNull() {
			items = schema
		}
		values = append(values, value)
	}
	return object{{"type", "array"}, {"items", append(object{{"optional", true}}, items...)}}, values
}

// fileMessages returns the file's rows, and deletes of those that it doesn't have.
func (r *Repairer) fileMessages(ctx context.Context, keys []Key) ([]Message, error) {
	texts, err := r.File.texts(ctx, keys)
	if err != nil {
		return nil, err
	}
	messages := make([]Message, len(keys))
	for i, key := range keys {
		o := object{{"_CHANGE_TYPE", "UPSERT"}, {"_CHANGE_SEQUENCE_NUMBER", r.Sequence.String()}}
		if text, ok := texts[key.order]; ok {
			members, err := fields(nil, text)
			if err != nil {
				return nil, err
			}
			for _, m := range members {
				o = append(o, member{m.name, m.json})
			}
		} else {
			o[0].value = "DELETE"
			for n, at := range r.Table.Key {
				value, err := untypedKey(&r.Table.Columns[at], key.Values[n])
				if err != nil {
					return nil, err
				}
				o = append(o, member{r.Table.Columns[at].Source, value})
			}
		}
		data, err := marshal(o)
		if err != nil {
			return nil, err
		}
		messages[i] = Message{Data: data, Attributes: map[string]string{columns.TableAttribute: r.Table.Source}}
	}
	return messages, nil
}

// untypedKey writes a key's value so that a message without a schema means it,
// whatever from is: a number in digits is no base64, a time in ISO 8601 no count.
func untypedKey(c *Column, v change.Value) (any, error) {
	switch {
	case c.Type == table.Bytes && c.From == table.FromHex:
		return keyText(v), nil
	case c.Type == table.String && (c.From == table.FromHex || c.From == table.FromBase64):
		return nil, fmt.Errorf("key column %s has `from: %s`, and a text can't be written so that it means itself", c.Name, c.From)
	case v.Kind() == change.KindInt64 || v.Kind() == change.KindDecimal:
		return jsontext.Value(fmt.Sprint(valueJSON(v))), nil
	}
	return valueJSON(v), nil
}

// texts returns the rows of the keys as the file has them, by their order.
func (f *File) texts(ctx context.Context, keys []Key) (map[string][]byte, error) {
	if f.sorted == nil {
		return nil, errors.New("the file has not been read")
	}
	wanted := make(map[string]bool, len(keys))
	for _, k := range keys {
		wanted[k.order] = true
	}
	texts := make(map[string][]byte, len(keys))
	err := f.sorted.each(func(order string, text []byte) error {
		if wanted[order] {
			texts[order] = text
		}
		return ctx.Err()
	})
	return texts, err
}
