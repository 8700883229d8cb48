package rest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"beamcdc/emulator/internal/engine"
)

// Options.Buckets stands for Cloud Storage: gs://bucket/path is the file bucket/path
// in it. What leads out of it, by .. or a link, isn't there.

// checkURI refuses an address that can't be had.
func (s *Service) checkURI(uri string) error {
	name, ok := strings.CutPrefix(uri, "gs://")
	bucket, object, _ := strings.Cut(name, "/")
	switch {
	case !ok:
		return engine.Unimplemented("only gs:// addresses are implemented by this emulator, not %s", engine.Clip(uri))
	case s.options.Buckets == "":
		return engine.Unimplemented("Cloud Storage is not implemented by this emulator: it was given no folder for %s", engine.Clip(uri))
	case bucket == "" || object == "" || !fs.ValidPath(name):
		return engine.Invalid("Invalid Cloud Storage address: %s", engine.Clip(uri))
	}
	return nil
}

// readURIs reads the files of addresses, in which * stands for anything in a name.
func (s *Service) readURIs(uris []string) ([][]byte, error) {
	root, err := os.OpenRoot(s.options.Buckets)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of buckets: %w", err)
	}
	defer func() { _ = root.Close() }() // it was read alone
	var contents [][]byte
	total := 0
	for _, uri := range uris {
		pattern := strings.TrimPrefix(uri, "gs://")
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return nil, engine.Invalid("Invalid Cloud Storage address: %s", engine.Clip(uri))
		}
		if len(names) == 0 {
			return nil, engine.NotFound("Not found: URI %s", engine.Clip(uri))
		}
		slices.Sort(names)
		for _, name := range names {
			content, err := readFile(root, name)
			if err != nil {
				return nil, err
			}
			if total += len(content); total > maxUpload {
				return nil, errUploadSize
			}
			contents = append(contents, content)
		}
	}
	return contents, nil
}

// readFile reads a file, unzipped if it is compressed.
func readFile(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, engine.NotFound("Not found: URI gs://%s", name)
	}
	defer func() { _ = f.Close() }() // it was read alone
	content, err := io.ReadAll(io.LimitReader(f, maxUpload+1))
	if err != nil {
		return nil, fmt.Errorf("reading gs://%s: %w", name, err)
	}
	if !bytes.HasPrefix(content, []byte{0x1F, 0x8B}) {
		return content, nil
	}
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(zipped, maxUpload+1))
	}
	if err != nil {
		return nil, engine.Invalid("Error while reading gs://%s: it is no gzip file", name)
	}
	return content, nil
}

// writeURI writes a file. Unless overwrite it mustn't be there.
func (s *Service) writeURI(uri string, content []byte, overwrite bool) error {
	name := strings.TrimPrefix(uri, "gs://")
	root, err := os.OpenRoot(s.options.Buckets)
	if err != nil {
		return fmt.Errorf("opening the folder of buckets: %w", err)
	}
	defer func() { _ = root.Close() }() // the file's own errors tell
	bucket, _, _ := strings.Cut(name, "/")
	if _, err := root.Stat(bucket); errors.Is(err, fs.ErrNotExist) {
		return engine.NotFound("Not found: Bucket %s", engine.Clip(bucket))
	}
	if _, err := root.Stat(name); err == nil && !overwrite {
		return engine.Invalid("Invalid value: %s is there already, and overwrite is not set", engine.Clip(uri))
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", uri, err)
	}
	if err := root.WriteFile(name, content, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", uri, err)
	}
	return nil
}
