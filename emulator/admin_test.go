package emulator

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// What is wrong with a request is told: a misspelled key would else do nothing.
func TestAdmin_refuses(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("plain", "id INTEGER")
	for _, test := range []struct{ method, path, body, want string }{
		{"PUT", "faults", "[{code: NOPE}]", "is no gRPC code"},
		{"PUT", "faults", "{", "reading the faults"},
		{"PUT", "faults", `[{"code": "ABORTED", "methods": "tables.get"}]`, "methods"},
		{"PUT", "faults", `[{"code": "ABORTED", "method": "tables.gets"}]`, `"tables.gets" is none of AppendRows`},
		{"POST", "clock", "x", "reading the request"},
		{"POST", "clock", "", "reading the request"},
		{"POST", "clock", `{"advance":"soon"}`, `"soon" is no duration`},
		{"POST", "clock", `{"freeze":"today"}`, "reading the request"},
		{"POST", "clock", `{"advanced":"36h"}`, `unknown field "advanced"; write {"advance": "36h"}`},
		{"POST", "clock", `{"advance":"36h"} {"run":true}`, "something follows"},
		{"POST", "apply", "x", "reading the request"},
		{"POST", "apply", `{"tables":"d.t"}`, `unknown field "tables"; write {"table": "dataset.table"}`},
		{"POST", "apply", `{"hold":"yes"}`, "reading the request"},
		{"POST", "apply", `{"table":"t"}`, `"t" is neither dataset.table nor project.dataset.table`},
		{"POST", "apply", `{"table":"d."}`, "is neither dataset.table"},
		{"POST", "apply", `{"table":"d.absent"}`, "Not found: Table p:d.absent"},
		{"POST", "apply", `{"table":"q.d.plain"}`, "q:d"},
		{"POST", "apply", `{"table":"d.plain"}`, "p:d.plain has no primary key"},
	} {
		before := e.options.Now()
		if said := e.tell(test.method, test.path, test.body, http.StatusBadRequest); !strings.Contains(said, test.want) {
			t.Errorf("%s %s %s says %q, want %q in it", test.method, test.path, test.body, said, test.want)
		}
		if moved := e.options.Now().Sub(before); moved > time.Hour {
			t.Errorf("%s %s %s moved the clock by %v", test.method, test.path, test.body, moved)
		}
	}
	given := newEnv(t, Options{Now: time.Now})
	given.tell("POST", "clock", `{"advance":"1h"}`, http.StatusBadRequest)
	given.tell("GET", "clock", "", http.StatusOK)
}

// When the clock's new time is told, what is due by it is applied, unless that is held.
func TestAdmin_clockApplies(t *testing.T) {
	e := newEnv(t, Options{})
	e.tell("POST", "clock", `{"freeze":"2026-01-02T03:04:05Z"}`, http.StatusOK)
	e.table("t", "id INTEGER", "id")
	w := e.writer("t", true)
	for _, test := range []struct {
		hold, advance string
		pending       int64
	}{
		{"false", "9m59s", 1},
		{"false", "1s", 0},
		{"true", "36h", 1},
	} {
		e.tell("POST", "apply", `{"hold":`+test.hold+`}`, http.StatusOK)
		if e.Stats().Pending == 0 {
			w.append(row1("1"))
		}
		e.tell("POST", "clock", `{"advance":"`+test.advance+`"}`, http.StatusOK)
		if got := e.Stats().Pending; got != test.pending {
			t.Errorf("%d changes are pending after %s with hold %s, want %d", got, test.advance, test.hold, test.pending)
		}
	}
	e.tell("POST", "apply", `{"hold":false}`, http.StatusOK)
	if got := e.Stats().Pending; got != 0 {
		t.Errorf("%d changes are pending after they were let go on", got)
	}
}

// One table is applied on request, due or not and held or not; others aren't.
func TestAdmin_applyTable(t *testing.T) {
	e := newEnv(t, Options{})
	e.tell("POST", "clock", `{"freeze":"2026-01-02T03:04:05Z"}`, http.StatusOK)
	for _, name := range []string{"t", "other"} {
		e.table(name, "id INTEGER", "id")
		e.writer(name, true).append(row1("1"))
	}
	e.tell("POST", "apply", "", http.StatusOK)
	if got := e.Stats().Pending; got != 2 {
		t.Fatalf("%d changes are pending before anything is due", got)
	}
	if said := e.tell("POST", "apply", `{"table":"d.t","hold":true}`, http.StatusOK); !strings.Contains(said, `"merges":1,"pending":1,`) {
		t.Errorf("after one table's apply: %s", said)
	}
	e.tell("POST", "apply", `{"table":"p.d.other"}`, http.StatusOK)
	if got := e.Stats(); got.Pending != 0 || got.Merges != 2 {
		t.Errorf("stats %+v", got)
	}
	e.want("t", ids(1)...)
	if err := e.Apply(t.Context(), "d", "absent"); err == nil {
		t.Error("an absent table is applied")
	}
}
