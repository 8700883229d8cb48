package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/rowtest"
)

// The example of "Specify changes to existing records".
func TestCDC_Example(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("employees", "ID INTEGER, Name STRING, Salary INTEGER", "ID")
	e.writer("employees", true).append(
		`{"ID":100,"Name":"Charlie","Salary":2000,"_CHANGE_TYPE":"UPSERT"}`,
		`{"ID":101,"Name":"Tal","Salary":3000,"_CHANGE_TYPE":"UPSERT"}`,
		`{"ID":102,"Name":"Lee","Salary":5000,"_CHANGE_TYPE":"UPSERT"}`,
	)
	e.writer("employees", true).append(
		`{"ID":100,"_CHANGE_TYPE":"DELETE"}`,
		`{"ID":101,"Name":"Tal","Salary":8000,"_CHANGE_TYPE":"UPSERT"}`,
		`{"ID":105,"Name":"Izumi","Salary":6000,"_CHANGE_TYPE":"UPSERT"}`,
	)
	e.want("employees",
		`{"ID":"101","Name":"Tal","Salary":"8000"}`,
		`{"ID":"102","Name":"Lee","Salary":"5000"}`,
		`{"ID":"105","Name":"Izumi","Salary":"6000"}`)
}

// The examples of "_CHANGE_SEQUENCE_NUMBER format": the winner, whichever comes first.
func TestCDC_SequenceExamples(t *testing.T) {
	e := newEnv(t, Options{})
	for i, example := range []struct{ earlier, later string }{
		{"77", "7B"},                             // Example 1: one section
		{"FFF/B", "FFF/ABC"},                     // Example 2: the first is equal, the second decides
		{"BA/FFFFFFFF", "ABC"},                   // Example 3: the first section decides, not the length
		{"ABC", "FFF/ABC"},                       // Example 4
		{"F/FFFFFF00", "10/200"},                 // numbers, not text
		{"10/9A0", "10/1A00"},                    //
		{"7FFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF"}, // unsigned
		{"0/0/0/0", "FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF"},
		{"abc", "ABD"},      // either case
		{"1/2/FF", "1/3/0"}, // each section, whatever follows it
		{"1/2/3/FF", "1/2/4/0"},
		{"1/2/3/9", "1/2/3/A"},
	} {
		for order, pair := range [][2]string{{example.earlier, example.later}, {example.later, example.earlier}} {
			// The first is pending when the second comes, or applied already.
			for _, applied := range []bool{false, true} {
				table := fmt.Sprintf("t%d_%d_%t", i, order, applied)
				e.table(table, "id INTEGER, v STRING", "id")
				w := e.writer(table, true)
				for at, sequence := range pair {
					if applied && at == 1 {
						e.merge(table)
					}
					w.append(fmt.Sprintf(`{"id":1,"v":%q,"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":%q}`, sequence, sequence))
				}
				want := fmt.Sprintf(`{"id":"1","v":%q}`, example.later)
				e.want(table, want)
				e.merge(table)
				e.want(table, want)
			}
		}
	}
}

// "If two _CHANGE_SEQUENCE_NUMBER values are identical, then the record with the
// latest BigQuery system ingestion time has precedence."
func TestCDC_TieGoesToTheLatest(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"ff/1"}`)
	w.append(`{"id":1,"v":"b","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"FF/01"}`)
	e.want("t", `{"id":"1","v":"b"}`)
	w.append(`{"id":1,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"FF/1"}`)
	e.want("t")
}

// "To apply CDC DELETE operations that arrive out of order, BigQuery maintains a
// delete retention window of two days."
func TestCDC_DeleteIsRemembered(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	e := newEnv(t, Options{Now: func() time.Time { return now }})
	e.table("t", "id INTEGER, v STRING", "id")
	w := e.writer("t", true)
	w.append(`{"id":1,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"2"}`)
	late := `{"id":1,"v":"late","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`
	w.append(late)
	e.want("t")
	now = now.Add(48*time.Hour - time.Minute)
	e.merge("t")
	w.append(late)
	e.want("t")
	e.merge("t")
	e.want("t")
	now = now.Add(2 * time.Minute)
	w.append(late)
	e.want("t", `{"id":"1","v":"late"}`)
	e.merge("t")
	e.want("t", `{"id":"1","v":"late"}`)
}

// An UPSERT replaces the whole row: what it lacks is NULL.
func TestCDC_UpsertReplacesTheRow(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, a STRING, b STRING, c STRING REPEATED", "id")
	w := e.writer("t", true)
	w.append(`{"id":1,"a":"x","b":"y","c":["z"],"_CHANGE_TYPE":"UPSERT"}`)
	w.append(`{"id":1,"b":"new","_CHANGE_TYPE":"UPSERT"}`)
	e.want("t", `{"id":"1","a":null,"b":"new","c":[]}`)
}

// "Mutating DML statements are blocked while a table is actively receiving CDC streams": by
// the connection that sent changes, until it ends; one for plain rows is none.
func TestCDC_OpenConnectionBlocksDML(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	e.writer("t", false).append(`{"id":2,"v":"b"}`)
	update := func() error {
		_, err := e.bq.Query("UPDATE d.t SET v = 'x' WHERE id = 1").Read(t.Context())
		return err
	}
	if err := update(); err != nil {
		t.Fatal(err)
	}
	w := e.writer("t", true)
	w.append(`{"id":1,"v":"a","_CHANGE_TYPE":"UPSERT"}`)
	e.merge("t")
	wantAPIError(t, update(), 400, "invalidQuery", "an upsert stream is active")
	if err := w.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.stream.Recv(); !errors.Is(err, io.EOF) {
		t.Fatalf("the end of the connection: %v", err)
	}
	if err := update(); err != nil {
		t.Error(err)
	}
	e.want("t", `{"id":"1","v":"x"}`, `{"id":"2","v":"b"}`)
}

// A key-only DELETE is enough, REQUIRED columns or not, and so is any case.
func TestCDC_SparseDelete(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER REQUIRED, name STRING REQUIRED", "ID")
	message := e.descriptor("t", false)
	message.Field = append(message.Field, rowtest.StringField("_change_type", 100))
	w := e.writerWith("t", message)
	w.append(`{"id":1,"name":"a","_change_type":"upsert"}`, `{"id":2,"name":"b","_change_type":"Upsert"}`)
	w.append(`{"id":1,"_change_type":"delete"}`)
	e.want("t", `{"id":"2","name":"b"}`)
}

// Plain rows and CDC rows of one table, each on its own connection.
func TestCDC_PlainRowsFirst(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "id INTEGER, v STRING", "id")
	e.writer("t", false).append(`{"id":1,"v":"a"}`, `{"id":2,"v":"b"}`, `{"id":2,"v":"b"}`, `{"v":"no key"}`)
	insert := e.writer("t", true)
	insert.append(`{"id":3,"v":"c","_CHANGE_TYPE":"INSERT"}`)
	e.want("t", `{"id":"1","v":"a"}`, `{"id":"2","v":"b"}`, `{"id":"2","v":"b"}`, `{"id":"3","v":"c"}`, `{"id":null,"v":"no key"}`)
	w := e.writer("t", true)
	w.append(`{"id":2,"v":"new","_CHANGE_TYPE":"UPSERT"}`, `{"id":3,"_CHANGE_TYPE":"DELETE"}`)
	want := []string{`{"id":"1","v":"a"}`, `{"id":"2","v":"new"}`, `{"id":null,"v":"no key"}`}
	e.want("t", want...)
	e.merge("t")
	e.want("t", want...)
}

// Keys of every type that a key may have, composite, compared by value.
func TestCDC_CompositeKey(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("t", "a STRING, b BIGNUMERIC, c NUMERIC, d DATE, e DATETIME, f TIMESTAMP, g BOOLEAN, v STRING", "g", "b", "a", "c", "d", "e", "f")
	message := e.descriptor("t", true)
	for _, f := range message.GetField() {
		if f.GetName() == "b" || f.GetName() == "c" || f.GetName() == "e" {
			f.Type = rowtest.StringField("", 0).Type
		}
	}
	w := e.writerWith("t", message)
	row := func(b, v string) string {
		return fmt.Sprintf(`{"a":"k","b":%q,"c":"1.50","d":1,"e":"2026-11-30 01:02:03","f":1,"g":true,"v":%q,"_CHANGE_TYPE":"UPSERT"}`, b, v)
	}
	w.append(row("10", "ten"), row("-3", "minus three"), row("9.5", "nine"), row("0", "zero"), row("10.000", "still ten"))
	var got []string
	rows, err := e.Rows(t.Context(), "d", "t")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		got = append(got, string(r[strings.Index(string(r), `"v"`):]))
	}
	if want := []string{`"v":"minus three"}`, `"v":"zero"}`, `"v":"nine"}`, `"v":"still ten"}`}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
}

// merge applies a table's pending changes now.
func (e *env) merge(name string) {
	e.t.Helper()
	t, err := e.engine.Table(engine.TableRef{Project: "p", Dataset: "d", Table: name})
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.engine.Apply(e.t.Context(), t); err != nil {
		e.t.Fatal(err)
	}
	if n := t.PendingChanges(); n != 0 {
		e.t.Fatalf("%d changes are pending after a merge", n)
	}
}

// modelChange is a change as the property test makes it.
type modelChange struct {
	key      int
	deleted  bool
	value    int
	sequence []uint64 // nil for none
}

func (c modelChange) row() string {
	kind := "UPSERT"
	if c.deleted {
		kind = "DELETE"
	}
	sequence := ""
	if c.sequence != nil {
		sections := make([]string, len(c.sequence))
		for i, n := range c.sequence {
			sections[i] = strconv.FormatUint(n, 16)
		}
		sequence = fmt.Sprintf(`,"_CHANGE_SEQUENCE_NUMBER":%q`, strings.Join(sections, "/"))
	}
	return fmt.Sprintf(`{"id":%d,"v":%d,"_CHANGE_TYPE":%q%s}`, c.key, c.value, kind, sequence)
}

// modelTable is what the documents say, written down once more: for each key, the
// change with the highest sequence, of equal ones the one that came last.
func modelTable(changes []modelChange) []string {
	latest := map[int]modelChange{}
	for _, c := range changes {
		if old, ok := latest[c.key]; !ok || slices.Compare(c.sequence, old.sequence) >= 0 {
			latest[c.key] = c
		}
	}
	var live []modelChange
	for _, c := range latest {
		if !c.deleted {
			live = append(live, c)
		}
	}
	slices.SortFunc(live, func(a, b modelChange) int { return cmp.Compare(a.key, b.key) })
	rows := make([]string, len(live))
	for i, c := range live {
		rows[i] = fmt.Sprintf(`{"id":"%d","v":"%d"}`, c.key, c.value)
	}
	return rows
}

// Any changes in any order, in any requests on any connections, with any number
// of merges between them, leave the model's table.
func TestCDC_Property(t *testing.T) {
	e := newEnv(t, Options{})
	e.table("template", "id INTEGER, v INTEGER", "id")
	message := e.descriptor("template", true)
	count := 0
	section := rapid.SampledFrom([]uint64{0, 1, 2, 10, 16, 255, 1 << 63, 1<<64 - 1})
	change := rapid.Custom(func(t *rapid.T) modelChange {
		c := modelChange{key: rapid.IntRange(1, 4).Draw(t, "key"), deleted: rapid.IntRange(0, 3).Draw(t, "type") == 0, value: rapid.IntRange(0, 1000).Draw(t, "value")}
		if rapid.IntRange(0, 9).Draw(t, "sequenced") > 0 {
			c.sequence = rapid.SliceOfN(section, 1, 4).Draw(t, "sequence")
		}
		return c
	})
	rapid.Check(t, func(rt *rapid.T) {
		count++
		table := fmt.Sprintf("t%d", count)
		e.table(table, "id INTEGER, v INTEGER", "id")
		writers := []*writer{e.writerWith(table, message), e.writerWith(table, message)}
		var sent []modelChange
		for _, batch := range rapid.SliceOfN(rapid.SliceOfN(change, 1, 6), 1, 8).Draw(rt, "requests") {
			rows := make([]string, len(batch))
			for i, c := range batch {
				rows[i] = c.row()
			}
			w := writers[rapid.IntRange(0, 1).Draw(rt, "connection")]
			w.append(rows...)
			sent = append(sent, batch...)
			if rapid.IntRange(0, 3).Draw(rt, "then") == 0 {
				e.merge(table)
			}
		}
		rows, err := e.Rows(t.Context(), "d", table)
		if err != nil {
			rt.Fatal(err)
		}
		got := make([]string, len(rows))
		for i, r := range rows {
			got[i] = string(r)
		}
		if want := modelTable(sent); !slices.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}
