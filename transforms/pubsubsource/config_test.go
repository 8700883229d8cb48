package pubsubsource

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

func TestParseSubscription(t *testing.T) {
	project, id, err := ParseSubscription("projects/example.com:p/subscriptions/changes-1")
	if project != "example.com:p" || id != "changes-1" || err != nil {
		t.Errorf("%q, %q, %v", project, id, err)
	}
	for _, bad := range []string{
		"", "changes", "projects/p", "projects//subscriptions/s", "projects/p/subscriptions/", "projects/p/topics/t",
		"projects/p/subscriptions/s/x", "/projects/p/subscriptions/s",
	} {
		if _, _, err := ParseSubscription(bad); !errors.Is(err, ErrNoSubscription) {
			t.Errorf("%q: error %v, want ErrNoSubscription", bad, err)
		}
	}
}

func TestConfig_Validate(t *testing.T) {
	const name = "projects/p/subscriptions/s"
	tests := map[string]struct {
		config Config
		valid  bool
	}{
		"zero values":        {Config{Subscription: name}, true},
		"an emulator":        {Config{Subscription: name, Endpoint: "localhost:1", Plaintext: true}, true},
		"a short name":       {Config{Subscription: "s"}, false},
		"a negative bound":   {Config{Subscription: name, MaxOutstandingMessages: -1}, false},
		"a short lease":      {Config{Subscription: name, Lease: time.Second}, false},
		"a long lease":       {Config{Subscription: name, Lease: time.Hour}, false},
		"plain text, no end": {Config{Subscription: name, Plaintext: true}, false},
	}
	for title, test := range tests {
		if err := test.config.Validate(); (err == nil) != test.valid {
			t.Errorf("%s: %v", title, err)
		}
	}
}

// A DoFn's configuration reaches the worker as JSON.
func TestConfig_SurvivesSerialization(t *testing.T) {
	want := Config{
		Subscription: "projects/p/subscriptions/s", RunnerOwned: true, Endpoint: "localhost:1", Plaintext: true,
		MaxOutstandingMessages: 2, MaxOutstandingBytes: 3, Streams: 4, MaxExtension: 5, Lease: 6, BundleMessages: 7, BundleBytes: 8, BundleTime: 9,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestConfig_Where(t *testing.T) {
	t.Setenv("PUBSUB_EMULATOR_HOST", "localhost:8085")
	if got := (Config{}).where(); got != "localhost:8085 (PUBSUB_EMULATOR_HOST)" {
		t.Error(got)
	}
	if got := (Config{Endpoint: "other:443"}).where(); got != "other:443" {
		t.Error(got)
	}
	t.Setenv("PUBSUB_EMULATOR_HOST", "")
	if got := (Config{}).where(); got != "pubsub.googleapis.com" {
		t.Error(got)
	}
}
