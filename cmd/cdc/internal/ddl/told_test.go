package ddl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"beamcdc/schemas/table"
)

// row is the data of a message of a table.
func row(table, after string) string {
	return `{"op":"c","before":null,"after":` + after + `,"source":{"connector":"postgresql","schema":"public","table":"` + table +
		`","lsn":16,"ts_ms":1700000000000,"sequence":"[\"15\",\"16\"]"}}`
}

// written writes a configuration with these rules, and messages, and returns the arguments
// that name them.
func written(t *testing.T, rules string, lines ...string) []string {
	t.Helper()
	config, messages := filepath.Join(t.TempDir(), "pipeline.yaml"), filepath.Join(t.TempDir(), "m.jsonl")
	text := "source: {subscription: projects/demo/subscriptions/changes}\ndead_letters: {topic: projects/demo/topics/dead}\ntables:\n" + rules
	for name, text := range map[string]string{config: text, messages: strings.Join(lines, "\n")} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"-config", config, "-messages", messages, "-offline"}
}

// A line that isn't what the others are is an error with its place, and so are messages
// of which none can be decoded.
func TestRun_unreadable(t *testing.T) {
	good := row("orders", `{"id":1}`)
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"a broken first line": {[]string{`{"data":` + good, `{"data":` + good + `}`}, "m.jsonl:1: reading a message"},
		"a misspelled member": {[]string{`{"data":` + good + `,"orderingKey":"k"}`}, "m.jsonl:1: unknown member"},
		"none decodes":        {[]string{`{"a":1}`, `{"b":1}`}, "none of 2 messages can be decoded; of the first:"},
		"none":                {nil, "m.jsonl has no message"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runs(t, written(t, "  - {source: public.orders, destination: shop.orders, primary_key: [id]}\n", test.lines...)...)
			if _, ok := errors.AsType[UsageError](err); !ok || !strings.Contains(err.Error(), test.want) || out != "" {
				t.Errorf("%v, printed %q; want %q", err, out, test.want)
			}
		})
	}
}

// Messages that no rule is for are told of, and a rule without messages is told why it
// has none.
func TestRun_unlisted(t *testing.T) {
	order, item := row("order", `{"id":1}`), row("items", `{"id":1}`)
	out, err := runs(t, written(t, "  - {source: public.orders, destination: shop.orders, primary_key: [id]}\n", order, item, order)...)
	if err == nil {
		t.Error("nothing is wrong")
	}
	for _, want := range []string{
		"-- 3 messages are of tables that no rule lists, and left out here: public.order (2), public.items (1)\n",
		`its rule has no columns, and what was given has no table that "public.orders" is for, and has public.order, which no rule is for`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "no source is given") {
		t.Errorf("something was given:\n%s", out)
	}
	out, err = runs(t, written(t, "  - {source: public.orders, destination: shop.orders, primary_key: [id]}\n  - {source: audit.*, destination: \"shop.{table}\"}\n", row("orders", `{"id":1}`), item)...)
	if err == nil || !strings.Contains(out, "-- 1 message is of tables that no rule lists") || !strings.Contains(out, `no table that "audit.*" is for; no rule is for what it has: public.items`) {
		t.Errorf("%v\n%s", err, out)
	}
	out, _ = runs(t, written(t, "  - {source: public.orders, destination: shop.orders, primary_key: [id]}\n")[0:2]...)
	if strings.Contains(out, "what was given") {
		t.Errorf("nothing was given:\n%s", out)
	}
}

// What the rule types, renamed or not, needs no note.
func TestRun_untyped(t *testing.T) {
	const rule = `  - source: public.orders
    destination: shop.orders
    primary_key: [id]
    columns: [{name: id, type: INT64}, {name: placed, type: TIMESTAMP, from: micros}, {name: note, type: STRING}]
    enrich: [{rename: {placed_at: placed}}, {drop: [secret]}]
`
	message := row("orders", `{"id":1,"placed_at":1700000000000000,"note":null,"secret":"x"}`)
	out, err := runs(t, written(t, rule, message)...)
	if err != nil || strings.Contains(out, "note: ") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = runs(t, written(t, strings.Replace(rule, ", {name: note, type: STRING}", "", 1), strings.Replace(message, `"secret"`, `"total":7,"secret"`, 1))...)
	if err != nil || !strings.Contains(out, "the messages don't type total: ") || !strings.Contains(out, "so of no type: note\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Where some messages have a schema and others none, it is some that don't type.
func TestRun_someUntyped(t *testing.T) {
	const schema = `{"type":"struct","fields":[{"field":"after","type":"struct","optional":true,"fields":[{"field":"id","type":"int64"},{"field":"sku","type":"string"}]},{"field":"op","type":"string"},{"field":"source","type":"struct"}]}`
	plain := row("orders", `{"id":1,"sku":"a"}`)
	rule := "  - {source: public.orders, destination: shop.orders, primary_key: [id]}\n"
	out, err := runs(t, written(t, rule, `{"schema":`+schema+`,"payload":`+plain+`}`, plain)...)
	if err != nil || !strings.Contains(out, "some messages have no schema, and so don't type id, sku") || strings.Contains(out, "the messages don't type") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A name that a pattern's destination can't take says what helps.
func TestRun_illegible(t *testing.T) {
	out, err := runs(t, written(t, "  - {source: public.*, destination: \"shop.{table}\"}\n", row("my orders", `{"id":1}`))...)
	if err == nil || !strings.Contains(out, "which can't be put into the destination; give it a rule of its own, with a destination that is spelled out, before this one (public.*)") {
		t.Errorf("%v\n%s", err, out)
	}
	const own = "  - {source: public.my orders, destination: shop.my_orders, primary_key: [id]}\n"
	out, err = runs(t, written(t, own+"  - {source: public.*, destination: \"shop.{table}\", primary_key: [id]}\n", row("items", `{"id":1}`), row("my orders", `{"id":1}`))...)
	if err != nil || !strings.Contains(out, "`demo.shop.my_orders`") {
		t.Errorf("what is advised: %v\n%s", err, out)
	}
}

// The columns that a note asks for can be copied into the configuration, whatever the
// source calls them.
func TestFlow_hint(t *testing.T) {
	var f flow
	names := []string{"id", "a: b", "c, d", `e"f`, "null", "on", "#g", "{h}", "été", "1", "-i"}
	for _, name := range names {
		f.columns = append(f.columns, table.Column{Name: name, Type: table.Timestamp, From: table.FromMicros})
	}
	f.hint(&table.Rule{})
	_, list, _ := strings.Cut(f.notes[0], "\n")
	var columns []struct{ Name, From string }
	if err := yaml.Unmarshal([]byte(list), &columns); err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	for i, c := range columns {
		if c.Name != names[i] || c.From != "micros" {
			t.Errorf("%q is read as %+v", names[i], c)
		}
	}
	if len(columns) != len(names) {
		t.Errorf("%d of %d columns:\n%s", len(columns), len(names), list)
	}
}
