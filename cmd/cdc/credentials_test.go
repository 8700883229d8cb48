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
	if got := advice(fmt.Errorf("connecting to Pub/Sub: %w", none)); !strings.Contains(got, "PUBSUB_EMULATOR_HOST=HOST:PORT") || !strings.Contains(got, "-bigquery_rest_endpoint") {
		t.Errorf("of %v it says %q", none, got)
	}
	if got := advice(errors.New("it is refused")); got != "" {
		t.Errorf("of another error it says %q", got)
	}
}
