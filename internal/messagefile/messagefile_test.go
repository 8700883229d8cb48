package messagefile

import (
	"io"
	"strings"
	"testing"

	"beamcdc/examples/shop"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

func TestReadMessages(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		want []*pubsubpb.PubsubMessage
	}{
		"none": {"", nil},
		"exact bytes": {
			`{"data": {"zz":2.0,  "a":9007199254740993, "b": [1e2], "a": "\u00e9"}}`,
			[]*pubsubpb.PubsubMessage{{Data: []byte(`{"zz":2.0,  "a":9007199254740993, "b": [1e2], "a": "\u00e9"}`)}},
		},
		"no UTF-8": {"{\"data\": \"\xff\"}", []*pubsubpb.PubsubMessage{{Data: []byte("\"\xff\"")}}},
		"scalars": {
			"{\"data\": null}\n\n {\"data\": 3}\r\n{\"data\":\"x\"}\n",
			[]*pubsubpb.PubsubMessage{{Data: []byte("null")}, {Data: []byte("3")}, {Data: []byte(`"x"`)}},
		},
		"base64":    {`{"data_base64": "AP8="}`, []*pubsubpb.PubsubMessage{{Data: []byte{0, 0xff}}}},
		"tombstone": {`{"data_base64": "", "ordering_key": "{\"id\":7}"}`, []*pubsubpb.PubsubMessage{{OrderingKey: `{"id":7}`}}},
		"nulls": {
			`{"data_base64": null, "attributes": null, "ordering_key": null}`,
			[]*pubsubpb.PubsubMessage{{}},
		},
		"attributes": {
			`{"attributes": {"a": "1", "b": "é\n"}, "data": {}, "ordering_key": "k"}`,
			[]*pubsubpb.PubsubMessage{{Data: []byte("{}"), Attributes: map[string]string{"a": "1", "b": "é\n"}, OrderingKey: "k"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read("in", strings.NewReader(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadMessagesErrors(t *testing.T) {
	good := "{\"data\": 1}\n"
	for in, want := range map[string]string{
		good + `{"data": 1`:                                "m.jsonl:2: ",
		good + "\n[1]":                                     "m.jsonl:3: a message is a JSON object",
		`{"data": 1} {"data": 2}`:                          "m.jsonl:1: something follows the message",
		`{"data": 1, "data": 2}`:                           `m.jsonl:1: "data" comes twice`,
		`{"data": 1, "data_base64": ""}`:                   "m.jsonl:1: it has data and data_base64",
		`{"ordering_key": "k"}`:                            "m.jsonl:1: it has neither data nor data_base64",
		`{"data": 1, "orderingKey": "k"}`:                  `m.jsonl:1: unknown member "orderingKey"`,
		`{"data": 1, "ordering_key": 7}`:                   "m.jsonl:1: ordering_key is no JSON string",
		`{"data": 1, "attributes": {"a": 1}}`:              "m.jsonl:1: attribute a is no JSON string",
		`{"data": 1, "attributes": ["a"]}`:                 "m.jsonl:1: attributes is no JSON object",
		`{"data": 1, "attributes": {"a": "1", "a": "2"}}`:  "m.jsonl:1: reading attributes",
		`{"data_base64": "!"}`:                             "m.jsonl:1: decoding data_base64",
		`{"data_base64": 1}`:                               "m.jsonl:1: data_base64 is no JSON string",
		`{"data": {"a": }}`:                                `m.jsonl:1: reading "data"`,
		"this is not JSON":                                 "m.jsonl:1: reading a message",
		`{"data": 1, "attributes": {"a": "1"}, "data2": 1`: `m.jsonl:1: `,
	} {
		_, err := Read("m.jsonl", strings.NewReader(in))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s…", in, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has more than one line: %v", in, err)
		}
	}
}

// Either form is read, and a broken line of the one isn't taken for the other.
func TestReadEither(t *testing.T) {
	const good, data = "{\"data\": {\"op\":\"c\"}}\n", "{\"op\":\"c\"}\n"
	for in, want := range map[string]string{
		"":                  "",
		good + "\n" + good:  `{"op":"c"} {"op":"c"}`,
		data + "\n" + data:  `{"op":"c"} {"op":"c"}`,
		data + "{\"op\":\n": `{"op":"c"} {"op":`,
		`{"data":[{"id":1}],"database":"shop","table":"orders","type":"INSERT"}`:      `{"data":[{"id":1}],"database":"shop","table":"orders","type":"INSERT"}`, // Canal's
		`{"database":"shop","table":"orders","type":"insert","data":{"id":1}}` + "\n": `{"database":"shop","table":"orders","type":"insert","data":{"id":1}}`,   // Maxwell's
		`{"data": {}, "orderingKey": "k"}`:                                            `!in:1: unknown member "orderingKey"; ordering_key is meant`,
		`{"data": {}, "attributes": {"a": 1}}`:                                        "!in:1: attribute a is no JSON string",
		`{"data": {}, "data_base64": ""}`:                                             "!in:1: it has data and data_base64",
		`{"attributes": {}}`:                                                          "!in:1: it has neither data nor data_base64",
		`{"data": {"op": "c"}, "ordering_key": "k"`:                                   "!in:1: reading a message",
		good + data:                     `!in:2: unknown member "op"; a message has data`,
		data + good:                     `!in:1: unknown member "op"; a message has data`,
		"{\"data\": {\"a\":1}\n" + good: "!in:1: reading a message",
	} {
		messages, err := ReadEither("in", strings.NewReader(in))
		if problem, bad := strings.CutPrefix(want, "!"); bad {
			if err == nil || !strings.HasPrefix(err.Error(), problem) {
				t.Errorf("%s\n got %v\nwant %s…", in, err, problem)
			}
			continue
		}
		var got []string
		for _, m := range messages {
			got = append(got, string(m.GetData()))
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
}

func TestOpen_directory(t *testing.T) {
	dir := t.TempDir()
	for _, open := range []func(string, io.Reader) ([]*pubsubpb.PubsubMessage, error){Open, OpenEither} {
		if _, err := open(dir, nil); err == nil || !strings.HasSuffix(err.Error(), dir+" is a directory; name its files") {
			t.Error(err)
		}
	}
}

func TestDemoMessages(t *testing.T) {
	messages, err := Read("messages.jsonl", strings.NewReader(string(shop.Messages)))
	if err != nil {
		t.Fatal(err)
	}
	if len(messages) < 24 {
		t.Errorf("the demo has %d messages, too few to show anything", len(messages))
	}
}
