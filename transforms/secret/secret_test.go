package secret

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/secretmanager/apiv1/secretmanagerpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/table"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]table.SecretKey{
		"projects/p/secrets/k":            {Secret: "projects/p/secrets/k"},
		"projects/p/secrets/k/versions/3": {Secret: "projects/p/secrets/k/versions/3"},
		"env:LETTER_KEY":                  {Environment: "LETTER_KEY"},
		"/run/secrets/key":                {File: "/run/secrets/key"},
		"":                                {},
		"env:":                            {},
		"env:A=B":                         {},
		"projects/p/secrets/":             {},
		"projects/p/topics/t":             {},
		"projects/p/secrets/k/versions":   {},
		"projects/p/secrets/k/version/3":  {},
	} {
		got, err := Parse(text)
		if got != want || (err == nil) != (want != table.SecretKey{}) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// secrets is a Secret Manager with one secret.
type secrets struct {
	secretmanagerpb.UnimplementedSecretManagerServiceServer
}

func (secrets) AccessSecretVersion(_ context.Context, r *secretmanagerpb.AccessSecretVersionRequest) (*secretmanagerpb.AccessSecretVersionResponse, error) {
	if !strings.HasPrefix(r.GetName(), "projects/p/secrets/mask/versions/") {
		return nil, status.Error(codes.NotFound, "there is none")
	}
	return &secretmanagerpb.AccessSecretVersionResponse{Payload: &secretmanagerpb.SecretPayload{Data: []byte("key of " + r.GetName()[24:])}}, nil
}

func TestRead(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	secretmanagerpb.RegisterSecretManagerServiceServer(server, secrets{})
	go func() { _ = server.Serve(listener) }() // it ends with the test
	defer server.Stop()
	options = []option.ClientOption{
		option.WithEndpoint(listener.Addr().String()), option.WithoutAuthentication(), option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}
	path := filepath.Join(t.TempDir(), "mask.key")
	if err := os.WriteFile(path, []byte("s3cret of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENRICH_TEST_KEY", "s3cret of the environment")
	for where, want := range map[table.SecretKey]string{
		{File: path}:                                    "s3cret of a file",
		{Environment: "ENRICH_TEST_KEY"}:                "s3cret of the environment",
		{Secret: "projects/p/secrets/mask"}:             "key of versions/latest",
		{Secret: "projects/p/secrets/mask/versions/3"}:  "key of versions/3",
		{Environment: "ENRICH_TEST_NONE"}:               "✗ the environment has no variable ENRICH_TEST_NONE",
		{File: path + ".none"}:                          "✗ mask.key.none: no such file",
		{Secret: "projects/p/secrets/other/versions/3"}: "✗ projects/p/secrets/other/versions/3: ",
	} {
		key, err := Read(t.Context(), where)
		if problem, fails := strings.CutPrefix(want, "✗ "); fails {
			if err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v: error %v, want %s", where, err, problem)
			}
		} else if err != nil || string(key) != want {
			t.Errorf("%v: %q, %v, want %q", where, key, err, want)
		}
	}
}
