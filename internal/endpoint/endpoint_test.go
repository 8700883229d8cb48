package endpoint

import (
	"strings"
	"testing"
)

// Plain text goes to this machine alone. What looks like it and isn't is another one.
func TestPlain(t *testing.T) {
	for address, local := range map[string]bool{
		"127.0.0.1:9060":                  true,
		"127.8.9.1:1":                     true,
		"localhost:9060":                  true,
		"LOCALHOST:9060":                  true,
		"[::1]:9060":                      true,
		"[::ffff:127.0.0.1]:1":            true,
		"::1":                             true,
		"http://127.0.0.1:9050":           true,
		"http://localhost":                true,
		"http://[::1]:9050/bigquery/v2/":  true,
		"http://u:p@localhost:1/x":        true,
		"dns:///localhost:9060":           true,
		"0.0.0.0:9060":                    false, // where a server listens, and nobody knows whose
		"10.0.0.7:9060":                   false,
		"emulator:9060":                   false,
		"localhost.example.com:9060":      false,
		"127.0.0.1.example.com:9060":      false,
		"http://127.0.0.1@example.com:80": false,
		"http://example.com/127.0.0.1":    false,
		"http://example.com?@127.0.0.1":   false,
		"dns:///example.com:9060":         false,
		"dns://127.0.0.1/example.com:1":   false,
		"unix:/tmp/socket":                false,
		"2130706433:1":                    false,
		"0177.0.0.1:1":                    false,
		"":                                false,
		"\x00":                            false,
	} {
		if err := Plain(address, false); (err == nil) != local {
			t.Errorf("plain text to %q: %v", address, err)
		}
		if err := Plain(address, true); err != nil {
			t.Errorf("plain text to %q, which is allowed: %v", address, err)
		}
	}
}

// An error names the address and the setting, and no password.
func TestPlain_error(t *testing.T) {
	err := Plain("http://user:hunter2@bigquery.example.com:9050/v2", false)
	if err == nil || strings.Contains(err.Error(), "hunter2") ||
		!strings.Contains(err.Error(), "bigquery.example.com:9050") || !strings.Contains(err.Error(), Flag) {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	const remote, local = "10.1.2.3:9060", "127.0.0.1:9060"
	grpc := func(address string, plaintext, allowed bool) func() (int, error) {
		return func() (int, error) { o, err := GRPC(address, plaintext, allowed); return len(o), err }
	}
	rest := func(address string, allowed bool) func() (int, error) {
		return func() (int, error) { o, err := REST(address, allowed); return len(o), err }
	}
	for name, test := range map[string]struct {
		options func() (int, error)
		want    int // -1 for an error
	}{
		"Google's gRPC":           {grpc("", false, false), 0},
		"Google's in plain text":  {grpc("", true, true), -1},
		"an emulator's gRPC":      {grpc(local, true, false), 4},
		"another with TLS":        {grpc(remote, false, false), 1},
		"another in plain text":   {grpc(remote, true, false), -1},
		"another, allowed":        {grpc(remote, true, true), 4},
		"Google's REST":           {rest("", false), 0},
		"an emulator's REST":      {rest("http://"+local, false), 3},
		"another by https":        {rest("https://"+remote, false), 1},
		"another by http":         {rest("http://"+remote, false), -1},
		"another by http, asked":  {rest("http://"+remote, true), 3},
		"no URL":                  {rest(local, true), -1},
		"another scheme":          {rest("ftp://"+local, true), -1},
		"a scheme without a host": {rest("http://", true), -1},
	} {
		got, err := test.options()
		if (err != nil) != (test.want < 0) || err == nil && got != test.want {
			t.Errorf("%s: %d options, %v; want %d", name, got, err, test.want)
		}
	}
}

// Pub/Sub's clients take their address from the environment, without TLS.
func TestPubSub_environment(t *testing.T) {
	t.Setenv("PUBSUB_EMULATOR_HOST", "emulator:8085")
	if _, err := PubSub("", false, false); err == nil || !strings.Contains(err.Error(), "PUBSUB_EMULATOR_HOST") {
		t.Errorf("another machine: %v", err)
	}
	if _, err := PubSub("127.0.0.1:8085", true, false); err != nil {
		t.Errorf("an address goes over the environment's: %v", err)
	}
	if _, err := PubSub("pubsub.example.com:443", false, false); err == nil {
		t.Error("a variable of the environment takes the TLS away from a configured address")
	}
	if _, err := PubSub("", false, true); err != nil {
		t.Error(err)
	}
	if err := Environment(false); err == nil {
		t.Error("the environment is taken")
	}
	t.Setenv("PUBSUB_EMULATOR_HOST", "localhost:8085")
	if _, err := PubSub("", false, false); err != nil {
		t.Error(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "http://storage:4443")
	if err := Environment(false); err == nil || !strings.Contains(err.Error(), "STORAGE_EMULATOR_HOST") {
		t.Errorf("another machine's Cloud Storage: %v", err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "https://storage:4443")
	if err := Environment(false); err != nil {
		t.Error(err)
	}
}
