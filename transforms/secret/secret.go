// Package secret reads keys: of masks, and of dead letters. None of its errors holds
// anything of a key, but where it was looked for.
package secret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	secretmanager "cloud.google.com/go/secretmanager/apiv1"
	"cloud.google.com/go/secretmanager/apiv1/secretmanagerpb"
	"google.golang.org/api/option"

	"beamcdc/schemas/table"
)

// maxBytes is more than any key or keyset has.
const maxBytes = 64 << 10

// keys are those that this process has read, by where they are. They are read once: a
// key that changes would make other values of the same ones.
var keys = struct {
	sync.Mutex
	read map[table.SecretKey][]byte
}{read: make(map[table.SecretKey][]byte)}

// Parse reads where a key is from one text: projects/PROJECT/secrets/NAME, with
// /versions/VERSION or the latest; env:NAME of a variable; or a file's path.
func Parse(text string) (table.SecretKey, error) {
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return table.SecretKey{}, errors.New("env: names no variable of the environment")
		}
		return table.SecretKey{Environment: name}, nil
	}
	if !strings.HasPrefix(text, "projects/") {
		if text == "" {
			return table.SecretKey{}, errors.New("it names no secret, no file and no variable")
		}
		return table.SecretKey{File: text}, nil
	}
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if part == "" {
			parts = nil
		}
	}
	if len(parts) != 4 && len(parts) != 6 || parts[2] != "secrets" || len(parts) == 6 && parts[4] != "versions" {
		return table.SecretKey{}, errors.New("it is no projects/PROJECT/secrets/NAME[/versions/VERSION]")
	}
	return table.SecretKey{Secret: text}, nil
}

// Read returns a key. The error tells where it is, and nothing of it.
func Read(ctx context.Context, where table.SecretKey) ([]byte, error) {
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
			return nil, fmt.Errorf("the environment has no variable %s", where.Environment)
		}
		key = []byte(text)
	case where.File != "":
		if key, err = readFile(where.File); err != nil {
			if e, ok := errors.AsType[*fs.PathError](err); ok {
				err = e.Err
			}
			return nil, fmt.Errorf("%s: %w", where.File, err)
		}
	default:
		if key, err = readVersion(ctx, where.Secret); err != nil {
			return nil, fmt.Errorf("%s: %w", where.Secret, err)
		}
	}
	keys.read[where] = key
	return key, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	key, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(key) > maxBytes {
		err = errors.New("it is larger than any key")
	}
	return key, err
}

// options are those of Secret Manager's client. Tests set them.
var options []option.ClientOption

// readVersion reads a version of a secret, the latest where none is named.
func readVersion(ctx context.Context, name string) ([]byte, error) {
	if !strings.Contains(name, "/versions/") {
		name += "/versions/latest"
	}
	client, err := secretmanager.NewClient(ctx, options...)
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
