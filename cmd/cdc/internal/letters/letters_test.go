package letters

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"github.com/google/go-cmp/cmp"

	"beamcdc/schemas/change"
	"beamcdc/transforms/deadletter"
)

var now = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

func head(id, stage, reason, table string, ago time.Duration) *Head {
	return &Head{key: id, Stored: deadletter.Stored{
		ID: id + "/" + stage + "/0", MessageID: id, Stage: stage, Reason: reason, Table: table, PublishTime: now.Add(-ago),
	}}
}

func TestFilter(t *testing.T) {
	letters := []*Head{
		head("1", "decode", "bad_json", "", 72*time.Hour),
		head("2", "encode", "bad_value", "public.orders", 2*time.Hour),
		head("3", "write", "row_too_large", "demo.shop.orders", time.Hour),
		{key: "x.json", Broken: "no JSON"},
	}
	when := func(text string) time.Time {
		at, err := parseWhen(text, now)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, test := range []struct {
		name string
		f    filter
		want string // the letters' keys
	}{
		{"all", filter{}, "1 2 3 x.json"},
		{"a stage", filter{stages: []string{"encode", "write"}}, "2 3"},
		{"a reason", filter{reasons: []string{"bad_json"}}, "1"},
		{"a table's last part", filter{tables: []string{"orders"}}, "2 3"},
		{"a table", filter{tables: []string{"public.orders"}}, "2"},
		{"no part of a name", filter{tables: []string{"rders"}}, ""},
		{"a message", filter{ids: []string{"2"}}, "2"},
		{"a letter", filter{ids: []string{"3/write/0", "1"}}, "1 3"},
		{"since a time, which counts", filter{since: now.Add(-2 * time.Hour)}, "2 3"},
		{"until a time, which doesn't", filter{until: now.Add(-2 * time.Hour)}, "1"},
		{"since so long ago", filter{since: when("90m")}, "3"},
		{"until a date", filter{until: when("2026-03-07")}, "1"},
		{"both", filter{since: when("2026-03-09T10:00:00Z"), until: when("2026-03-09T11:00:00Z")}, "2"},
		{"several", filter{stages: []string{"encode"}, reasons: []string{"bad_json"}}, ""},
	} {
		var got []string
		for _, h := range letters {
			if test.f.takes(h) {
				got = append(got, h.key)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
	}
	for _, text := range []string{"yesterday", "-1h", "2026-13-01"} {
		if _, err := parseWhen(text, now); err == nil {
			t.Errorf("%q is a time", text)
		}
	}
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcödé ✓":   "plain, ünïcödé ✓",
		"\x1b[2Jred\a\r\n\t": `\x1b[2Jred\a\r\n\t`,
		"a\u202eb\u200bc":    `a\u202eb\u200bc`,
		"\xff\xc3(":          `\xff\xc3(`,
		"\u009b31m":          `\u009b31m`,
	} {
		if got := safe(text); got != want {
			t.Errorf("safe(%q) = %s, want %s", text, got, want)
		}
	}
	if got := safeLines("a\n\tb\x1b"); got != "a\n\tb\\x1b" {
		t.Errorf("%q", got)
	}
}

// Both languages make the same of the same message, and leave what they don't touch
// as it was, digit for digit.
func TestRepair(t *testing.T) {
	const data = `{"after":{"id":9007199254740993,"total":12.50,"huge":123456789012345678901234567890,"f":0.1},"op":"u"}`
	m := &change.Message{ID: "7", Data: []byte(data), Attributes: map[string]string{"a": "b"}, OrderingKey: "k", PublishTime: now}
	broken := &change.Message{ID: "8", Data: []byte(data + "}")}
	const fixed = `{"after":{"f":0.1,"huge":123456789012345678901234567890,"id":9007199254740993,"total":12.50},"op":"c"}`
	for _, test := range []struct {
		jq, cel string
		m       *change.Message
		want    string // "" for an error
	}{
		{`.op = "c"`, `data.with("op", "c")`, m, fixed},
		{`del(.after.huge, .after.total, .after.f)`, `data.without("after.huge").without("after.total").without("after.f")`, m, `{"after":{"id":9007199254740993},"op":"u"}`},
		{`{k: $ordering_key, a: $attributes.a, m: $message_id}`, `{"k": ordering_key, "a": attributes.a, "m": message_id}`, m, `{"a":"b","k":"k","m":"7"}`},
		{`$text | rtrimstr("}")`, `text.substring(0, text.size() - 1)`, broken, data},
		{`[.op]`, `[data.op]`, m, `["u"]`},
		{`null`, `null`, m, ""},
		{`.after.id`, `data.after.id`, m, ""},
		{`.op`, `data.op`, broken, ""},
		{`error("SECRET")`, `data.nothing`, m, ""},
		{`.op, .op`, `data.with("op.x", 1)`, m, ""},
		{`empty`, `dyn(publish_time)`, m, ""},
		{`halt_error`, `1u`, m, ""},
	} {
		jq, err := jqRepair(test.jq)
		if err != nil {
			t.Fatal(err)
		}
		cel, err := celRepair(test.cel)
		if err != nil {
			t.Fatal(err)
		}
		for text, repair := range map[string]repair{test.jq: jq, test.cel: cel} {
			got, err := repair(t.Context(), test.m)
			if (err == nil) != (test.want != "") || err == nil && string(got) != test.want {
				t.Errorf("%s gives %s, %v, want %s", text, got, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s: the error quotes the data: %v", text, err)
			}
		}
	}
	if _, err := jqRepair(".["); err == nil {
		t.Error("bad jq is taken")
	}
	if _, err := celRepair("data.("); err == nil {
		t.Error("bad CEL is taken")
	}
	endless, err := jqRepair("[repeat(1)]")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := endless(ctx, m); err == nil {
		t.Error("an endless expression ended")
	}
}

// fakeSink holds letters in memory.
type fakeSink struct {
	letters []deadletter.Stored
	marked  []string
	err     error // of marking
}

func (f *fakeSink) String() string { return "a fake" }
func (f *fakeSink) close() error   { return nil }
func (f *fakeSink) heads(context.Context) ([]Head, error) {
	var heads []Head
	for _, s := range f.letters {
		heads = append(heads, Head{Stored: headOf(s), key: s.ID, Size: int64(len(s.DataBase64))})
	}
	return heads, nil
}

func (f *fakeSink) load(_ context.Context, h *Head) (deadletter.Stored, error) {
	i := slices.IndexFunc(f.letters, func(s deadletter.Stored) bool { return s.ID == h.key })
	return f.letters[i], nil
}

func (f *fakeSink) done(_ context.Context, heads []*Head) error {
	for _, h := range heads {
		f.marked = append(f.marked, h.key)
	}
	return f.err
}

// fakePublisher refuses messages of a topic by their data.
type fakePublisher struct {
	published []*pubsub.Message
	refuse    string
}

func (p *fakePublisher) publish(_ context.Context, m *pubsub.Message) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if string(m.Data) == p.refuse {
			return "", errors.New("too large")
		}
		p.published = append(p.published, m)
		return "new", nil
	}
}

// A message is published once, however many letters it made, with the data that is
// stored beside them; each letter's outcome is told, and those published are marked.
func TestReplay(t *testing.T) {
	stored := func(id, stage, message, data string, ago time.Duration) deadletter.Stored {
		return deadletter.Stored{ID: id, Stage: stage, MessageID: message, DataBase64: []byte(data), PublishTime: now.Add(-ago), Attributes: map[string]string{"a": "b"}}
	}
	leftOut := func(s deadletter.Stored) deadletter.Stored { s.DataLeftOut = true; return s }
	s := &fakeSink{letters: []deadletter.Stored{
		stored("1/key/0", "key", "1", "one", time.Hour),
		leftOut(stored("2/key/0", "key", "2", "", time.Hour)),
		leftOut(stored("2/write/1", "write", "2", "", time.Hour)),
		stored("2/message/0", deadletter.StageMessage, "2", "two", time.Hour),
		leftOut(stored("3/write/0", "write", "3", "", time.Hour)), // nobody has its message
		stored("4/key/0", "key", "4", "old", 48*time.Hour),
		stored("5/key/0", "key", "5", "refused", 47*time.Hour),
		stored("6/key/0", "key", "6", "", time.Hour), // a tombstone
		stored("7/key/0", "key", "7", `{"op":"u","after":{"id":1},"before":null,"source":{"connector":"postgresql","schema":"s","table":"t","sequence":"[\"1\",\"2\"]","lsn":2,"ts_ms":1741507626005}}`, time.Hour),
	}}
	run := func(p publisher, change func(*replayer)) map[string]string {
		heads, _ := s.heads(t.Context())
		letters, messages := parted(heads)
		got := make(map[string]string)
		r := &replayer{
			sink: s, messages: messages, publisher: p, now: func() time.Time { return now }, progress: func(int, int) {},
			report: func(o outcome) error { got[o.Letter] = o.Outcome; return nil },
		}
		change(r)
		_, _ = r.run(t.Context(), letters) // the outcomes tell
		return got
	}
	p := &fakePublisher{refuse: "refused"}
	want := map[string]string{
		"1/key/0": "replayed", "2/key/0": "replayed", "2/write/1": "replayed", "3/write/0": "refused", "4/key/0": "refused",
		"5/key/0": "failed", "6/key/0": "replayed", "7/key/0": "replayed",
	}
	if diff := cmp.Diff(want, run(p, func(*replayer) {})); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1/key/0", "2/key/0", "2/write/1", "2/message/0", "6/key/0", "7/key/0"}, s.marked); diff != "" {
		t.Errorf("marked (-want +got):\n%s", diff)
	}
	if len(p.published) != 4 || string(p.published[1].Data) != "two" || p.published[1].Attributes[deadletter.AttributeReplay] != "1 2026-03-09T11:00:00Z 2" {
		t.Errorf("published are %+v", p.published)
	}
	if got := run(&fakePublisher{}, func(r *replayer) { r.old = true }); got["4/key/0"] != "replayed" {
		t.Errorf("an old letter that is asked for: %v", got)
	}
	s.marked = nil
	if got := run(nil, func(*replayer) {}); got["1/key/0"] != "would_replay" || len(s.marked) > 0 {
		t.Errorf("a dry run: %v, marked %v", got, s.marked)
	}
	s.err = errors.New("the disk is full")
	if got := run(&fakePublisher{}, func(*replayer) {}); got["1/key/0"] != "left_unmarked" {
		t.Errorf("a sink that can't mark: %v", got)
	}
}

// Messages of one ID that were published at different times are two: an embedded Pub/Sub
// gives an ID again in its next process.
func TestByMessage_sameID(t *testing.T) {
	first, second := head("m33", "key", "bad_value", "", time.Hour), head("m33", "key", "bad_value", "", time.Minute)
	other := head("m33", "write", "row_too_large", "", time.Hour)
	if got := byMessage([]*Head{first, second, other}); len(got) != 2 || len(got[0]) != 2 || got[1][0] != second {
		t.Errorf("%d groups: %v", len(got), got)
	}
}

// What isn't a letter keeps nobody from those that are.
func TestDirectory_hostile(t *testing.T) {
	path := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good.json", `{"id":"1/decode/0","stage":"decode","reason":"\u001b[31mred","message_id":"1","data_base64":"Gw=="}`)
	write("bad.json", `{"stage":`)
	write("list.json", `[]`)
	write("nothing.json", ``)
	write("base64.json", `{"stage":"decode","message_id":"2","data_base64":"%"}`)
	write(".writing.json", `{`)
	write("notes.txt", `{`)
	if err := os.Mkdir(filepath.Join(path, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(path, "link.json")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Run(t.Context(), []string{"list", "-each", "-dead_letter_directory", path}, &out, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "BROKEN") != 4 || strings.Count(got, "\n") != 6 || strings.Contains(got, "\x1b") || !strings.Contains(got, "1/decode/0") {
		t.Errorf("listed is\n%s", got)
	}
	out.Reset()
	if err := Run(t.Context(), []string{"show", "-dead_letter_directory", path, "1"}, &out, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "\x1b") || !strings.Contains(got, `\x1b[31mred`) {
		t.Errorf("shown is\n%s", got)
	}
	out.Reset()
	if err := Run(t.Context(), []string{"list", "-dead_letter_directory", path, "-reason", "bad_valu"}, &out, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "none of the 5 dead letters in ") || !strings.HasSuffix(got, `; none has the reason "bad_valu", but \x1b[31mred`+"\n") {
		t.Errorf("of a typo: %s", got)
	}
	out.Reset()
	if err := Run(t.Context(), []string{"list", "-dead_letter_directory", t.TempDir()}, &out, &out); err != nil || !strings.HasPrefix(out.String(), "no dead letters in ") {
		t.Errorf("of none: %v, %s", err, out.String())
	}
	out.Reset()
	if err := Run(t.Context(), []string{"show", "-dead_letter_directory", path}, &out, &out); err == nil || !strings.Contains(err.Error(), "4 of 5 letters") {
		t.Errorf("showing what is broken: %v", err)
	}
	out.Reset()
	if err := Run(t.Context(), []string{"list", "-dead_letter_directory", path}, &out, &out); err != nil || !strings.Contains(out.String(), "broken: base64.json\n") {
		t.Errorf("listed by groups: %v\n%s", err, out.String())
	}
	s := &directory{path: path}
	heads, err := s.heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(heads, func(h Head) bool { return h.key == "good.json" })
	if err := s.done(t.Context(), []*Head{&heads[i]}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, "replayed", "good.json")); err != nil {
		t.Error(err)
	}
}

func TestRun_showNone(t *testing.T) {
	var out strings.Builder
	dir := t.TempDir()
	if err := Run(t.Context(), []string{"show", "-dead_letter_directory", dir}, &out, &out); err == nil || err.Error() != "there is no dead letter in directory "+dir {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

// A directory that no letter has made yet is as one that is empty, and is said not to exist.
func TestRun_noDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for action, want := range map[string]string{"list": "", "replay": "", "show": "there is no dead letter in directory " + dir + ", which does not exist"} {
		args := []string{action, "-dead_letter_directory", dir}
		if action == "replay" {
			args = append(args, "-to", "projects/p/topics/t")
		}
		var out strings.Builder
		err := Run(t.Context(), args, &out, &out)
		if want != "" && (err == nil || err.Error() != want) || want == "" && (err != nil || out.String() != "no dead letters in directory "+dir+", which does not exist\n") {
			t.Errorf("%s: %v, printed %q", action, err, out.String())
		}
	}
}

// A filter that takes none is told alike by show and replay, before Pub/Sub is asked for
// the subscription's topic.
func TestRun_typo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"id":"1/encode/0","stage":"encode","reason":"unknown_column","message_id":"1","data_base64":"Gw=="}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "none of the 1 dead letters in directory " + dir + " matches; none has the reason \"unknown_colum\", but unknown_column; \"list -each\" tells their IDs"
	for _, action := range []string{"show", "replay"} {
		var out strings.Builder
		err := Run(t.Context(), []string{action, "-dead_letter_directory", dir, "-reason", "unknown_colum", "-subscription", "projects/p/subscriptions/s", "-pubsub_endpoint", "127.0.0.1:1", "-pubsub_plaintext"}, &out, &out)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, printed %q", action, err, out.String())
		}
	}
}

// A dry run shows what a repair makes, and warns of one that gives a part of the message.
func TestRun_previewsRepair(t *testing.T) {
	dir := t.TempDir()
	text, err := json.Marshal(deadletter.Stored{ID: "1/encode/0", Stage: "encode", MessageID: "1", PublishTime: time.Now(), DataBase64: []byte(`{"after":{"color":"red"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		`.after.color = "blue"`: "1/encode/0  would_replay, repaired\n  new data: {\"after\":{\"color\":\"blue\"}}\n",
		`.after.color`:          "1/encode/0  would_replay, repaired\n  warning: the message was a JSON object, and its new data is none: the repair has to give the whole message\n  new data: red\n",
		`.`:                     "1/encode/0  would_replay\n",
	} {
		var out, told strings.Builder
		if err := Run(t.Context(), []string{"replay", "-dead_letter_directory", dir, "-to", "projects/p/topics/t", "-dry_run", "-repair_jq", expression}, &out, &told); err != nil || out.String() != want {
			t.Errorf("%s: %v, printed %q, want %q", expression, err, out.String(), want)
		}
	}
}

func TestRun_badUsage(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"delete"},
		{"list", "-frobnicate"},
		{"list"},
		{"list", "-dead_letter_directory", "d", "-dead_letter_table", "a.b"},
		{"list", "-dead_letter_directory", "d", "-output", "xml"},
		{"list", "-dead_letter_directory", "d", "-since", "soon"},
		{"list", "-dead_letter_topic", "projects/p/topics/t"},
		{"list", "-dead_letter_subscription", "t"},
		{"replay", "-dead_letter_directory", ".", "-repair_jq", "."},
		{"replay", "-dead_letter_directory", ".", "-to", "t"},
		{"replay", "-dead_letter_directory", ".", "-to", "projects/p/topics/t", "-repair_jq", "["},
		{"replay", "-dead_letter_directory", ".", "-to", "projects/p/topics/t", "-repair_jq", ".", "-repair_cel", "data"},
	} {
		var out strings.Builder
		err := Run(t.Context(), args, &out, &out)
		if usage := (UsageError{}); !errors.As(err, &usage) || out.Len() > 0 {
			t.Errorf("%v: %v, printed %q", args, err, out.String())
		}
	}
}
