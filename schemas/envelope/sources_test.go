package envelope_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// database is one that Debezium captures: transactions write at the same time,
// each row by one at a time, and are streamed in the order of their commits.
type database struct {
	t        *rapid.T
	clock    uint64 // of all that happens in the log
	commits  uint64 // when the transaction before committed
	ofThread [2]uint64
	locks    map[int]int // row -> the transaction that has written it
	writes   map[int][]capture
	position func(d *database, c *capture, commit uint64) map[string]any
	streamed []capture
	rows     map[int]int // as they are committed, with their values
}

// capture is a change of a row, by a statement of a transaction.
type capture struct {
	row, value   int
	op           string
	at           uint64 // when it was written
	within, part uint64 // its number in its transaction; in its statement
	thread       int
	source       map[string]any
}

// sources are the positions that connectors give to the changes of a database.
var sources = map[string]func(d *database, c *capture, commit uint64) map[string]any{
	"postgresql": func(d *database, c *capture, _ uint64) map[string]any {
		return map[string]any{"schema": "public", "lsn": c.at, "sequence": fmt.Sprintf(`["%d","%d"]`, d.commits, c.at)}
	},
	"mysql": func(_ *database, c *capture, commit uint64) map[string]any { // the log is written at the commit
		return map[string]any{"file": fmt.Sprintf("mysql-bin.%06d", commit>>40+999990), "pos": commit&(1<<40-1) + c.within, "row": c.part}
	},
	"sqlserver": func(_ *database, c *capture, commit uint64) map[string]any {
		return map[string]any{"schema": "dbo", "commit_lsn": sqlServerLSN(commit), "change_lsn": sqlServerLSN(c.at), "event_serial_no": c.part + 1}
	},
	"oracle": func(_ *database, c *capture, commit uint64) map[string]any {
		return map[string]any{"schema": "SHOP", "commit_scn": fmt.Sprint(commit), "scn": fmt.Sprint(c.at), "txSeq": c.within}
	},
	"oracle, the thread's last commit": func(d *database, c *capture, _ uint64) map[string]any {
		return map[string]any{"schema": "SHOP", "commit_scn": fmt.Sprint(d.ofThread[c.thread]), "scn": fmt.Sprint(c.at), "rs_id": fmt.Sprintf("0004d2.%08x.0010", c.within), "ssn": c.part}
	},
	"mongodb": func(_ *database, c *capture, commit uint64) map[string]any {
		return map[string]any{"ts_ms": (commit>>8 + 1) * 1000, "ord": commit & 0xFF, "total_order": c.within}
	},
	"spanner": func(_ *database, c *capture, commit uint64) map[string]any {
		return map[string]any{"ts_ns": commit, "sequence": fmt.Sprint(c.within), "mod_number": c.part, "value_capture_type": "NEW_ROW"}
	},
}

// write lets a transaction write a row, unless another one has locked it. A key
// that is changed to itself, as a case-insensitive one can be, is two changes.
func (d *database) write(t *rapid.T) {
	transaction, row := rapid.IntRange(1, 4).Draw(t, "transaction"), rapid.IntRange(1, 3).Draw(t, "row")
	if owner, locked := d.locks[row]; locked && owner != transaction {
		return
	}
	d.locks[row] = transaction
	d.clock += rapid.Uint64Range(1, 1<<41).Draw(t, "time")
	for i, op := range rapid.SampledFrom([][]string{{"c"}, {"u"}, {"d"}, {"d", "c"}}).Draw(t, "ops") {
		c := capture{row: row, value: int(d.clock), op: op, at: d.clock, part: uint64(i), within: uint64(len(d.writes[transaction])) + 1, thread: transaction % 2}
		d.writes[transaction] = append(d.writes[transaction], c)
	}
}

// commit ends a transaction and streams it.
func (d *database) commit(t *rapid.T) {
	transaction := rapid.IntRange(1, 4).Draw(t, "transaction")
	d.clock += rapid.Uint64Range(1, 1<<41).Draw(t, "time")
	commit := d.clock
	for _, c := range d.writes[transaction] {
		d.clock++ // MySQL's log has the changes behind one another
		c.source = d.position(d, &c, commit)
		d.streamed = append(d.streamed, c)
		if d.rows[c.row] = c.value; c.op == "d" {
			delete(d.rows, c.row)
		}
	}
	d.writes[transaction] = nil
	maps.DeleteFunc(d.locks, func(_, owner int) bool { return owner == transaction })
	d.commits, d.ofThread[transaction%2] = d.clock, d.clock
}

// snapshot reads all rows anew, while no transaction is under way: one that is
// can't be ordered by a single message of each source.
func (d *database) snapshot(t *rapid.T) {
	if len(d.locks) > 0 {
		return
	}
	d.clock += rapid.Uint64Range(1, 1<<41).Draw(t, "time")
	for _, row := range slices.Sorted(maps.Keys(d.rows)) {
		c := capture{row: row, value: d.rows[row], op: "r", at: d.clock}
		c.source = d.position(d, &c, d.clock)
		for _, name := range []string{"change_lsn", "event_serial_no", "commit_scn", "txSeq", "rs_id", "total_order"} {
			delete(c.source, name)
		}
		c.source["snapshot"] = "true"
		d.streamed = append(d.streamed, c)
	}
	d.clock += 1 << 10
}

// envelopes are the forms in which a change is published.
var envelopes = map[string]func(connector string, c *capture) map[string]any{
	"datastream": datastreamMessage,
	"debezium": func(connector string, c *capture) map[string]any {
		source := map[string]any{"connector": connector, "db": "shop", "table": "t", "ts_ms": 1}
		maps.Copy(source, c.source)
		m := map[string]any{"op": c.op, "source": source, "transaction": map[string]any{"total_order": c.source["total_order"]}}
		maps.Copy(m, images(connector, c))
		return m
	},
	"debezium_flat": func(_ string, c *capture) map[string]any {
		m := map[string]any{"id": c.row, "v": c.value, "__op": c.op, "__table": "t", "__transaction_total_order": c.source["total_order"]}
		for name, value := range c.source {
			m["__source_"+name] = value
		}
		return m
	},
	"cloudevents": func(connector string, c *capture) map[string]any {
		m := map[string]any{
			"specversion": "1.0", "type": "io.debezium.DataChangeEvent", "iodebeziumop": c.op, "iodebeziumconnector": connector, "iodebeziumtable": "t",
			"iodebeziumtxtotalorder": c.source["total_order"], "data": images(connector, c),
		}
		for name, value := range c.source {
			m["iodebezium"+strings.ReplaceAll(name, "_", "")] = fmt.Sprint(value)
		}
		return m
	},
}

// datastream is what Datastream tells of a change's position: the change's own,
// not its commit's.
var datastream = map[string]func(c *capture) map[string]any{
	"postgresql": func(c *capture) map[string]any {
		return map[string]any{"schema": "public", "lsn": fmt.Sprintf("%X/%X", c.at>>32, c.at&(1<<32-1))}
	},
	"mysql": func(c *capture) map[string]any {
		return map[string]any{"database": "shop", "log_file": c.source["file"], "log_position": c.source["pos"]}
	},
	"sqlserver": func(c *capture) map[string]any {
		return map[string]any{"schema": "dbo", "lsn": sqlServerLSN(c.at)}
	},
	"oracle": func(c *capture) map[string]any {
		return map[string]any{"schema": "SHOP", "scn": c.at, "rs_id": fmt.Sprintf("0x0004d2.%08x.0010", c.within), "ssn": c.part}
	},
}

// datastreamMessage is a change as Datastream publishes it.
func datastreamMessage(connector string, c *capture) map[string]any {
	metadata := datastream[connector](c)
	metadata["table"] = "t"
	metadata["change_type"] = map[string]string{"c": "INSERT", "u": "UPDATE-INSERT", "d": "DELETE"}[c.op]
	return map[string]any{"read_method": connector + "-cdc", "source_metadata": metadata, "payload": map[string]any{"id": c.row, "v": c.value}}
}

// sqlServerLSN writes a number as SQL Server does.
func sqlServerLSN(n uint64) string {
	return fmt.Sprintf("%08x:%08x:%04x", n>>48, n>>16&(1<<32-1), n&(1<<16-1))
}

// images returns the row as it was before a delete, or is after anything else.
func images(connector string, c *capture) map[string]any {
	row := any(map[string]any{"id": c.row, "v": c.value})
	if connector == "mongodb" {
		row = fmt.Sprintf(`{"_id": %d, "id": %d, "v": %d}`, c.row, c.row, c.value)
	}
	if c.op == "d" {
		return map[string]any{"before": row}
	}
	return map[string]any{"after": row}
}

// TestDecode_sourcesOrder: whatever a database's history, in whichever envelope
// it is published, and however its messages are shuffled and repeated: for each
// row the change with the highest sequence is the last one committed (invariant
// 2), and no two of a row's changes have the same.
func TestDecode_sourcesOrder(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		for _, format := range slices.Sorted(maps.Keys(envelopes)) {
			if format == "datastream" && datastream[name] == nil {
				continue // MongoDB's transactions are not told apart by it, Spanner it doesn't read
			}
			t.Run(name+" as "+format, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { checkSource(t, name, format) }) })
		}
	}
}

func checkSource(t *rapid.T, name, format string) {
	d := &database{
		t: t, clock: rapid.Uint64Range(1, 1<<50).Draw(t, "first time"),
		locks: make(map[int]int), writes: make(map[int][]capture), position: sources[name], rows: make(map[int]int),
	}
	d.commits = d.clock
	d.ofThread = [2]uint64{d.clock, d.clock}
	actions := map[string]func(*rapid.T){"write": d.write, "write more": d.write, "commit": d.commit}
	if format != "datastream" && name != "spanner" { // whose snapshots have no position; Spanner has none
		actions["snapshot"] = d.snapshot
	}
	t.Repeat(actions)

	connector, _, _ := strings.Cut(name, ",")
	decoder, err := envelope.New(envelope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	histories := make(map[int][]change.Sequence)
	last := make(map[int]capture)
	var events []change.Event
	for i := range d.streamed {
		c := &d.streamed[i]
		data, err := json.Marshal(envelopes[format](connector, c))
		if err != nil {
			t.Fatal(err)
		}
		n := len(events)
		if events, _, err = decoder.Decode(change.Message{Data: data}, events); err != nil || len(events) != n+1 {
			t.Fatalf("%s: %d events, error %v", data, len(events)-n, err)
		}
		if events[n].Sequence.IsZero() {
			t.Fatalf("%s: no sequence: %s", data, events[n].Position)
		}
		histories[c.row] = append(histories[c.row], events[n].Sequence)
		last[c.row] = *c
	}
	checkHistories(t, histories)
	checkTable(t, events, last)
}

// checkTable applies the events in another order, some of them twice.
func checkTable(t *rapid.T, events []change.Event, last map[int]capture) {
	if len(events) == 0 {
		return
	}
	order := rapid.Permutation(events).Draw(t, "order")
	order = append(order, rapid.SliceOfN(rapid.SampledFrom(events), 0, 5).Draw(t, "repeated")...)
	table := make(map[string]change.Event)
	for _, e := range order {
		row := e.After
		if e.Op == change.OpDelete {
			row = e.Before
		}
		id, ok := change.Find(row, "id")
		if !ok {
			t.Fatalf("a %s without its id", e.Op)
		}
		if have, ok := table[id.Text()]; !ok || e.Sequence.Compare(have.Sequence) >= 0 {
			table[id.Text()] = e
		}
	}
	for row, want := range last {
		got := table[fmt.Sprint(row)]
		v, _ := change.Find(got.After, "v")
		if isDelete := got.Op == change.OpDelete; isDelete != (want.op == "d") || (!isDelete && v.Text() != fmt.Sprint(want.value)) {
			t.Errorf("row %d is %s with %q, want %s with %d", row, got.Op, v.Text(), want.op, want.value)
		}
	}
}
