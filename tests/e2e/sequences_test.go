package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sequencesConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.items
    destination: shop.items
    primary_key: [id]
    columns: [{name: id, type: INT64, mode: REQUIRED}, {name: v, type: STRING}, {name: version, type: INT64}]
`

// Case 21: a sequence is one to four sections of hexadecimal digits, compared as
// numbers; any other text is its own row's fault.
func TestSequences_texts(t *testing.T) {
	var cases []eventCase
	columns := func(key, sequence, v string) message {
		return message{data: fmt.Sprintf(`{"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":%s,"id":%s,"v":%q}`, sequence, key, v)}
	}
	for _, bad := range []string{`"-1"`, `""`, `"1/2/3/4/5"`, `"10000000000000000"`, `"0x1F"`, `" 1f"`, `"1/"`, `"1_0"`, `31`} {
		cases = append(cases, eventCase{
			name: "bad: " + bad, want: map[int]string{1: "", 2: `{"v":"good"}`}, letters: []string{"decode/bad_envelope"},
			messages: []message{columns("$1", bad, "bad"), columns("$2", `"1"`, "good")},
		})
	}
	for _, c := range []struct{ later, earlier string }{
		{`"ff/0a"`, `"FF/9"`},
		{`"10/200"`, `"F/FFFFFF00"`},
		{`"FFF/ABC"`, `"FFF/B"`},
		{`"ABC"`, `"BA/FFFFFFFF"`},
		{`"FFFFFFFFFFFFFFFF"`, `"7FFFFFFFFFFFFFFF"`},
		{`"0000000000000100"`, `"FF"`},
	} {
		cases = append(cases, eventCase{
			name: c.later + " is later than " + c.earlier, want: map[int]string{1: `{"v":"later"}`},
			messages: []message{columns("$1", c.later, "later"), columns("$1", c.earlier, "earlier")},
		})
	}
	runCases(t, sequencesConfig, "id", cases)
}

// Two writers of one table agree on the order where a rule's expression makes the
// other one's sequences: here an application that writes rows with BigQuery's own
// columns and numbers them by the row's version, beside Debezium, whose positions
// would say otherwise. The application's rows come through a pipeline of their own,
// to the same table.
func TestSequences_twoWriters(t *testing.T) {
	db := t.TempDir() + "/tables.db"
	change := func(id int, v string, version, lsn int) message {
		return pgChange{
			table: "public.items", op: "u", after: fmt.Sprintf(`{"id":%d,"v":%q,"version":%d}`, id, v, version),
			lastCommit: uint64(lsn - 1), lsn: uint64(lsn),
		}.message()
	}
	application := func(id int, v string, version int) message {
		return message{data: fmt.Sprintf(`{"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"%X/0","id":%d,"v":%q,"version":%d}`, version, id, v, version)}
	}
	const byVersion = "    sequence: '[after.version, 0]'\n"
	for i, run := range []struct {
		config   string
		messages []message
		want     []row
	}{
		{sequencesConfig + byVersion, []message{change(1, "second", 2, 500), change(1, "first", 1, 600), change(2, "fourth", 255, 100), change(3, "third", 3, 100)}, []row{
			{"id": "1", "v": "second", "version": "2"}, {"id": "2", "v": "fourth", "version": "255"}, {"id": "3", "v": "third", "version": "3"},
		}},
		{sequencesConfig, []message{application(1, "too old", 1), application(2, "too old", 16), application(3, "newer", 10)}, []row{
			{"id": "1", "v": "second", "version": "2"}, {"id": "2", "v": "fourth", "version": "255"}, {"id": "3", "v": "newer", "version": "10"},
		}},
		{sequencesConfig + byVersion, []message{change(3, "between", 9, 900), change(2, "newest", 256, 1)}, []row{
			{"id": "1", "v": "second", "version": "2"}, {"id": "2", "v": "newest", "version": "256"}, {"id": "3", "v": "newer", "version": "10"},
		}},
	} {
		out := runLocal(t, run.config, run.messages, "-db", db)
		if diff := cmp.Diff(run.want, out.Tables["shop.items"]); diff != "" {
			t.Errorf("run %d, -want +got:\n%s", i+1, diff)
		}
		if len(out.DeadLetters) > 0 {
			t.Errorf("run %d: dead letters %v", i+1, out.DeadLetters)
		}
	}
}

// A change that the expression can't order is a dead letter, and no other is.
func TestSequences_expressionFails(t *testing.T) {
	runCases(t, sequencesConfig+"    sequence: 'hex(data.after.v)'\n", "id", []eventCase{
		{
			name: "digits", want: map[int]string{1: `{"v":"1F"}`},
			messages: []message{item("u", "$1", `,"v":"1F"`, 1, 2), item("u", "$1", `,"v":"f"`, 3, 4)},
		},
		{
			name: "no digits", want: map[int]string{1: `{"v":"1f"}`}, letters: []string{"key/bad_sequence", "key/bad_sequence", "key/bad_sequence"},
			messages: []message{item("u", "$1", `,"v":"1f"`, 1, 2), item("u", "$1", `,"v":"0x1F"`, 3, 4), item("u", "$1", `,"v":null`, 5, 6), item("u", "$1", ``, 7, 8)},
		},
		{
			name: "255 as a decimal number is another", want: map[int]string{1: `{"v":"255"}`},
			messages: []message{item("u", "$1", `,"v":"255"`, 1, 2), item("u", "$1", `,"v":"FF"`, 3, 4)}, // 0x255 > 0xFF
		},
	})
}
