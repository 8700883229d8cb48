package enrich

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/change"
	"beamcdc/schemas/enrichment"
	"beamcdc/schemas/table"
)

// join is a lookup of names by an INT64.
func join(l table.Lookup) enrichment.Join {
	return enrichment.Join{Lookup: &l, Reference: &enrichment.Reference{
		Key: []table.Column{{Name: "id", Type: table.Int64}}, Texts: []bool{false}, Columns: []string{"name"},
	}}
}

// name returns the name of the row with key 7, by its canonical bytes.
func name(t *testing.T, r *joined) string {
	t.Helper()
	key, err := change.AppendKeyValue(nil, change.Int64(7))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]change.Value, 1)
	if !r.index.Load().Find(key, values) {
		return ""
	}
	return values[0].Text()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// TestReference_refresh: a file that changes is read again, one that can't be read is
// counted and what was there goes on serving, and all who ask share one table.
func TestReference_refresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "customers.csv")
	write(t, path, "id,name\n7,Ann\n")
	of := join(table.Lookup{CSV: path, Refresh: 10 * time.Millisecond})
	r, err := openReference(t.Context(), Config{}, of)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := openReference(t.Context(), Config{}, of); err != nil || again != r {
		t.Errorf("a second one has a table of its own, %v", err)
	}
	if got := name(t, r); got != "Ann" {
		t.Errorf("7 is %q", got)
	}
	first := r.index.Load()
	eventually(t, "refreshes", func() bool { return r.refreshes.Load() > 2 })
	if r.index.Load() != first {
		t.Error("a file that did not change was read again")
	}
	write(t, path, "id,name\n7,Bob\n7,Cy\n") // a key that is there twice
	eventually(t, "a failure", func() bool { return r.failures.Load() > 0 })
	if got := name(t, r); got != "Ann" || r.age() > time.Minute {
		t.Errorf("after a failed refresh 7 is %q, %v old", got, r.age())
	}
	write(t, path, "id,name\n7,Bob Smith\n8,Cy\n")
	eventually(t, "the new one", func() bool { return name(t, r) == "Bob Smith" })
}

func TestOpenReference_errors(t *testing.T) {
	directory := t.TempDir()
	bad := filepath.Join(directory, "bad.csv")
	write(t, bad, "id,name\n7,a\n007,b\n")
	for path, want := range map[string]string{
		filepath.Join(directory, "nothing.csv"): "nothing.csv: no such file",
		directory:                               "it is a directory",
		bad:                                     "bad.csv: row 2: there is another row with the same key (id)",
		"gs://bucket":                           "it is no gs://BUCKET/OBJECT",
	} {
		_, err := openReference(t.Context(), Config{}, join(table.Lookup{CSV: path}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", path, err, want)
		}
	}
}

// TestReference_first: the first read is tried again while the world may only be slow,
// and no longer than it may take.
func TestReference_first(t *testing.T) {
	tries := 0
	r := &joined{name: "x", read: func(context.Context, string) (*enrichment.Index, string, error) {
		if tries++; tries < 3 {
			return nil, "", status.Error(codes.Unavailable, "not yet")
		}
		return new(enrichment.Index), "1", nil
	}}
	if err := r.first(t.Context()); err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	tries = -1000
	if err := r.first(ctx); status.Code(errors.Unwrap(err)) != codes.Unavailable {
		t.Errorf("error %v", err)
	}
}

// TestReadObject: a reference in Cloud Storage, read again when it has another generation.
func TestReadObject(t *testing.T) {
	generation, content := "1", `{"id": 7, "name": "Ann"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/b/bucket/o/") && r.URL.Query().Get("alt") != "media" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"bucket":"bucket","name":"dir/customers.jsonl","generation":"` + generation + `","size":"1"}`))
			return
		}
		_, _ = w.Write([]byte(content))
	}))
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	read := readerOf(Config{}, join(table.Lookup{JSONLines: "gs://bucket/dir/customers.jsonl"}))
	index, version, err := read(t.Context(), "")
	if err != nil || version != "1" || index.Rows() != 1 {
		t.Fatalf("version %q, %v", version, err)
	}
	if _, _, err := read(t.Context(), version); !errors.Is(err, errUnchanged) {
		t.Errorf("an object of the same generation is read again: %v", err)
	}
	generation, content = "2", content+"\n"+`{"id": 8, "name": "Bo"}`
	if index, version, err = read(t.Context(), version); err != nil || version != "2" || index.Rows() != 2 {
		t.Errorf("version %q, %v", version, err)
	}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		lookup table.Lookup
		want   string
	}{
		{table.Lookup{Table: "shop.customers"}, "SELECT `id` AS c0, `name` AS c1 FROM `demo.shop.customers`"},
		{table.Lookup{Query: "SELECT 1 AS id; \n"}, "SELECT `id` AS c0, `name` AS c1 FROM (\nSELECT 1 AS id\n)"},
	} {
		got, err := newSelection("demo", &c.lookup, []string{"id", "name"})
		if err != nil || got.String() != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
	if _, err := newSelection("demo", &table.Lookup{Table: "a.b"}, []string{"a`b"}); err == nil {
		t.Error("a name that can't be quoted is")
	}
}
