package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/oauth2/google"
)

// Who has no credentials is told what to do, with emulators too; nobody else is.
func TestAdvice(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("HOME", t.TempDir())
	none := errors.New("google: could not find default credentials")
	if _, err := google.FindDefaultCredentials(t.Context()); err != nil { // where no machine of Google's has some
		none = err
	}
	if got := advice("dead-letters", fmt.Errorf("connecting to Pub/Sub: %w", none)); !strings.Contains(got, "PUBSUB_EMULATOR_HOST=HOST:PORT") || !strings.Contains(got, "-bigquery_rest_endpoint") {
		t.Errorf("of %v it says %q", none, got)
	}
	for command, want := range map[string]bool{"ddl": true, "cost": true, "status": false, "diff": false} {
		if got := advice(command, none); strings.Contains(got, "-offline") != want {
			t.Errorf("%s says %q", command, got)
		}
	}
	if got := advice("ddl", errors.New("it is refused")); got != "" {
		t.Errorf("of another error it says %q", got)
	}
}
