package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is a family of a column's values.
type kind uint8

const (
	number  kind = iota // INT64
	text                // STRING
	boolean             // BOOL
	decimal             // NUMERIC, as a text
	moment              // TIMESTAMP, as microseconds
)

type column struct {
	name  string
	kind  kind
	large bool // an update that doesn't change it leaves it out, as PostgreSQL's TOAST
}

// tableSpec is a table of the source and what the pipeline's configuration says of it.
type tableSpec struct {
	name     string
	key      []string
	columns  []column
	moves    bool   // keys change
	settings string // of its rule, in YAML
	soft     bool   // deleted rows stay, with a flag
	follows  bool   // its source is truncated at times
	keys     int    // how many there are of the key's first column
}

// remembers reports whether the table has a history.
func (t *tableSpec) remembers() bool { return strings.Contains(t.settings, "history:") }

// grows reports whether the source adds columns.
func (t *tableSpec) grows() bool { return strings.Contains(t.settings, "unknown_columns: add") }

// The tables with parts of their own: the one that is dropped, and the one that is a view
// over a table after the other.
const (
	dropped = "carts"
	viewed  = "prices"
)

// Fill and soft deletes remember rows in memory on one machine: after a kill they read
// what BigQuery has (first_seen: read), which is exact unless a key changes, so there no
// key does.
var specs = []tableSpec{
	{
		name: "orders", key: []string{"id"}, moves: true, keys: 3000,
		columns: []column{{name: "id"}, {name: "status", kind: text}, {name: "total", kind: decimal}, {name: "paid", kind: boolean}, {name: "placed_at", kind: moment}},
	},
	{
		name: "lines", key: []string{"order_id", "line"}, moves: true, keys: 800,
		columns: []column{{name: "order_id"}, {name: "line", kind: text}, {name: "quantity"}, {name: "note", kind: text}},
	},
	{
		name: "customers", key: []string{"email"}, keys: 1000, settings: "unknown_columns: add",
		columns: []column{{name: "email", kind: text}, {name: "name", kind: text}, {name: "points"}},
	},
	{
		name: "docs", key: []string{"id"}, keys: 1000, settings: "unavailable_values: fill, fill: {first_seen: read, hold_for: HOLD}",
		columns: []column{{name: "id"}, {name: "title", kind: text}, {name: "body", kind: text, large: true}, {name: "views"}},
	},
	{
		name: "notes", key: []string{"id"}, keys: 1000, soft: true, settings: "deletes: soft, fill: {first_seen: read, hold_for: HOLD}",
		columns: []column{{name: "id"}, {name: "words", kind: text}, {name: "read", kind: boolean}},
	},
	{
		name: "stock", key: []string{"sku"}, moves: true, keys: 1000, settings: "history: shop.stock_history",
		columns: []column{{name: "sku", kind: text}, {name: "quantity"}, {name: "price", kind: decimal}},
	},
	{
		name: dropped, key: []string{"id"}, keys: 500,
		columns: []column{{name: "id"}, {name: "items"}, {name: "owner", kind: text}},
	},
	{
		name: "ledger", key: []string{"account"}, keys: 600, follows: true,
		settings: "unavailable_values: fill, fill: {first_seen: read, hold_for: HOLD}, unknown_columns: add, truncates: delete_keys, history: shop.ledger_history",
		columns:  []column{{name: "account", kind: text}, {name: "memo", kind: text, large: true}, {name: "balance", kind: decimal}},
	},
	{
		name: viewed, key: []string{"sku"}, moves: true, keys: 500, follows: true, settings: "truncates: recreate",
		columns: []column{{name: "sku", kind: text}, {name: "price", kind: decimal}, {name: "since", kind: moment}},
	},
}

// tablesOf are the tables of a run with as many plain ones beside, which share
// connections once there are more than some tens.
func tablesOf(more int) []tableSpec {
	all := slices.Clone(specs)
	for i := range more {
		all = append(all, tableSpec{
			name: fmt.Sprintf("%s%03d", plain, i), key: []string{"id"}, moves: true, keys: 40,
			columns: []column{{name: "id"}, {name: "words", kind: text}, {name: "amount", kind: decimal}},
		})
	}
	return all
}

const plain = "plain_" // begins the names of those beside

var kindTypes = map[kind]string{number: "INT64", text: "STRING", boolean: "BOOL", decimal: "NUMERIC", moment: "TIMESTAMP"}

// finishFor is how long BigQuery may take no rows of a table before they wait aside.
const finishFor = 2 * time.Second

// configuration is the pipeline's, in YAML.
func configuration(tables []tableSpec, window, hold time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "source: {subscription: %s, format: debezium}\ncreate_tables: true\nwindow: %s\n", subscription, window)
	fmt.Fprintf(&b, "dead_letters: {table: ops.dead_letters}\nruntime: {finish_for: %s, truncate_wait: 2s}\ntables:\n", finishFor)
	for _, t := range tables {
		fmt.Fprintf(&b, "  - {source: public.%s, destination: shop.%s, primary_key: [%s], columns: [", t.name, t.name, strings.Join(t.key, ", "))
		for _, c := range t.columns {
			fmt.Fprintf(&b, "{name: %s, type: %s", c.name, kindTypes[c.kind])
			if slices.Contains(t.key, c.name) {
				b.WriteString(", mode: REQUIRED")
			}
			if c.kind == moment {
				b.WriteString(", from: micros")
			}
			b.WriteString("}, ")
		}
		b.WriteString("]")
		if t.settings != "" {
			b.WriteString(", " + strings.ReplaceAll(t.settings, "HOLD", hold.String()))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// newKey draws a key of the table, which a row has or not.
func (t *tableSpec) newKey(random *rand.Rand) row {
	key := row{}
	for i, name := range t.key {
		n := int64(random.IntN(t.keys))
		if i > 0 {
			n = int64(random.IntN(3))
		}
		switch t.columns[t.index(name)].kind {
		case text:
			key[name] = fmt.Sprintf("%s %d \u00e9\u4e16", name, n) // beyond ASCII
		default:
			key[name] = n
		}
	}
	return key
}

func (t *tableSpec) index(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
}

// keyText is the key as a JSON object, as Debezium's ordering key.
func (t *tableSpec) keyText(r row) string {
	parts := make([]string, len(t.key))
	for i, name := range t.key {
		value := fmt.Sprint(r[name])
		if s, ok := r[name].(string); ok {
			value = strconv.Quote(s)
		}
		parts[i] = fmt.Sprintf("%q:%s", name, value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// values draws a row with this key.
func (t *sourceTable) values(random *rand.Rand, key row) row {
	r := row{}
	for _, c := range t.columns {
		if value, ok := key[c.name]; ok {
			r[c.name] = value
			continue
		}
		if random.IntN(10) == 0 && !c.large {
			r[c.name] = nil
			continue
		}
		switch c.kind {
		case number:
			r[c.name] = random.Int64N(1 << 40)
		case text:
			length := 1 + random.IntN(20)
			if c.large {
				length = 200
			}
			r[c.name] = strings.Repeat(string(rune('a'+random.IntN(26))), length) + strconv.FormatUint(random.Uint64(), 36) + "\u2713\"\\"
		case boolean:
			r[c.name] = random.IntN(2) == 0
		case decimal:
			r[c.name] = fmt.Sprintf("%d.%02d", random.IntN(100_000), random.IntN(100))
		case moment:
			r[c.name] = int64(1_700_000_000_000_000) + random.Int64N(100_000_000_000_000)
		}
	}
	return r
}

// wanted is a value as the emulator shows the table's rows.
func (c column) wanted(value any) any {
	switch v := value.(type) {
	case int64:
		if c.kind == moment {
			return time.UnixMicro(v).UTC().Format("2006-01-02T15:04:05.000000Z")
		}
		return strconv.FormatInt(v, 10)
	case string:
		if c.kind == decimal {
			return strings.TrimSuffix(strings.TrimRight(v, "0"), ".")
		}
	}
	return value
}
