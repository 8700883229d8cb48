package enrich

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"cloud.google.com/go/storage"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/enrichment/reference"
)

// readerOf returns how a lookup's reference is read.
func readerOf(c Config, join enrichment.Join) reader {
	l := join.Lookup
	switch {
	case l.CSV != "":
		return fileReader(l.CSV, join, func(f *file, each func([]change.Value) error) error {
			return reference.CSV(f, join.Reference.Names(), l.Nulls, each)
		})
	case l.JSONLines != "":
		return fileReader(l.JSONLines, join, func(f *file, each func([]change.Value) error) error {
			return reference.JSONLines(f, join.Reference.Names(), each)
		})
	case l.Parquet != "":
		return fileReader(l.Parquet, join, func(f *file, each func([]change.Value) error) error {
			if err := f.local(); err != nil {
				return err
			}
			return reference.Parquet(f.disk, f.size, join.Reference.Names(), each)
		})
	}
	return func(ctx context.Context, _ string) (*enrichment.Index, string, error) {
		b, err := enrichment.NewBuilder(join.Reference)
		if err == nil {
			err = readBigQuery(ctx, c, l, join.Reference.Names(), b.Add)
		}
		if err != nil {
			return nil, "", err
		}
		return b.Index(), "", nil
	}
}

// fileReader reads a file, unless it is what it was.
func fileReader(path string, join enrichment.Join, read func(*file, func([]change.Value) error) error) reader {
	return func(ctx context.Context, version string) (*enrichment.Index, string, error) {
		f, err := open(ctx, path, version)
		if err != nil {
			return nil, version, err
		}
		defer f.close()
		b, err := enrichment.NewBuilder(join.Reference)
		if err == nil {
			err = read(f, b.Add)
		}
		if err != nil {
			return nil, version, err
		}
		return b.Index(), f.version, nil
	}
}

// file is an open file, on this machine or in Cloud Storage.
type file struct {
	io.Reader
	version string // differs when the content does
	size    int64
	disk    *os.File // where it is on this machine
	opened  []io.Closer
	remove  string // the copy to be removed; "" for none
}

// open opens a file that has another version, else the error is errUnchanged.
func open(ctx context.Context, path, version string) (*file, error) {
	if object, ok := strings.CutPrefix(path, "gs://"); ok {
		return openObject(ctx, object, version)
	}
	disk, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	info, err := disk.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory")
	}
	if err != nil {
		_ = disk.Close() // nothing was read
		return nil, plainPathError(err)
	}
	f := &file{
		Reader: disk, disk: disk, size: info.Size(), opened: []io.Closer{disk},
		version: fmt.Sprintf("%d/%d", info.ModTime().UnixNano(), info.Size()),
	}
	if f.version == version {
		f.close()
		return nil, errUnchanged
	}
	return f, nil
}

// plainPathError returns the error without the path, which is told already.
func plainPathError(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}

// storageClient is this process's client of Cloud Storage, made when a file is there.
var storageClient = sync.OnceValues(func() (*storage.Client, error) { return storage.NewClient(context.Background()) })

func openObject(ctx context.Context, path, version string) (*file, error) {
	bucket, name, ok := strings.Cut(path, "/")
	if !ok || bucket == "" || name == "" {
		return nil, errors.New("it is no gs://BUCKET/OBJECT")
	}
	client, err := storageClient()
	if err != nil {
		return nil, fmt.Errorf("creating Cloud Storage's client: %w", err)
	}
	object := client.Bucket(bucket).Object(name)
	attributes, err := object.Attrs(ctx)
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(attributes.Generation) == version {
		return nil, errUnchanged
	}
	r, err := object.Generation(attributes.Generation).NewReader(ctx)
	if err != nil {
		return nil, err
	}
	return &file{Reader: r, size: attributes.Size, version: fmt.Sprint(attributes.Generation), opened: []io.Closer{r}}, nil
}

// local copies a file to this machine where it isn't there: Parquet is read from its end.
func (f *file) local() error {
	if f.disk != nil {
		return nil
	}
	disk, err := os.CreateTemp("", "reference-*.parquet")
	if err != nil {
		return fmt.Errorf("copying it: %w", err)
	}
	f.disk, f.remove, f.opened = disk, disk.Name(), append(f.opened, disk)
	if f.size, err = io.Copy(disk, f.Reader); err != nil {
		return fmt.Errorf("copying it: %w", err)
	}
	return nil
}

func (f *file) close() {
	for _, c := range f.opened {
		_ = c.Close() // it was read
	}
	if f.remove != "" {
		_ = os.Remove(f.remove) // what can't be removed is the system's to clean up
	}
}
