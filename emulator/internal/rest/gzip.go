package rest

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"

	"beamcdc/emulator/internal/engine"
)

// unzip makes a compressed body plain: Google's Java clients compress each one.
// Both sizes are bounded by limit, in bytes.
func unzip(r *http.Request, limit int64) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return
	}
	r.Body = http.MaxBytesReader(nil, &gzipBody{compressed: r.Body}, limit)
}

// gzipBody opens the compressed body when it is first read, so that a body that
// isn't compressed after all is the reader's error.
type gzipBody struct {
	compressed io.ReadCloser
	plain      *gzip.Reader
}

func (b *gzipBody) Read(p []byte) (n int, err error) {
	if b.plain == nil {
		b.plain, err = gzip.NewReader(b.compressed)
	}
	if err == nil {
		n, err = b.plain.Read(p)
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); err == nil || errors.Is(err, io.EOF) || tooLarge {
		return n, err
	}
	return n, engine.Invalid("Invalid gzip payload received: %v", err)
}

func (b *gzipBody) Close() error { return b.compressed.Close() }
