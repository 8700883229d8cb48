package emulator

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// More tables than the committer keeps appenders for: 32.
func TestCommit_ManyTables(t *testing.T) {
	e := newEnv(t, Options{})
	const tables = 3 * 32
	e.table("t0", "id INTEGER, v INTEGER", "id")
	message := e.descriptor("t0", true)
	var writers []*writer
	for i := range tables {
		if i > 0 {
			e.table(fmt.Sprintf("t%d", i), "id INTEGER, v INTEGER", "id")
		}
		writers = append(writers, e.writerWith(fmt.Sprintf("t%d", i), message))
	}
	var wg sync.WaitGroup
	for i, w := range writers {
		wg.Go(func() {
			for n := range 3 {
				w.append(fmt.Sprintf(`{"id":%d,"v":%d,"_CHANGE_TYPE":"UPSERT"}`, n%2, i*10+n))
			}
		})
	}
	wg.Wait()
	for i := range tables {
		e.want(fmt.Sprintf("t%d", i), fmt.Sprintf(`{"id":"0","v":"%d"}`, i*10+2), fmt.Sprintf(`{"id":"1","v":"%d"}`, i*10+1))
	}
}

// One connection for many tables, as a multiplexing client has it: the stream's
// name and the schema come again with each change of table.
func TestMultiplexing(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("a", "id INTEGER, v STRING", "id")
	e.table("b", "k STRING, n INTEGER", "k")
	w := e.writer("a", true)
	w.append(`{"id":1,"v":"x","_CHANGE_TYPE":"UPSERT"}`)
	w.table, w.message, w.first = "b", e.descriptor("b", true), true
	w.append(`{"k":"one","n":1,"_CHANGE_TYPE":"UPSERT"}`)
	w.append(`{"k":"two","n":2,"_CHANGE_TYPE":"UPSERT"}`)
	w.table, w.message, w.first = "a", e.descriptor("a", true), true
	w.append(`{"id":2,"v":"y","_CHANGE_TYPE":"UPSERT"}`)
	e.want("a", `{"id":"1","v":"x"}`, `{"id":"2","v":"y"}`)
	e.want("b", `{"k":"one","n":"1"}`, `{"k":"two","n":"2"}`)
	// A table's name without its schema: the other table's would be a guess.
	r := w.request()
	r.WriteStream = streamOf("b")
	if answer := w.send(r); !strings.HasPrefix(answer.GetError().GetMessage(), "Invalid proto schema") {
		t.Errorf("a stream without a schema: %v", answer)
	}
}

// newLogged is newEnv, and what the server logs.
func newLogged(t *testing.T) (*env, *syncBuffer) {
	t.Helper()
	log := &syncBuffer{}
	s, err := New(Options{Project: "p", Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return attach(t, s), log
}

// Two changes of a row in one request, of which BigQuery picks one at random: said once
// for a table, and not of the same change twice, nor of what a sequence or another
// request orders.
func TestTiesAreLogged(t *testing.T) {
	for name, test := range map[string]struct {
		rows   []string
		logged bool
	}{
		"no sequence":       {[]string{`{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"UPSERT"}`, `{"a":1,"b":"x","v":"2","_CHANGE_TYPE":"UPSERT"}`}, true},
		"equal sequences":   {[]string{`{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"A/1"}`, `{"a":1,"b":"x","_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"a/01"}`}, true},
		"the same twice":    {[]string{`{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"UPSERT"}`, `{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"UPSERT"}`}, false},
		"other sequences":   {[]string{`{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"A/1"}`, `{"a":1,"b":"x","v":"2","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"A/2"}`}, false},
		"other rows":        {[]string{`{"a":1,"b":"1:x","v":"1","_CHANGE_TYPE":"UPSERT"}`, `{"a":11,"b":":x","v":"2","_CHANGE_TYPE":"UPSERT"}`}, false},
		"one row a request": {[]string{`{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"UPSERT"}`}, false},
		"plain rows":        {[]string{`{"a":1,"b":"x","v":"1","_CHANGE_TYPE":"INSERT"}`, `{"a":1,"b":"x","v":"2","_CHANGE_TYPE":"INSERT"}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, log := newLogged(t)
			e.table("two", "a INTEGER, b STRING, v STRING", "a", "b")
			e.table("one", "a INTEGER, b STRING, v STRING", "b")
			two, one := e.writer("two", true), e.writer("one", true)
			for range 2 {
				two.append(test.rows...)
			}
			want := 0
			if test.logged {
				want = 1
			}
			if text := log.String(); strings.Count(text, "at random") != want {
				t.Errorf("log %q", text)
			}
			if one.append(test.rows...); test.logged {
				want = 2
			}
			if text := log.String(); strings.Count(text, "at random") != want {
				t.Errorf("log of a key of one column %q", text)
			}
		})
	}
}

// Changes with and without a sequence: said once.
func TestMixedSequencesAreLogged(t *testing.T) {
	e, log := newLogged(t)
	e.table("t", "id INTEGER", "id")
	w := e.writer("t", true)
	for range 2 {
		w.append(`{"id":1,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`)
	}
	if log.String() != "" {
		t.Errorf("logged too early: %s", log.String())
	}
	w.append(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	w.append(`{"id":1,"_CHANGE_TYPE":"UPSERT"}`)
	if text := log.String(); strings.Count(text, "unpredictable") != 1 {
		t.Errorf("log %q", text)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
