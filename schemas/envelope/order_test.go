package envelope_test

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"beamcdc/schemas/change"
	"beamcdc/schemas/envelope"
)

// postgres is a PostgreSQL database of a few rows, and the connector that
// streams it: transactions interleave in the log and are streamed one after the
// other, in the order of their commits.
type postgres struct {
	t          *rapid.T
	decoder    *envelope.Decoder
	lsn        uint64
	lastCommit uint64                    // of the transactions that were streamed; 0: none
	locks      map[int]int               // row -> the transaction that has written it
	writes     map[int][]write           // transaction -> what it wrote
	history    map[int][]change.Sequence // row -> its changes in the order of their commits
}

type write struct {
	row int
	op  string
	lsn uint64
}

// decode decodes a change and appends its sequence to its row's history.
func (p *postgres) decode(w write, snapshot, last string) {
	data := fmt.Sprintf(`{"op":%q,"before":{"id":%d},"after":{"id":%d},"source":{"connector":"postgresql","snapshot":%q,"sequence":"[%s,\"%d\"]","schema":"public","table":"t","lsn":%d}}`,
		w.op, w.row, w.row, snapshot, last, w.lsn, w.lsn)
	events, _, err := p.decoder.Decode(change.Message{Data: []byte(data)}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.history[w.row] = append(p.history[w.row], events[0].Sequence)
}

func (p *postgres) last() string {
	if p.lastCommit == 0 {
		return "null"
	}
	return `\"` + strconv.FormatUint(p.lastCommit, 10) + `\"`
}

// advance moves the log on.
func (p *postgres) advance() uint64 {
	p.lsn += rapid.Uint64Range(1, 1<<33).Draw(p.t, "bytes of log")
	return p.lsn
}

// write lets a transaction write a row, unless another one has locked it.
func (p *postgres) write(t *rapid.T) {
	transaction := rapid.IntRange(1, 4).Draw(t, "transaction")
	row := rapid.IntRange(1, 3).Draw(t, "row")
	if owner, locked := p.locks[row]; locked && owner != transaction {
		return
	}
	p.locks[row] = transaction
	lsn := p.advance()
	if rapid.Bool().Draw(t, "a key that is changed to itself, as a case-insensitive one can be") {
		p.writes[transaction] = append(p.writes[transaction], write{row, "d", lsn}, write{row, "c", lsn})
		return
	}
	p.writes[transaction] = append(p.writes[transaction], write{row, rapid.SampledFrom([]string{"c", "u", "d"}).Draw(t, "op"), lsn})
}

// commit ends a transaction and streams it. Debezium's sequence has the commit
// of the transaction streamed before.
func (p *postgres) commit(t *rapid.T) {
	transaction := rapid.IntRange(1, 4).Draw(t, "transaction")
	commit := p.advance()
	for _, w := range p.writes[transaction] {
		p.decode(w, "false", p.last())
	}
	delete(p.writes, transaction)
	for row, owner := range p.locks {
		if owner == transaction {
			delete(p.locks, row)
		}
	}
	p.lastCommit = commit
}

// snapshot reads all rows anew, while no transaction is under way: one that is
// can't be ordered by a single message (formats.md §0.2). What the connector
// knows of commits before it may be old, or gone.
func (p *postgres) snapshot(t *rapid.T) {
	if len(p.writes) > 0 {
		return
	}
	at := p.advance()
	for row := 1; row <= 3; row++ {
		p.decode(write{row, "r", at}, "true", "null")
	}
	if rapid.Bool().Draw(t, "the connector starts anew") {
		p.lastCommit = 0
	}
}

// TestDecode_postgresOrder: whatever PostgreSQL's history, each row's sequences
// grow in the order of the commits (invariant 2).
func TestDecode_postgresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := envelope.New(envelope.Options{Format: "debezium"})
		if err != nil {
			t.Fatal(err)
		}
		p := &postgres{
			t: t, decoder: d, lsn: rapid.Uint64Range(1, 1<<50).Draw(t, "first lsn"),
			locks: make(map[int]int), writes: make(map[int][]write), history: make(map[int][]change.Sequence),
		}
		t.Repeat(map[string]func(*rapid.T){"write": p.write, "write more": p.write, "commit": p.commit, "snapshot": p.snapshot})
		checkHistories(t, p.history)
	})
}

// TestDecode_mysqlOrder: the same of MySQL's binary log, whose files are numbered
// beyond six digits, and in which rows of one statement share a position.
func TestDecode_mysqlOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := envelope.New(envelope.Options{Format: "debezium"})
		if err != nil {
			t.Fatal(err)
		}
		file, pos := rapid.SampledFrom([]int{1, 9, 99, 999998}).Draw(t, "file"), 4
		history := make(map[int][]change.Sequence)
		statement := func(t *rapid.T) {
			pos += rapid.IntRange(1, 1<<30).Draw(t, "bytes of log")
			for i := range rapid.IntRange(1, 5).Draw(t, "rows") {
				row := rapid.IntRange(1, 3).Draw(t, "row")
				for _, op := range rapid.SampledFrom([][]string{{"c"}, {"u"}, {"d"}, {"d", "c"}}).Draw(t, "ops") {
					data := fmt.Sprintf(`{"op":%q,"before":{"id":%d},"after":{"id":%d},"source":{"connector":"mysql","file":"mysql-bin.%06d","pos":%d,"row":%d}}`, op, row, row, file, pos, i)
					events, _, err := d.Decode(change.Message{Data: []byte(data)}, nil)
					if err != nil {
						t.Fatal(err)
					}
					history[row] = append(history[row], events[0].Sequence)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"statement": statement,
			"rotate":    func(*rapid.T) { file, pos = file+1, 4 },
		})
		checkHistories(t, history)
	})
}

func checkHistories(t *rapid.T, histories map[int][]change.Sequence) {
	for row, history := range histories {
		for i, s := range history {
			if len(s.Sections()) != 4 {
				t.Fatalf("row %d, change %d: sequence %q, want four sections", row, i, s)
			}
			if i > 0 && history[i-1].Compare(s) >= 0 {
				t.Fatalf("row %d: change %d at %s is not after change %d at %s", row, i, s, i-1, history[i-1])
			}
		}
	}
}
