package enrich

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	secretmanager "cloud.google.com/go/secretmanager/apiv1"
	"cloud.google.com/go/secretmanager/apiv1/secretmanagerpb"
	"google.golang.org/api/option"

	"beamcdc/schemas/table"
)

// maxKeyBytes is more than any key or keyset has.
const maxKeyBytes = 64 << 10

// keys are the masks' keys that this process has read, by where they are. They are
// read once: a key that changes would make other values of the same ones.
var keys = struct {
	sync.Mutex
	read map[table.SecretKey][]byte
}{read: make(map[table.SecretKey][]byte)}

// readKey returns a mask's key. The error tells where it is, and nothing of it.
func readKey(ctx context.Context, where table.SecretKey) ([]byte, error) {
	keys.Lock()
	defer keys.Unlock()
	if key, known := keys.read[where]; known {
		return key, nil
	}
	var key []byte
	var err error
	switch {
	case where.Environment != "":
		text, set := os.LookupEnv(where.Environment)
		if !set {
			return nil, fmt.Errorf("reading a mask's key: the environment has no variable %s", where.Environment)
		}
		key = []byte(text)
	case where.File != "":
		if key, err = readKeyFile(where.File); err != nil {
			return nil, fmt.Errorf("reading a mask's key from %s: %w", where.File, plainPathError(err))
		}
	default:
		if key, err = readSecret(ctx, where.Secret); err != nil {
			return nil, fmt.Errorf("reading a mask's key from %s: %w", where.Secret, err)
		}
	}
	keys.read[where] = key
	return key, nil
}

func readKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	key, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	if err == nil && len(key) > maxKeyBytes {
		err = errors.New("it is larger than any key")
	}
	return key, err
}

// secretOptions are the options of Secret Manager's client. Tests set them.
var secretOptions []option.ClientOption

// readSecret reads a version of a secret, the latest where none is named.
func readSecret(ctx context.Context, name string) ([]byte, error) {
	if !strings.Contains(name, "/versions/") {
		name += "/versions/latest"
	}
	client, err := secretmanager.NewClient(ctx, secretOptions...)
	if err != nil {
		return nil, fmt.Errorf("creating Secret Manager's client: %w", err)
	}
	defer func() { _ = client.Close() }() // nothing is under way
	version, err := client.AccessSecretVersion(ctx, &secretmanagerpb.AccessSecretVersionRequest{Name: name})
	if err != nil {
		return nil, err
	}
	return version.GetPayload().GetData(), nil
}
