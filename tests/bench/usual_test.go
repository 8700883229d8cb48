package bench

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"beamcdc/schemas/table"
)

// usual is how one makes rows of Debezium's messages in Go with what is there: encoding/json
// reads a message into a map, or into JSON of the row that protojson reads, and a dynamic
// message encodes it. It knows the columns, and which values need another form; it has no
// other types than the benchmark's, checks no value and ignores the schemas.
type usual struct {
	columns      []table.Column
	key          string
	flat, schema bool
	descriptor   protoreflect.MessageDescriptor
	fields       []protoreflect.FieldDescriptor // by column
	kind, at     protoreflect.FieldDescriptor   // the pseudo-columns
}

const (
	changeType     = "_CHANGE_TYPE"
	changeSequence = "_CHANGE_SEQUENCE_NUMBER"
)

func newUsual(tb testing.TB, c *codec, in *codecInput) *usual {
	tb.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("row.proto"), MessageType: []*descriptorpb.DescriptorProto{c.plan.Descriptor()},
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	u := &usual{columns: c.table.Columns, key: c.table.PrimaryKey[0], flat: in.flat, schema: in.schema, descriptor: file.Messages().Get(0)}
	for i := range u.columns {
		u.fields = append(u.fields, u.descriptor.Fields().ByName(protoreflect.Name(u.columns[i].Name)))
	}
	u.kind, u.at = u.descriptor.Fields().ByName(changeType), u.descriptor.Fields().ByName(changeSequence)
	return u
}

// usualEvent is a message; V is what its values are read into.
type usualEvent[V any] struct {
	Before, After map[string]V
	Op            string
	Source        struct{ LSN uint64 }
}

// read reads a message. Flat ones have the operation and the position in their row.
func read[V any](u *usual, data []byte, text func(V) string) (e usualEvent[V], err error) {
	switch {
	case u.flat:
		if err = json.Unmarshal(data, &e.After); err == nil {
			e.Op = text(e.After["__op"])
			e.Source.LSN, err = strconv.ParseUint(text(e.After["__lsn"]), 10, 64)
		}
	case u.schema:
		var m struct{ Payload usualEvent[V] }
		err = json.Unmarshal(data, &m)
		e = m.Payload
	default:
		err = json.Unmarshal(data, &e)
	}
	if e.Op == "d" {
		e.After = map[string]V{u.key: e.Before[u.key]}
	}
	return e, err
}

func kindOf(op string) string {
	if op == "d" {
		return "DELETE"
	}
	return "UPSERT"
}

// byMap is encoding/json to a map to a dynamic message. Numbers are float64, as it has
// them: an integer beyond 2^53 isn't exact.
func (u *usual) byMap(data []byte) ([]byte, error) {
	e, err := read(u, data, func(v any) string {
		if n, ok := v.(float64); ok {
			return strconv.FormatFloat(n, 'f', 0, 64)
		}
		return fmt.Sprint(v)
	})
	if err != nil {
		return nil, err
	}
	row := dynamicpb.NewMessage(u.descriptor)
	for i := range u.columns {
		c := &u.columns[i]
		value := e.After[c.Name]
		if value == nil {
			continue
		}
		if list, ok := value.([]any); ok {
			into := row.Mutable(u.fields[i]).List()
			for _, element := range list {
				into.Append(protoreflect.ValueOf(element))
			}
			continue
		}
		v, err := valueOf(c.Type, value)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		row.Set(u.fields[i], v)
	}
	row.Set(u.kind, protoreflect.ValueOfString(kindOf(e.Op)))
	row.Set(u.at, protoreflect.ValueOfString(fmt.Sprintf("%X", e.Source.LSN)))
	return proto.Marshal(row)
}

func valueOf(kind table.Type, value any) (protoreflect.Value, error) {
	switch v := value.(type) {
	case float64:
		if kind == table.Int64 || kind == table.Timestamp {
			return protoreflect.ValueOfInt64(int64(v)), nil
		}
		if kind == table.DateTime {
			return protoreflect.ValueOfString(dateTime(int64(v))), nil
		}
		return protoreflect.ValueOfFloat64(v), nil
	case string:
		if kind == table.Timestamp {
			at, err := time.Parse(time.RFC3339Nano, v)
			return protoreflect.ValueOfInt64(at.UnixMicro()), err
		}
		if kind == table.Numeric {
			text, err := decimal(v)
			return protoreflect.ValueOfString(text), err
		}
		return protoreflect.ValueOfString(v), nil
	case bool:
		return protoreflect.ValueOfBool(v), nil
	}
	return protoreflect.Value{}, fmt.Errorf("a %T can't be a %v", value, kind)
}

func dateTime(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000")
}

// decimal is Debezium's decimal of scale 2.
func decimal(text string) (string, error) {
	unscaled, err := base64.StdEncoding.DecodeString(text)
	n := new(big.Int).SetBytes(unscaled)
	if len(unscaled) > 0 && unscaled[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(unscaled))))
	}
	return new(big.Rat).SetFrac(n, big.NewInt(100)).FloatString(2), err
}

// byProtoJSON is encoding/json to the row's JSON, protojson to a dynamic message.
func (u *usual) byProtoJSON(data []byte) ([]byte, error) {
	row, err := u.rowJSON(data)
	if err != nil {
		return nil, err
	}
	return u.ofRowJSON(row)
}

// rowJSON is the row as protojson reads it.
func (u *usual) rowJSON(data []byte) ([]byte, error) {
	e, err := read(u, data, func(v json.RawMessage) string {
		text := string(v)
		if unquoted, err := strconv.Unquote(text); err == nil {
			return unquoted
		}
		return text
	})
	if err != nil {
		return nil, err
	}
	for i := range u.columns {
		c := &u.columns[i]
		value := e.After[c.Name]
		if len(value) == 0 || string(value) == "null" {
			continue
		}
		var other any
		switch {
		case c.Type == table.Numeric:
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, err
			}
			if other, err = decimal(text); err != nil {
				return nil, err
			}
		case c.Type == table.DateTime:
			micros, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return nil, err
			}
			other = dateTime(micros)
		case c.Type == table.Timestamp && value[0] == '"':
			var at time.Time
			if err := json.Unmarshal(value, &at); err != nil {
				return nil, err
			}
			other = at.UnixMicro()
		default:
			continue
		}
		if e.After[c.Name], err = json.Marshal(other); err != nil {
			return nil, err
		}
	}
	e.After[changeType] = json.RawMessage(strconv.Quote(kindOf(e.Op)))
	e.After[changeSequence] = json.RawMessage(fmt.Sprintf(`"%X"`, e.Source.LSN))
	return json.Marshal(e.After)
}

// ofRowJSON is protojson to a dynamic message alone.
func (u *usual) ofRowJSON(row []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(u.descriptor)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(row, m); err != nil {
		return nil, err
	}
	return proto.Marshal(m)
}

// diff tells two rows apart, but for their sequences: ours has all four sections.
func (u *usual) diff(tb testing.TB, a, b []byte) string {
	tb.Helper()
	var rows [2]*dynamicpb.Message
	for i, data := range [][]byte{a, b} {
		rows[i] = dynamicpb.NewMessage(u.descriptor)
		if err := proto.Unmarshal(data, rows[i]); err != nil {
			tb.Fatal(err)
		}
		rows[i].Clear(u.at)
	}
	if proto.Equal(rows[0], rows[1]) {
		return ""
	}
	return cmp.Diff(prototext.Format(rows[0]), prototext.Format(rows[1]))
}
