package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is one thing that happened at a source, whichever tells of it.
type step struct {
	n   int    // its place in the source's order, from 1
	op  string // r a snapshot's row, c created, u updated, d deleted, k the key changed from old
	id  int
	old int
	v   string // JSON
	qty int
}

// story is what happened to a table of id, v and qty at each source.
var story = []step{
	{1, "r", 5, 0, `"old"`, 1},
	{1, "r", 6, 0, `"of the snapshot"`, 6},
	{2, "c", 1, 0, `"a"`, 1},
	{3, "u", 1, 0, `"b"`, 2},
	{4, "c", 2, 0, `"gone"`, 1},
	{5, "d", 2, 0, `"gone"`, 1},
	{6, "c", 3, 0, `"moving"`, 3},
	{7, "k", 4, 3, `"moved"`, 4},
	{8, "u", 5, 0, `"newer"`, 5},
	{9, "c", 7, 0, `null`, 0},
}

// afterStory is the table in the end.
var afterStory = []row{
	{"id": "1", "v": "b", "qty": "2"},
	{"id": "4", "v": "moved", "qty": "4"},
	{"id": "5", "v": "newer", "qty": "5"},
	{"id": "6", "v": "of the snapshot", "qty": "6"},
	{"id": "7", "v": nil, "qty": "0"},
}

func (s step) image() string { return fmt.Sprintf(`{"id":%d,"v":%s,"qty":%d}`, s.id, s.v, s.qty) }

// teller is a source that tells the story.
type teller struct {
	format  string
	source  string // its name of the table
	key     string // the key column; "" for id
	ordered bool   // its messages have no position: they are published in order, and only once
	tell    func(source string, s step) []message
}

func (l teller) table() string {
	return strings.ToLower(strings.ReplaceAll(l.source, ".", "_"))
}

// tellers are written after the formats' documentation, not after the decoders.
var tellers = slices.Concat(debeziumTellers, otherTellers)

// formatsConfig configures a table for each teller.
func formatsConfig(format string, tellers []teller) string {
	var config strings.Builder
	fmt.Fprintf(&config, "source: {subscription: projects/demo/subscriptions/changes, format: %s}\ncreate_tables: true\nwindow: 20ms\n"+
		"dead_letters: {topic: projects/demo/topics/dead}\ntables:\n", format)
	for _, l := range tellers {
		key := l.key
		if key == "" {
			key = "id"
		}
		fmt.Fprintf(&config, "  - source: %s\n    destination: shop.%s\n    primary_key: [%s]\n", l.source, l.table(), key)
		if l.ordered {
			config.WriteString("    missing_positions: arrival\n")
		}
		fmt.Fprintf(&config, "    columns: [{name: %s, type: INT64, mode: REQUIRED}, {name: v, type: STRING}, {name: qty, type: INT64}]\n", key)
	}
	return config.String()
}

// told returns what the tellers publish, in any order, some of it twice.
func told(random *rand.Rand, tellers []teller) []message {
	var messages, ordered []message
	var inOrder []bool
	for _, l := range tellers {
		for _, s := range story {
			for _, m := range l.tell(l.source, s) {
				if l.ordered {
					ordered = append(ordered, m)
				} else {
					messages = append(messages, m)
				}
			}
		}
	}
	for range len(messages) / 4 {
		messages = append(messages, messages[random.IntN(len(messages))])
	}
	random.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	for range messages {
		inOrder = append(inOrder, false)
	}
	for range ordered {
		inOrder = append(inOrder, true)
	}
	random.Shuffle(len(inOrder), func(i, j int) { inOrder[i], inOrder[j] = inOrder[j], inOrder[i] })
	all := make([]message, len(inOrder))
	for i, from := range inOrder {
		next := &messages
		if from {
			next = &ordered
		}
		all[i], *next = (*next)[0], (*next)[1:]
	}
	return all
}

func checkStory(t *testing.T, out outcome, tellers []teller) {
	t.Helper()
	for _, l := range tellers {
		want := afterStory
		if l.key != "" {
			want = nil
			for _, r := range afterStory {
				want = append(want, row{l.key: r["id"], "v": r["v"], "qty": r["qty"]})
			}
		}
		if diff := cmp.Diff(want, out.Tables["shop."+l.table()]); diff != "" {
			t.Errorf("%s, table %s, -want +got:\n%s", l.format, l.source, diff)
		}
	}
	for _, l := range out.DeadLetters {
		t.Errorf("dead letter %s/%s: %s\n%s", l.Stage, l.Reason, l.Error, l.Data)
	}
	if !balanced(out.Counts) {
		t.Errorf("the counts don't add up: %v", out.Counts)
	}
}

// One topic holds all formats, each message told by its members.
func TestFormats_auto(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			out := runLocal(t, formatsConfig("auto", tellers), told(rand.New(rand.NewPCG(seed, 0)), tellers))
			checkStory(t, out, tellers)
		})
	}
}

// Each format by itself, configured.
func TestFormats_configured(t *testing.T) {
	formats := map[string][]teller{}
	for _, l := range tellers {
		formats[l.format] = append(formats[l.format], l)
	}
	for format, tellers := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			out := runLocal(t, formatsConfig(format, tellers), told(rand.New(rand.NewPCG(3, 0)), tellers))
			checkStory(t, out, tellers)
		})
	}
}

// A message of columns names no table: it goes to the only one.
func TestFormats_columns(t *testing.T) {
	columns := teller{format: "columns", source: "items", tell: func(_ string, s step) []message {
		change := func(kind string, ordinal int, image string) message {
			return message{data: fmt.Sprintf(`{"_CHANGE_TYPE":%q,"_CHANGE_SEQUENCE_NUMBER":"%x/%X",%s`, kind, s.n+8, ordinal, image[1:])}
		}
		switch s.op {
		case "d":
			return []message{change("DELETE", 0, fmt.Sprintf(`{"id":%d}`, s.id))}
		case "k":
			return []message{change("DELETE", 0, fmt.Sprintf(`{"id":%d}`, s.old)), change("upsert", 1, s.image())}
		}
		return []message{change("UPSERT", 1, s.image())}
	}}
	for _, format := range []string{"auto", "columns"} {
		t.Run(format, func(t *testing.T) {
			out := runLocal(t, formatsConfig(format, []teller{columns}), told(rand.New(rand.NewPCG(4, 0)), []teller{columns}))
			checkStory(t, out, []teller{columns})
		})
	}
}
