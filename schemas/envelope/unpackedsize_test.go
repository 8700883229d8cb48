package envelope_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"beamcdc/schemas/envelope"
)

func TestUnpackedSize(t *testing.T) {
	packed := func(n int) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain := strings.Repeat("x", 100)
	for name, test := range map[string]struct {
		data, encoding string
		want           int
	}{
		"plain":                       {plain, "", 100},
		"said to be plain":            {plain, "identity", 100},
		"compressed":                  {packed(5_000_000), "gzip", 5_000_000},
		"as HTTP writes it":           {packed(5_000), " GZIP", 5_000},
		"compressed, and not said":    {packed(5_000_000), "", len(packed(5_000_000))},
		"more than is ever unpacked":  {packed(100 << 20), "gzip", 64 << 20},
		"larger than what it unpacks": {packed(0), "gzip", len(packed(0))},
		"of an unknown kind":          {plain, "br", 100},
		"cut":                         {"\x1f\x8b", "gzip", 2},
		"nothing":                     {"", "gzip", 0},
	} {
		attributes := map[string]string{"content-encoding": test.encoding}
		if got := envelope.UnpackedSize([]byte(test.data), attributes); got != max(test.want, len(test.data)) {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
