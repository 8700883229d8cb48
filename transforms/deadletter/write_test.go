package deadletter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
)

func TestMain(m *testing.M) { ptest.Main(m) }

func letters() []any {
	return []any{
		Letter{
			Message: change.Message{
				ID: "101", Data: []byte(`{"op":"?"}`), Attributes: map[string]string{"origin": "shop"}, OrderingKey: "k",
				PublishTime: time.Date(2025, 3, 9, 8, 7, 6, 5004000, time.UTC), Token: 11,
			},
			Stage: "decode", Reason: "bad_envelope", Error: "decoding debezium envelope: unknown op", Table: "public.orders",
			Receipts: []change.Receipt{{Token: 11, Parts: 1}},
		},
		Letter{
			Message: change.Message{ID: "102", Data: []byte{0xff, 0x00}, Token: 12},
			Stage:   "encode", Reason: "bad_value", Error: "column total: out of range", Part: 1,
			Receipts: []change.Receipt{{Token: 12, Part: 2, Parts: 4}, {Token: 12, Part: 3, Parts: 4}},
		},
	}
}

func wantReceipts() []any {
	return []any{change.Receipt{Token: 11, Parts: 1}, change.Receipt{Token: 12, Part: 2, Parts: 4}, change.Receipt{Token: 12, Part: 3, Parts: 4}}
}

func counts(t *testing.T, r beam.PipelineResult) map[string]int64 {
	t.Helper()
	counts := make(map[string]int64)
	for _, c := range r.Metrics().AllMetrics().Counters() {
		if c.Namespace() == Namespace {
			counts[c.Name()] += c.Result()
		}
	}
	return counts
}

func TestWrite_directory(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "letters")
	for range 2 { // the second time is a redelivery
		p, s := beam.NewPipelineWithRoot()
		receipts := Write(s, Config{Directory: directory}, beam.Create(s, letters()...))
		passert.Equals(s, receipts[0], wantReceipts()...)
		result := ptest.RunAndValidate(t, p)
		want := map[string]int64{
			"letters": 2, "letters_by_reason/decode/bad_envelope": 1, "letters_by_reason/encode/bad_value": 1,
			"letters_by_table/decode/public.orders": 1, "letters_by_table/encode/unknown": 1,
		}
		if diff := cmp.Diff(want, counts(t, result)); diff != "" {
			t.Errorf("counters (-want +got):\n%s", diff)
		}
	}
	want := []Stored{
		{
			ID: "101/decode/0", Stage: "decode", Reason: "bad_envelope", Error: "decoding debezium envelope: unknown op", Table: "public.orders",
			MessageID: "101", PublishTime: time.Date(2025, 3, 9, 8, 7, 6, 5004000, time.UTC), OrderingKey: "k",
			Attributes: map[string]string{"origin": "shop"}, DataBase64: []byte(`{"op":"?"}`),
		},
		{ID: "102/encode/2", Stage: "encode", Reason: "bad_value", Error: "column total: out of range", MessageID: "102", Part: 1, DataBase64: []byte{0xff, 0x00}},
	}
	got, err := ReadDirectory(directory)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored letters (-want +got):\n%s", diff)
	}
	entries, _ := os.ReadDir(directory)
	if len(entries) != 2 {
		t.Errorf("%d files, want 2: a redelivered letter replaces itself", len(entries))
	}
}

// An embedded Pub/Sub gives an ID again in its next process: what one run has stored
// stays when another stores a letter, and a redelivered one is there once.
func TestWrite_directoryOfTwoRuns(t *testing.T) {
	directory := t.TempDir()
	at := time.Date(2025, 3, 9, 8, 7, 6, 5004000, time.UTC)
	for _, message := range []change.Message{
		{ID: "m33", Data: []byte("one"), PublishTime: at},
		{ID: "m33", Data: []byte("two"), PublishTime: at.Add(time.Hour)},
		{ID: "m33", Data: []byte("two"), PublishTime: at.Add(time.Hour)},
	} {
		p, s := beam.NewPipelineWithRoot()
		// Many changes share their data, which is stored by itself.
		Write(s, Config{Directory: directory}, beam.Create(s, Letter{Message: message, Stage: "key", Reason: "no_key", Shared: true}))
		ptest.RunAndValidate(t, p)
	}
	got, err := ReadDirectory(directory)
	if err != nil {
		t.Fatal(err)
	}
	var data []string
	for _, s := range got {
		data = append(data, string(s.DataBase64))
	}
	if diff := cmp.Diff([]string{"one", "two"}, data); diff != "" {
		t.Errorf("the letters' data (-want +got):\n%s", diff)
	}
}

func TestWrite_failsTheBundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	Write(s, Config{Directory: filepath.Join(file, "letters")}, beam.Create(s, letters()...))
	if err := ptest.Run(p); err == nil {
		t.Error("letters that could not be stored passed for stored")
	}
}

func TestFileName(t *testing.T) {
	names := make(map[string]string)
	for _, id := range []string{
		"101", "../../etc/passwd", "..", ".", "", "a", "A", "a/decode/0", "a b", "a\x00b", strings.Repeat("1", 300), strings.Repeat("1", 301), "ä", "1-decode-0", "1",
	} {
		for part := range uint32(2) {
			name := fileName(&Letter{Message: change.Message{ID: id}, Stage: "decode", Part: part})
			if strings.ContainsAny(name, "/\\\x00 ") || strings.HasPrefix(name, ".") || len(name) > 120 || !strings.HasSuffix(name, ".json") {
				t.Errorf("id %q makes the file name %q", id, name)
			}
			key := fmt.Sprintf("%q part %d", id, part)
			if other, ok := names[strings.ToLower(name)]; ok {
				t.Errorf("%s and %s share the file name %q", key, other, name)
			}
			names[strings.ToLower(name)] = key
		}
	}
}

func TestWrite_topic(t *testing.T) {
	server := pstest.NewServer()
	defer server.Close() //nolint:errcheck // the test is over
	const topic = "projects/demo/topics/dead"
	if _, err := server.GServer.CreateTopic(context.Background(), &pubsubpb.Topic{Name: topic}); err != nil {
		t.Fatal(err)
	}
	config := Config{Topic: topic, Endpoint: server.Addr, Plaintext: true}
	if err := config.Check(t.Context()); err != nil {
		t.Fatal(err)
	}

	p, s := beam.NewPipelineWithRoot()
	receipts := Write(s, config, beam.Create(s, letters()...))
	passert.Equals(s, receipts[0], wantReceipts()...)
	ptest.RunAndValidate(t, p)

	byID := make(map[string]*pstest.Message)
	for _, m := range server.Messages() {
		byID[m.Attributes[AttributeMessageID]] = m
	}
	if len(server.Messages()) != 2 {
		t.Fatalf("%d messages in the topic, want 2", len(server.Messages()))
	}
	first := byID["101"]
	if string(first.Data) != `{"op":"?"}` {
		t.Errorf("data is %q", first.Data)
	}
	want := map[string]string{
		"origin": "shop", AttributeStage: "decode", AttributeReason: "bad_envelope", AttributeError: "decoding debezium envelope: unknown op",
		AttributeLetter: "101/decode/0", AttributeTable: "public.orders", AttributeMessageID: "101", AttributePart: "0", AttributePublishTime: "2025-03-09T08:07:06.005004Z", AttributeOrderingKey: "k",
	}
	if diff := cmp.Diff(want, first.Attributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func TestCheck_missingTopic(t *testing.T) {
	server := pstest.NewServer()
	defer server.Close() //nolint:errcheck // the test is over
	err := Config{Topic: "projects/demo/topics/none", Endpoint: server.Addr, Plaintext: true}.Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "projects/demo/topics/none") {
		t.Errorf("a topic that is not there: %v", err)
	}
}

func TestConfig_Validate(t *testing.T) {
	for _, c := range []Config{
		{},
		{Topic: "projects/p/topics/t", Directory: "d"},
		{Topic: "t"},
		{Topic: "projects/p/subscriptions/t"},
		{Directory: "d", MaxPublishBytes: -1},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
