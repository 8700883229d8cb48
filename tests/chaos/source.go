package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// unavailable stands for a value that the source left out, as Debezium writes it.
const unavailable = "__debezium_unavailable_value"

// row is a row of the source, by column: int64, string, bool or nil. A moment is an
// int64 of microseconds, a decimal a text.
type row map[string]any

// source is a database: tables that change, and every change published, with its
// position. It knows what each table must hold.
type source struct {
	mu      sync.Mutex
	random  *rand.Rand
	broker  *broker
	began   time.Time
	tables  []*sourceTable
	changes int // published; positions grow with it

	poison map[string]poison // by message ID
}

// sourceTable is a table and its rows.
type sourceTable struct {
	*tableSpec
	columns []column // those that an ALTER added included
	rows    map[string]row
	ever    map[string]row      // every key that there ever was: its last row
	deleted map[string]deletion // the last of each key
	history int                 // changes of rows, as a history has them
}

// deletion is when a row was deleted.
type deletion struct {
	position uint64 // of the source's log
	at       int64  // milliseconds
}

// poison is a message that can't be used, and the dead letter that it must become.
type poison struct{ stage, reason string }

func newSource(seed uint64, tables []tableSpec, b *broker) *source {
	s := &source{random: rand.New(rand.NewPCG(seed, 1)), broker: b, began: time.Now(), poison: map[string]poison{}}
	for i := range tables {
		t := &sourceTable{tableSpec: &tables[i], columns: slices.Clone(tables[i].columns)}
		t.rows, t.ever, t.deleted = map[string]row{}, map[string]row{}, map[string]deletion{}
		s.tables = append(s.tables, t)
	}
	return s
}

// count is how many changes there were.
func (s *source) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

func (s *source) table(name string) *sourceTable {
	for _, t := range s.tables {
		if t.name == name {
			return t
		}
	}
	panic("there is no table " + name)
}

// change makes one change of a row of some table, and publishes it.
func (s *source) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[s.random.IntN(len(specs))]
	if more := s.tables[len(specs):]; len(more) > 0 && s.random.IntN(2) == 0 {
		t = more[s.random.IntN(len(more))]
	}
	key := t.newKey(s.random)
	name := t.keyText(key)
	old, there := t.rows[name]
	dice := s.random.Float64()
	switch {
	case !there:
		s.write(t, "c", nil, t.values(s.random, key))
	case dice < 0.12:
		s.write(t, "d", old, nil)
	case dice < 0.18 && t.moves:
		to := t.newKey(s.random)
		if _, taken := t.rows[t.keyText(to)]; taken {
			to = key
		}
		s.write(t, "u", old, t.values(s.random, to))
	default:
		next := t.values(s.random, key)
		for _, c := range t.columns {
			if c.large && s.random.Float64() < 0.7 { // unchanged, and left out of the message
				next[c.name] = old[c.name]
			}
		}
		s.write(t, "u", old, next)
	}
	if s.random.IntN(200) == 0 {
		s.broker.publish(&pubsubpb.PubsubMessage{Data: fmt.Appendf(nil, `{"ts_ms":%d}`, s.now())}) // a heartbeat
	}
}

// now is the time of the source's next commit, in milliseconds: a change is committed
// a millisecond after the one before.
func (s *source) now() int64 { return s.began.UnixMilli() + int64(s.changes) }

// position is the last change's place in the source's log.
func (s *source) position() uint64 { return 1000 + 10*uint64(s.changes) }

// write changes a row and publishes that. The lock is held.
func (s *source) write(t *sourceTable, op string, before, after row) {
	s.changes++
	if before != nil {
		name := t.keyText(before)
		delete(t.rows, name)
		t.ever[name] = before
		t.deleted[name] = deletion{s.position(), s.now()}
	}
	if after != nil {
		name := t.keyText(after)
		t.rows[name], t.ever[name] = after, after
	}
	t.history++
	moved := before != nil && after != nil && t.keyText(before) != t.keyText(after)
	if moved {
		t.history++
	}
	s.broker.publish(&pubsubpb.PubsubMessage{Data: s.message(t, op, before, after, moved), OrderingKey: t.keyText(cmpRow(after, before))})
}

func cmpRow(a, b row) row {
	if a != nil {
		return a
	}
	return b
}

// message is Debezium's for a change, with PostgreSQL's default replica identity: the
// before image of a delete or a changed key is the key.
func (s *source) message(t *sourceTable, op string, before, after row, moved bool) []byte {
	var b strings.Builder
	image := func(r row, keyOnly, leaveOut bool) {
		if r == nil {
			b.WriteString("null")
			return
		}
		b.WriteByte('{')
		for i, c := range t.columns {
			if i > 0 {
				b.WriteByte(',')
			}
			value := r[c.name]
			switch {
			case keyOnly && !slices.Contains(t.key, c.name):
				value = nil
			case leaveOut && c.large && value == before[c.name]:
				value = unavailable
			}
			text, err := json.Marshal(value)
			if err != nil {
				panic(err) // they are numbers, texts and flags
			}
			fmt.Fprintf(&b, "%q:%s", c.name, text)
		}
		b.WriteByte('}')
	}
	at := s.position()
	b.WriteString(`{"before":`)
	if op == "u" && !moved {
		image(nil, false, false)
	} else {
		image(before, true, false)
	}
	b.WriteString(`,"after":`)
	image(after, false, op == "u" && before != nil)
	fmt.Fprintf(&b, `,"source":{"version":"3.4.0.Final","connector":"postgresql","name":"chaos","ts_ms":%d,"snapshot":"false","db":"chaos",`+
		`"sequence":"[\"%d\",\"%d\"]","txId":%d,"lsn":%d,"schema":"public","table":%q,"xmin":null},"transaction":null,"op":%q,"ts_ms":%d}`,
		s.now(), at, at+5, s.changes, at+5, t.name, op, s.now())
	return []byte(b.String())
}

// truncate empties a table.
func (s *source) truncate(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(name)
	s.changes++
	for key := range t.rows {
		t.deleted[key] = deletion{s.position(), s.now()}
	}
	clear(t.rows)
	t.history++
	s.broker.publish(&pubsubpb.PubsubMessage{Data: s.message(t, "t", nil, nil, false)})
}

// alter adds a column to a table whose destination follows it.
func (s *source) alter(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(name)
	n := len(t.columns) - len(t.tableSpec.columns) + 1
	c := column{name: "extra_" + strconv.Itoa(n), kind: text}
	if n%2 == 0 {
		c.kind = number
	}
	t.columns = append(t.columns, c)
	return c.name
}

// republish publishes what each key that a table ever had is now, with positions above
// all others: what an operator does once the table was lost in BigQuery. Deletes are
// among it: an older change of a deleted row may still be on its way, and the new table
// knows nothing of the delete.
func (s *source) republish(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(name)
	for _, key := range slices.Sorted(maps.Keys(t.ever)) {
		if now, there := t.rows[key]; there {
			s.write(t, "c", nil, now)
		} else {
			s.write(t, "d", t.ever[key], nil)
		}
	}
	return len(t.ever)
}

// spoil publishes messages that can't be used, one of each kind.
func (s *source) spoil() {
	s.mu.Lock()
	defer s.mu.Unlock()
	publish := func(data []byte, p poison) {
		s.poison[s.broker.publish(&pubsubpb.PubsubMessage{Data: data})] = p
	}
	n := int64(1_000_000 + len(s.poison)) // keys that no row has
	publish(fmt.Appendf(nil, `{"before":null,"after":{"id":%d,`, n), poison{"decode", "bad_json"})
	orders := s.table("orders")
	s.changes++
	bad := orders.values(s.random, row{"id": n})
	bad["total"] = "12,5 or so"
	publish(s.message(orders, "c", nil, bad, false), poison{"encode", "bad_value"})
	unlisted := *orders.tableSpec
	unlisted.name = "unlisted"
	publish(s.message(&sourceTable{tableSpec: &unlisted, columns: orders.columns}, "c", nil, orders.values(s.random, row{"id": n}), false), poison{"key", "unlisted_table"})
	noPosition := strings.Replace(string(s.message(orders, "c", nil, orders.values(s.random, row{"id": n}), false)), `"connector":"postgresql"`, `"connector":"cassandra"`, 1)
	publish([]byte(noPosition), poison{"", ""})
}
