package letters

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"beamcdc/transforms/deadletter"
)

// replayedFolder is the folder of the directory that replayed letters are moved to.
const replayedFolder = "replayed"

// directory is a sink of files.
type directory struct {
	path    string
	missing bool // it was not there when it was opened
}

func openDirectory(path string) (sink, error) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) { // the first dead letter makes it
		return &directory{path, true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the dead letters: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("opening the dead letters: %s is no directory", path)
	}
	return &directory{path, false}, nil
}

func (d *directory) String() string {
	if d.missing {
		return "directory " + d.path + ", which does not exist"
	}
	return "directory " + d.path
}

func (d *directory) close() error { return nil }

// heads reads each file. One that can't be read is a broken letter: it is the
// operator's to look at, and keeps nobody from the others.
func (d *directory) heads(ctx context.Context) ([]Head, error) {
	names, err := deadletter.LetterFiles(d.path)
	if err != nil {
		return nil, err
	}
	heads := make([]Head, 0, len(names))
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		h := Head{key: name}
		s, err := deadletter.ReadFile(d.path, name)
		if os.IsNotExist(err) {
			continue // it was replayed meanwhile
		}
		if err != nil {
			h.Broken = err.Error()
		} else {
			h.Size = int64(len(s.DataBase64))
			h.Stored = headOf(s)
		}
		heads = append(heads, h)
	}
	return heads, nil
}

// headOf returns the letter without its message.
func headOf(s deadletter.Stored) deadletter.Stored {
	s.Attributes, s.DataBase64, s.Data = nil, nil, nil
	return s
}

func (d *directory) load(_ context.Context, h *Head) (deadletter.Stored, error) {
	s, err := deadletter.ReadFile(d.path, h.key)
	if err == nil && s.ID != h.ID {
		err = errBroken
	}
	return s, err
}

// done moves the letters' files: each is in one of the two folders at any time.
func (d *directory) done(_ context.Context, heads []*Head) error {
	to := filepath.Join(d.path, replayedFolder)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, h := range heads {
		err := os.Rename(filepath.Join(d.path, h.key), filepath.Join(to, h.key))
		if err != nil && !os.IsNotExist(err) { // somebody else has moved it
			return err
		}
	}
	for _, folder := range []string{to, d.path} { // a move that is only in memory would be forgotten
		f, err := os.Open(folder)
		if err != nil {
			return err
		}
		err = f.Sync()
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
