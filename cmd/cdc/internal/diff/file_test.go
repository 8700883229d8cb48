package diff

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Both kinds of files are the same rows, in the order of their keys whatever theirs is.
func TestFile(t *testing.T) {
	for name, text := range map[string]string{
		"rows.jsonl": `{"a":10,"b":"x","v":"1.50"}` + "\n\n" + `{"v":null,"A":9,"b":""}` + "\n" + `{"a":-1,"b":"ä","v":2e0}`,
		"rows.csv":   "\ufeffa,b,v\n10,x,1.50\n-1,ä,2\n9,\"y\",\n",
	} {
		f, err := OpenFile(write(t, name, text))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.Use(pairs(t))
		f.table.Source = "public.pairs"
		f.places["A"] = "a"
		var got []string
		err = f.Rows(context.Background(), Range{}, func(row Row) error {
			v, _ := change.Find(row.Columns, "v")
			got = append(got, fmt.Sprint(row.Key.Values[0].Int(), valueJSON(v)))
			return nil
		})
		if want := []string{"-1", "9", "10"}; err != nil || len(got) != 3 || !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestFile_bad(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"no JSON":     {"a.jsonl", `{"a":1,"b":"x"}` + "\nhello", "line 2"},
		"two objects": {"a.jsonl", `{"a":1,"b":"x"} {}`, "more than one"},
		"no key":      {"a.jsonl", `{"a":1,"b":"x"}` + "\n" + `{"b":"x"}`, "line 2"},
		"empty":       {"a.jsonl", "", "no row"},
		"fields":      {"a.csv", "a,b\n1\n", "wrong number of fields"},
		"kind":        {"a.txt", "a", ".jsonl or .csv"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := OpenFile(write(t, test.file, test.text))
			if err == nil {
				defer f.Close()
				f.Use(pairs(t))
				err = f.Rows(context.Background(), Range{}, func(Row) error { return nil })
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
		})
	}
}

// Whatever is added, and however little fits into memory, it comes in order, and so it
// does while it is read a second time.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 8, -1), 0, 200).Draw(t, "keys")
		r := newRuns(rapid.IntRange(1, 4000).Draw(t, "bound"))
		defer r.close()
		for i, text := range texts {
			if err := r.add(text, []byte(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		nested := false
		err := r.each(func(order string, _ []byte) error {
			if got = append(got, order); nested {
				return nil
			}
			nested = true
			n := 0
			err := r.each(func(string, []byte) error { n++; return nil })
			if n != len(texts) {
				t.Errorf("inside there are %d of %d", n, len(texts))
			}
			return err
		})
		if slices.Sort(texts); err != nil || !slices.Equal(got, texts) {
			t.Errorf("got %q, want %q, %v", got, texts, err)
		}
	})
}

// FuzzRow: whatever a file's line is, it is a row or an error, and a row's values are
// those of valid JSON.
func FuzzRow(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":"x","v":[1]}`, `{}`, `{"a":{"a":1e5}}`, `[`, `{"a":"\ud800"}`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		members, err := fields(nil, []byte(line))
		if err != nil {
			return
		}
		for _, m := range members {
			if !m.json.IsValid() {
				t.Errorf("%q is no JSON", m.json)
			}
			if untyped(m.json).Kind() == change.KindInvalid {
				t.Errorf("%q means nothing", m.json)
			}
		}
	})
}

// FuzzPostgresArray: whatever PostgreSQL writes, it is an array or it is not, and
// elements that are quoted come out as they went in.
func FuzzPostgresArray(f *testing.F) {
	for _, seed := range []string{`{}`, `{a,"b c",NULL}`, `{{1},{2}}`, `{"\\x00","a\"b"}`, `{"`, `{a,}`} {
		f.Add(seed)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, text string) {
		pgArray(pgType{name: "text"}, text)
		elements, ok := pgArray(pgType{name: "text"}, `{"`+quote.Replace(text)+`",NULL}`)
		if !ok || len(elements) != 2 || elements[0].Value.Text() != text || !elements[1].Value.IsNull() {
			t.Errorf("%q became %+v", text, elements)
		}
	})
}
