package envelope

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope/internal/outcome"
)

// maxUnpacked bounds what a compressed message unpacks to. Pub/Sub takes 10 MB,
// of which gzip can make a thousand times as much.
const maxUnpacked = 64 << 20

// deflateRatio is how many bytes deflate can make of one, at most.
const deflateRatio = 1032

// maxValues bounds how many JSON values, about, a message unpacks to: each takes
// ten times its bytes where it has few. The commas between them are counted.
const maxValues = 4 << 20

// encoding returns the attribute that says how a message's data is encoded.
// Pub/Sub has none of its own: publishers name it as HTTP does.
func encoding(m *change.Message) string {
	for _, name := range [...]string{"content-encoding", "Content-Encoding", "contentEncoding", "content_encoding"} {
		if value, ok := m.Attributes[name]; ok {
			return strings.ToLower(strings.TrimSpace(value))
		}
	}
	return ""
}

// isCompressed reports whether a message must be unpacked, or can't be.
func isCompressed(m *change.Message) bool {
	switch encoding(m) {
	case "", "identity", "utf-8", "utf8":
		return false
	}
	return len(m.Data) > 0
}

// unpack returns the data that a message holds compressed. The values of its
// changes share that memory, so it is never used twice.
func (d *Decoder) unpack(m *change.Message) ([]byte, error) {
	switch encoding(m) {
	case "gzip", "x-gzip":
	default:
		return nil, outcome.Errorf(outcome.BadCompression, "unpacking its data: the content-encoding is none of gzip and identity")
	}
	var err error
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(bytes.NewReader(m.Data))
	} else {
		err = d.gzip.Reset(bytes.NewReader(m.Data))
	}
	if err != nil {
		d.gzip = nil
		return nil, outcome.Errorf(outcome.BadCompression, "unpacking its data: %w", err)
	}
	var b bytes.Buffer
	// As much as it says, and deflate can make of it at most, so that nothing is copied to grow.
	b.Grow(min(UnpackedSize(m.Data, m.Attributes), deflateRatio*len(m.Data)) + 1 + bytes.MinRead)
	switch n, err := io.Copy(&b, io.LimitReader(d.gzip, maxUnpacked+1)); {
	case err != nil:
		return nil, outcome.Errorf(outcome.BadCompression, "unpacking its data: %w", err)
	case n > maxUnpacked:
		return nil, outcome.Errorf(outcome.BadCompression, "unpacking its data: it has more than %d bytes", maxUnpacked)
	case bytes.Count(b.Bytes(), []byte{','}) > maxValues:
		return nil, outcome.Errorf(outcome.BadCompression, "unpacking its data: it has more than %d values", maxValues)
	}
	return b.Bytes(), nil
}
