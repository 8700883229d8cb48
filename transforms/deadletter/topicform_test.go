package deadletter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cloud.google.com/go/pubsub/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

// whole reads a letter back from its messages, in any order.
func whole(t rapid.TB, messages []*pubsub.Message) Stored {
	t.Helper()
	data := make([][]byte, len(messages))
	for i, m := range messages {
		id, number, count, ok := TopicPiece(m.Attributes)
		if !ok || count != len(messages) || data[number-1] != nil {
			t.Fatalf("message %d is piece %d of %d of %q, %v; there are %d", i, number, count, id, ok, len(messages))
		}
		data[number-1] = append([]byte{}, m.Data...)
	}
	s, err := TopicLetter(messages[0].Attributes, slices.Concat(data...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whatever a message's attributes are, and however small the messages of the topic
// must be: its letter comes back whole, and breaks none of Pub/Sub's limits.
func TestTopicMessages_keepTheMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.OneOf(
			rapid.StringMatching(`[a-zA-Z_.-]{1,12}`),
			rapid.SampledFrom([]string{"googclient_schemaname", "googclient_schemaencoding", "beamcdc_stage", "beamcdc_replay", "beamcdc_piece"}),
		)
		many := rapid.IntRange(0, 100).Draw(t, "many")
		attributes := rapid.MapOfN(names, rapid.StringN(0, -1, 200), 0, 5).Draw(t, "attributes")
		for i := len(attributes); i < many; i++ {
			attributes[fmt.Sprint("a", i)] = "x"
		}
		l := Letter{
			Message: change.Message{
				ID: "101", Data: rapid.SliceOfN(rapid.Byte(), 0, 9000).Draw(t, "data"), Attributes: attributes, OrderingKey: "k", PublishTime: published,
				Replays: rapid.Uint32Range(0, 2).Draw(t, "replays"),
			},
			Stage: "encode", Reason: "bad_value", Error: strings.Repeat("ü", 2000), Table: "t", Part: 3,
		}
		limit := rapid.SampledFrom([]int{maxPublishBytes, 60_000, 5000}).Draw(t, "limit")
		messages, err := topicMessages(&l, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if len(m.Attributes) > maxAttributes {
				t.Fatalf("%d attributes", len(m.Attributes))
			}
			size := len(m.Data)
			for name, value := range m.Attributes {
				size += len(name) + len(value)
				if strings.HasPrefix(name, "goog") || len(value) > 1024 || !utf8.ValidString(value) {
					t.Fatalf("attribute %q of %d bytes", name, len(value))
				}
			}
			if size > max(limit, 30_000) { // that is what the attributes may have here
				t.Fatalf("a message of %d bytes, limit %d", size, limit)
			}
		}
		got := whole(t, messages)
		want := l.stored()
		got.Error = want.Error // cut to an attribute's length
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

// Of a message that has no attributes of its own the letter is its data as it was,
// for whoever reads the topic without this program.
func TestTopicMessages_plain(t *testing.T) {
	l := letters()[0].(Letter)
	messages, err := topicMessages(&l, maxPublishBytes)
	if err != nil || len(messages) != 1 || string(messages[0].Data) != string(l.Message.Data) || messages[0].Attributes["origin"] != "shop" {
		t.Fatalf("%v: %+v", err, messages)
	}
}

// Attributes of a topic's messages come from whoever may publish there.
func TestTopicPiece_hostile(t *testing.T) {
	letter := func(more ...string) map[string]string {
		attributes := map[string]string{AttributeStage: "decode", AttributeMessageID: "1"}
		for i := 0; i < len(more); i += 2 {
			attributes[more[i]] = more[i+1]
		}
		return attributes
	}
	if _, _, _, ok := TopicPiece(letter()); !ok {
		t.Fatal("the least of a letter is none")
	}
	for _, attributes := range []map[string]string{
		nil,
		{AttributeStage: "decode"},
		{AttributeMessageID: "1"},
		letter(AttributePart, "x"),
		letter(AttributePart, "4294967296"),
		letter(AttributeReplays, "-1"),
		letter(AttributePublishTime, "yesterday"),
		letter(AttributePiece, ""),
		letter(AttributePiece, "1"),
		letter(AttributePiece, "0/2"),
		letter(AttributePiece, "3/2"),
		letter(AttributePiece, "1/99999999"),
		letter(AttributePiece, "1/2/3"),
	} {
		if _, _, _, ok := TopicPiece(attributes); ok {
			t.Errorf("%v is a piece of a letter", attributes)
		}
	}
	for _, data := range []string{"", "{", "[]", `{"stage":"decode"}`, `{"stage":"decode","message_id":"1","data_base64":"?"}`} {
		if _, err := TopicLetter(letter(AttributeForm, "json"), []byte(data)); err == nil {
			t.Errorf("%q is a letter", data)
		}
	}
}

// FuzzParseStored: any text is an error or a letter that is stored as itself.
func FuzzParseStored(f *testing.F) {
	f.Add([]byte(`{"id":"1/decode/0","stage":"decode","reason":"bad_json","error":"","message_id":"1","part":0,"publish_time":"2025-03-09T08:07:06Z","data_base64":"eA==","data":"y"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStored(text)
		if err != nil {
			return
		}
		if s.Stage == "" || s.MessageID == "" || s.ID == "" || s.Data != nil {
			t.Fatalf("%+v", s)
		}
	})
}
