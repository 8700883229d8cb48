package emulator

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"testing"
)

func TestREST_Gzip(t *testing.T) {
	e := newEnv(t, Options{})
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = w.Write([]byte(`{"tableReference":{"tableId":"t"},"schema":{"fields":[{"name":"id","type":"INTEGER"}]}}`))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var bomb bytes.Buffer
	w = gzip.NewWriter(&bomb)
	for range 33 {
		_, _ = w.Write(make([]byte, 1<<20))
	}
	_ = w.Close()
	for name, test := range map[string]struct {
		body string
		code int
	}{
		"a truncated body":     {compressed.String()[:compressed.Len()-12], http.StatusBadRequest},
		"a plain body":         {`{"tableReference":{"tableId":"t"}}`, http.StatusBadRequest},
		"nothing":              {"", http.StatusBadRequest},
		"more than the limit":  {bomb.String(), http.StatusRequestEntityTooLarge},
		"the compressed table": {compressed.String(), http.StatusOK},
	} {
		if code, answer := e.do("POST", "/bigquery/v2/projects/p/datasets/d/tables", test.body, "Content-Encoding", "gzip"); code != test.code {
			t.Errorf("%s: %d %v, want %d", name, code, answer, test.code)
		}
	}
}
