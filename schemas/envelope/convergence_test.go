package envelope_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// dml is one row's change, as a source makes it.
type dml struct {
	op          string // "insert", "update", "delete"
	old, id, v  int    // old is the key before an update
	transaction int
	index       int // in the transaction
	last        bool
}

// publisher writes a transaction's changes as the messages of a format.
type publisher func(changes []dml) []string

// publishers are those of the formats that have positions. Their positions are at
// the places where text and number would order them differently.
var publishers = map[string]publisher{
	"maxwell": perChange(func(c dml) string {
		xoffset, old := fmt.Sprintf(`,"xoffset":%d`, c.index), ""
		if c.last {
			xoffset = `,"commit":true`
		}
		if c.op == "update" {
			old = fmt.Sprintf(`,"old":{"id":%d,"v":0}`, c.old)
		}
		return fmt.Sprintf(`{"database":"d","table":"t","type":%q,"ts":%d%s,"position":"mysql-bin.%06d:4","data":{"id":%d,"v":%d}%s}`,
			c.op, 1000-c.transaction, xoffset, 999990+c.transaction, c.id, c.v, old)
	}),
	"wal2json": func(changes []dml) []string {
		var parts []string
		for _, c := range changes {
			columns, keys := fmt.Sprintf(`,"columnnames":["id","v"],"columntypes":["integer","integer"],"columnvalues":[%d,%d]`, c.id, c.v), ""
			if c.op == "delete" {
				columns = ""
			}
			if c.op != "insert" {
				keys = fmt.Sprintf(`,"oldkeys":{"keynames":["id"],"keytypes":["integer"],"keyvalues":[%d]}`, c.old)
			}
			parts = append(parts, fmt.Sprintf(`{"kind":%q,"schema":"s","table":"t"%s%s}`, c.op, columns, keys))
		}
		return []string{fmt.Sprintf(`{"nextlsn":"%X/0","change":[%s]}`, 10+changes[0].transaction, strings.Join(parts, ","))}
	},
	"wal2json/2": perChange(func(c dml) string {
		columns, identity := fmt.Sprintf(`,"columns":[{"name":"id","type":"integer","value":%d},{"name":"v","type":"integer","value":%d}]`, c.id, c.v), ""
		if c.op == "delete" {
			columns = ""
		}
		if c.op != "insert" {
			identity = fmt.Sprintf(`,"identity":[{"name":"id","type":"integer","value":%d}]`, c.old)
		}
		return fmt.Sprintf(`{"action":%q,"lsn":"%X/%X","schema":"s","table":"t"%s%s}`, strings.ToUpper(c.op[:1]), 10+c.transaction, c.index, columns, identity)
	}),
	"dms": perChange(func(c dml) string {
		before := ""
		if c.op == "update" {
			before = fmt.Sprintf(`,"before-image":{"id":%d}`, c.old)
		}
		return fmt.Sprintf(`{"data":{"id":%d,"v":%d}%s,"metadata":{"record-type":"data","operation":%q,"table-name":"t","transaction-record-id":%d,"commit-timestamp":"2025-03-09T08:07:06Z","stream-position":"mysql-bin.%06d:4:-1"}}`,
			c.id, c.v, before, c.op, c.index, 999990+c.transaction)
	}),
	"dms/postgresql": perChange(func(c dml) string {
		before := ""
		if c.op == "update" {
			before = fmt.Sprintf(`,"before-image":{"id":%d}`, c.old)
		}
		return fmt.Sprintf(`{"data":{"id":%d,"v":%d}%s,"metadata":{"record-type":"data","operation":%q,"table-name":"t","transaction-record-id":%d,"stream-position":"%08X/%08X.4.00000001/00000000"}}`,
			c.id, c.v, before, c.op, c.index, 10+c.transaction, c.index)
	}),
	"sequin": perChange(func(c dml) string {
		changes := "null"
		if c.op == "update" {
			changes = fmt.Sprintf(`{"id":%d}`, c.old)
		}
		return fmt.Sprintf(`{"record":{"id":%d,"v":%d},"changes":%s,"action":%q,"metadata":{"table_name":"t","commit_lsn":%d,"commit_idx":%d}}`,
			c.id, c.v, changes, c.op, 90+c.transaction, c.index)
	}),
	// A key of Spanner's does not change: an update of one is a delete and an insert.
	"spanner": func(changes []dml) []string {
		var messages []string
		record := func(modType, mods string) {
			messages = append(messages, fmt.Sprintf(`{"commitTimestamp":{"seconds":1741507626,"nanos":%d},"recordSequence":"%08d","tableName":"t","mods":[%s],"modType":%q,"valueCaptureType":"NEW_ROW"}`,
				90+changes[0].transaction, len(messages), mods, modType))
		}
		mod := func(id int, news string) string {
			return fmt.Sprintf(`{"keysJson":"{\"id\":\"%d\"}","newValuesJson":"{%s}","oldValuesJson":"{}"}`, id, news)
		}
		for _, c := range changes {
			row := mod(c.id, fmt.Sprintf(`\"v\":\"%d\"`, c.v))
			switch {
			case c.op == "delete":
				record("DELETE", mod(c.id, ""))
			case c.op == "update" && c.old != c.id:
				record("DELETE", mod(c.old, ""))
				record("INSERT", row)
			default:
				record(strings.ToUpper(c.op), mod(999, "")+","+row) // beside another row
			}
		}
		return messages
	},
	"columns": perChange(func(c dml) string {
		kind := "UPSERT"
		if c.op == "delete" {
			kind = "DELETE"
		}
		return fmt.Sprintf(`{"id":%d,"v":%d,"_CHANGE_TYPE":%q,"_CHANGE_SEQUENCE_NUMBER":"%x/%x"}`, c.id, c.v, kind, 10+c.transaction, c.index)
	}),
}

// perChange writes a message for each change.
func perChange(write func(dml) string) publisher {
	return func(changes []dml) []string {
		var messages []string
		for _, c := range changes {
			messages = append(messages, write(c))
		}
		return messages
	}
}

// TestDecode_converges: of each format with positions, the changes of any history
// leave the source's table, in any order of the messages and with any of them
// repeated (invariant 2).
func TestDecode_converges(t *testing.T) {
	for name, publish := range publishers {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				format, _, _ := strings.Cut(name, "/")
				d, err := envelope.New(envelope.Options{Format: format, Epoch: 7})
				if err != nil {
					t.Fatal(err)
				}
				want := make(map[int]int)
				var messages []string
				for i := range rapid.IntRange(1, 20).Draw(t, "transactions") {
					messages = append(messages, publish(transaction(t, i, want, name != "columns"))...)
				}
				order := rapid.Permutation(messages).Draw(t, "order")
				again := rapid.SliceOfN(rapid.SampledFrom(messages), 0, 5).Draw(t, "delivered again")
				got := make(map[int]int)
				last := make(map[int]change.Sequence)
				for _, data := range append(order, again...) {
					events, control, err := d.Decode(change.Message{Data: []byte(data)}, nil)
					if err != nil || control != "" {
						t.Fatalf("%s: control %q, error %v", data, control, err)
					}
					for i := range events {
						apply(t, &events[i], got, last)
					}
				}
				delete(got, 999)
				if !maps.Equal(got, want) {
					t.Fatalf("the table is %v, want %v, of\n%s", got, want, strings.Join(messages, "\n"))
				}
			})
		})
	}
}

// transaction draws a transaction's changes and makes them in the source's table.
func transaction(t *rapid.T, number int, table map[int]int, changesKeys bool) []dml {
	n := rapid.IntRange(1, 4).Draw(t, "changes")
	var changes []dml
	for i := range n {
		id := rapid.IntRange(1, 4).Draw(t, "id")
		c := dml{op: "insert", old: id, id: id, v: number*10 + i, transaction: number, index: i, last: i == n-1}
		if _, exists := table[id]; exists {
			c.op = rapid.SampledFrom([]string{"update", "update", "delete"}).Draw(t, "op")
		}
		if to := rapid.IntRange(1, 4).Draw(t, "to"); changesKeys && c.op == "update" {
			if _, taken := table[to]; !taken {
				c.id = to
			}
		}
		delete(table, c.old)
		if c.op != "delete" {
			table[c.id] = c.v
		}
		changes = append(changes, c)
	}
	return changes
}

// apply makes a change as the pipeline does: of each key the change with the
// highest sequence wins, the later to come where two are equal. A changed key is a
// DELETE and an UPSERT.
func apply(t *rapid.T, e *change.Event, table map[int]int, last map[int]change.Sequence) {
	if e.Sequence.IsZero() {
		t.Fatalf("no sequence: %s", e.Position)
	}
	put := func(id int, s change.Sequence, row []change.Column) {
		if s.Compare(last[id]) < 0 {
			return
		}
		last[id] = s
		delete(table, id)
		if v, ok := change.Find(row, "v"); ok {
			table[id] = number(t, v)
		} else if row != nil && id != 999 {
			t.Fatalf("a row without v: %v", row)
		}
	}
	if e.Op == change.OpDelete {
		id, _ := change.Find(e.Before, "id")
		put(number(t, id), e.Sequence, nil)
		return
	}
	v, _ := change.Find(e.After, "id")
	id := number(t, v)
	if before, ok := change.Find(e.Before, "id"); ok && number(t, before) != id {
		put(number(t, before), e.Sequence.WithLast(e.Sequence.Last()&^1), nil)
	}
	put(id, e.Sequence, e.After)
}

func number(t *rapid.T, v change.Value) int {
	if v.Kind() == change.KindInt64 {
		return int(v.Int())
	}
	n, err := strconv.Atoi(v.Text())
	if err != nil {
		t.Fatalf("%s %q is no number", v.Kind(), v.Text())
	}
	return n
}

// TestDecode_canalParts: the rows of one of Canal's messages are in order by their
// place in it, which is all that the order of arrival has to go by.
func TestDecode_canalParts(t *testing.T) {
	m := change.Message{Data: []byte(`{"database":"d","table":"t","type":"INSERT","isDdl":false,"data":[{"id":"1"},{"id":"1"},{"id":"1"}]}`)}
	events, _, err := decode(t, envelope.Options{Epoch: 7}, m)
	if err != nil || len(events) != 3 {
		t.Fatalf("%d events, error %v", len(events), err)
	}
	for i := range events {
		if e := &events[i]; int(e.Part) != i || e.Parts != 3 || !e.Sequence.IsZero() || !strings.Contains(e.Position, "missing_positions: arrival") {
			t.Errorf("row %d is part %d of %d, with sequence %q at %q", i, e.Part, e.Parts, e.Sequence, e.Position)
		}
	}
}
