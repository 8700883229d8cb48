package letters

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"

	"beamcdc/schemas/change"
)

// repairFor bounds the repair of one message: an expression may go on for ever.
const repairFor = 10 * time.Second

// maxMessageBytes is Pub/Sub's bound of a message's data.
const maxMessageBytes = 10_000_000

// repair makes the data that a message should have had of the one that it has. Its
// errors hold no data.
type repair func(ctx context.Context, m *change.Message) ([]byte, error)

// jqVariables are what a jq expression sees besides the data.
var jqVariables = []string{"$text", "$attributes", "$ordering_key", "$message_id", "$publish_time"}

// jqRepair compiles a jq expression. Its input is the message's JSON, null where the
// data is none; what it gives is the new data: the JSON of an object or a list, or the
// text of a string.
func jqRepair(expression string) (repair, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("the jq expression: %w", err)
	}
	// Without a loader it reads no file, and no environment.
	code, err := gojq.Compile(query, gojq.WithVariables(jqVariables))
	if err != nil {
		return nil, fmt.Errorf("the jq expression: %w", err)
	}
	return func(ctx context.Context, m *change.Message) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, repairFor)
		defer cancel()
		input, _ := readJSON(m.Data) // nil where it is none
		attributes := make(map[string]any, len(m.Attributes))
		for name, value := range m.Attributes {
			attributes[name] = value
		}
		results := code.RunWithContext(ctx, input, textOf(m), attributes, m.OrderingKey, m.ID, m.PublishTime.UTC().Format(time.RFC3339Nano))
		v, ok := results.Next()
		if !ok {
			return nil, errors.New("the jq expression gives nothing")
		}
		if _, more := results.Next(); more {
			return nil, errors.New("the jq expression gives more than one value; a message becomes one message")
		}
		if err, failed := v.(error); failed {
			return nil, jqError(ctx, err)
		}
		return dataOf(v, "jq")
	}, nil
}

// slipped warns of a repair that makes something else of a JSON object: it gave a part
// of the message where it was to change one. "" where there is nothing to warn of.
func slipped(before, after []byte) string {
	isObject := func(data []byte) bool {
		v := jsontext.Value(data)
		return v.Kind() == '{' && v.IsValid()
	}
	if isObject(before) && !isObject(after) {
		return "the message was a JSON object, and its new data is none: the repair has to give the whole message"
	}
	return ""
}

// jqError says why an expression failed. jq's own text may quote the data.
func jqError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the jq expression took longer than %v", repairFor)
	}
	if _, halted := errors.AsType[*gojq.HaltError](err); halted {
		return errors.New("the jq expression halts")
	}
	return fmt.Errorf("the jq expression fails on this message (%T); show the letter, and try the expression on its data", err)
}

// textOf returns the data as text, or nil where it is none.
func textOf(m *change.Message) any {
	if !utf8.Valid(m.Data) {
		return nil
	}
	return string(m.Data)
}

// readJSON reads one JSON value whose numbers stay what they are. Text that would not
// come back as it was, as a member that is there twice, is no JSON here.
func readJSON(data []byte) (any, error) {
	if !jsontext.Value(data).IsValid() {
		return nil, errors.New("the data is no JSON, or has a member twice")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("the data is no JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the data is more than one JSON value")
	}
	return v, nil
}

// dataOf returns the data that an expression's value stands for.
func dataOf(v any, language string) ([]byte, error) {
	var data []byte
	switch v := v.(type) {
	case map[string]any, []any:
		text, err := gojq.Marshal(v)
		if err != nil {
			return nil, err
		}
		data = text
	case string:
		data = []byte(v)
	case []byte:
		data = v
	default:
		return nil, fmt.Errorf("the %s expression gives no message: an object, a list, or a text that is the message's data", language)
	}
	if len(data) > maxMessageBytes {
		return nil, fmt.Errorf("the %s expression gives %d bytes, more than a message may have", language, len(data))
	}
	return data, nil
}
