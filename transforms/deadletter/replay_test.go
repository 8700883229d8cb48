package deadletter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

var published = time.Date(2025, 3, 9, 8, 7, 6, 5004000, time.UTC)

// Replayed any number of times, a message is what it was: its time, its ID and its
// attributes, Pub/Sub's own among them.
func TestOriginal_undoesReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.OneOf(rapid.StringMatching(`[a-z]{1,5}`), rapid.SampledFrom([]string{"googclient_schemaname", "goog", "beam"}))
		want := change.Message{
			ID: rapid.StringMatching(`[ -~]{1,9}`).Draw(t, "id"), Data: []byte("x"), OrderingKey: "k", Token: 7,
			Attributes:  rapid.MapOfN(names, rapid.String(), 0, 5).Draw(t, "attributes"),
			PublishTime: time.Unix(0, rapid.Int64Range(0, 1<<60).Draw(t, "time")).UTC(),
		}
		if len(want.Attributes) == 0 {
			want.Attributes = nil
		}
		m := want
		for replays := range rapid.Uint32Range(0, 3).Draw(t, "replays") {
			attributes, err := ReplayAttributes(&m, false)
			if err != nil {
				t.Fatal(err)
			}
			for name := range attributes {
				if strings.HasPrefix(name, "goog") {
					t.Fatalf("Pub/Sub takes no attribute %q", name)
				}
			}
			m.ID, m.Attributes, m.PublishTime = fmt.Sprint("new", replays), attributes, want.PublishTime.Add(time.Hour)
			if m, err = Original(m); err != nil {
				t.Fatal(err)
			}
			want.Replays = replays + 1
			if diff := cmp.Diff(want, m); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
		}
	})
}

func TestOriginal_refuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "1", "1 2025-03-09T08:07:06Z", "1 2025-03-09T08:07:06Z ", "0 2025-03-09T08:07:06Z m1", "-1 2025-03-09T08:07:06Z m1",
		"1000001 2025-03-09T08:07:06Z m1", "99999999999999999999 2025-03-09T08:07:06Z m1", "1 yesterday m1", "1  m1", "x 2025-03-09T08:07:06Z m1",
		"1 2025-03-09T08:08:07Z m1", "1 9999-01-01T00:00:00Z m1", // later than it can be
	} {
		m := change.Message{ID: "m2", PublishTime: published, Attributes: map[string]string{AttributeReplay: text}}
		got, err := Original(m)
		if err == nil {
			t.Errorf("%q is taken", text)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%q changes the message of its letter (-want +got):\n%s", text, diff)
		}
	}
}

// What the topic's schema says of the replayed message is truer than what it said
// of the first.
func TestOriginal_keepsTheNewSchema(t *testing.T) {
	m, err := Original(change.Message{ID: "2", PublishTime: published, Attributes: map[string]string{
		AttributeReplay: "1 2025-03-09T08:07:06Z 1", "beamcdc_googclient_schemarevisionid": "old", "googclient_schemarevisionid": "new",
	}})
	if want := map[string]string{"googclient_schemarevisionid": "new"}; err != nil || !cmp.Equal(want, m.Attributes) {
		t.Errorf("%v, attributes %v", err, m.Attributes)
	}
}

func TestReplayAttributes_room(t *testing.T) {
	m := change.Message{ID: "1", PublishTime: published, Attributes: map[string]string{}}
	for i := range 100 {
		_, err := ReplayAttributes(&m, false)
		if err != nil {
			t.Fatalf("%d attributes: %v", i, err)
		}
		m.Attributes[fmt.Sprint(i)] = ""
	}
	if _, err := ReplayAttributes(&m, false); !errors.Is(err, ErrNoRoom) {
		t.Errorf("a message with 100 attributes got one more: %v", err)
	}
	if attributes, err := ReplayAttributes(&m, true); err != nil || len(attributes) != 100 {
		t.Errorf("as new: %d attributes, %v", len(attributes), err)
	}
}

// FuzzOriginal: any attribute is refused, or is what ReplayAttributes writes.
func FuzzOriginal(f *testing.F) {
	f.Add("1 2025-03-09T08:07:06.005004Z m33")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Original(change.Message{ID: "2", Attributes: map[string]string{AttributeReplay: text}})
		if err != nil {
			return
		}
		if m.ID == "" || m.Replays == 0 || m.Replays > maxReplays || m.Attributes != nil {
			t.Fatalf("%+v", m)
		}
		if m.PublishTime.IsZero() || m.PublishTime.Year() > 9999 || m.PublishTime.Year() < 0 {
			return // no time of a message
		}
		attributes, err := ReplayAttributes(&m, false)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Original(change.Message{ID: "3", Attributes: attributes})
		if err != nil || again.ID != m.ID || !again.PublishTime.Equal(m.PublishTime) || again.Replays != min(m.Replays+1, maxReplays) && m.Replays < maxReplays {
			t.Fatalf("%v: %+v became %+v", err, m, again)
		}
	})
}
