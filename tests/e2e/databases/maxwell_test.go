package databases

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// maxwell is Maxwell in a process of its own, which writes a change a line. It keeps
// its position in the database, and captures again what it had captured since.
type maxwell struct {
	t       testing.TB
	port    int
	publish func([]*pubsubpb.PubsubMessage)
	keep    io.Writer // every line captured; nil for none
	process *process
	pumped  chan struct{} // closed when the process's output has ended

	markers int          // that were made
	marked  atomic.Int64 // the highest marker that was published
}

func (m *maxwell) start() {
	m.t.Helper()
	target, err := filepath.Abs("maxwell/target")
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(target, "lib")); err != nil {
		m.t.Fatal("Maxwell is not there: run tests/e2e/databases/install, or skip these tests by -short")
	}
	self := account{uid: os.Getuid(), gid: os.Getgid()}
	command := self.command(syscall.SIGKILL, program(m.t, "java"), "-Xmx512m", "-XX:+UseSerialGC", "-Duser.timezone=UTC",
		"-cp", filepath.Join(target, "classes")+":"+filepath.Join(target, "lib", "*"), "com.zendesk.maxwell.Maxwell", "--host=127.0.0.1", fmt.Sprintf("--port=%d", m.port),
		"--user=cdc", "--password=cdc", "--producer=stdout", "--filter=exclude: *.*, include: shop.*", "--log_level=ERROR",
		"--output_binlog_position=true", "--output_xoffset=true", "--output_ddl=true")
	read, write, err := os.Pipe() // it is read to its end, whenever the process ends
	if err != nil {
		m.t.Fatal(err)
	}
	command.Stdout = write
	m.process = start(m.t, "maxwell", command)
	_ = write.Close()
	m.pumped = make(chan struct{})
	go m.pump(bufio.NewReaderSize(read, 1<<20), m.pumped)
}

// pump publishes what Maxwell captures. What else it prints is for people.
func (m *maxwell) pump(from *bufio.Reader, done chan<- struct{}) {
	defer close(done)
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return // it was ended: what is left is half a line
		}
		if line[0] != '{' {
			m.t.Logf("maxwell: %s", line)
			continue
		}
		if m.keep != nil {
			_, _ = fmt.Fprintf(m.keep, `{"data": %s}`+"\n", bytes.TrimSpace(line)) // for people
		}
		m.publish([]*pubsubpb.PubsubMessage{{Data: line}})
		if _, after, ok := bytes.Cut(line, []byte(`"`+markerPrefix)); ok {
			name, _, _ := bytes.Cut(after, []byte(`"`))
			if number, err := strconv.ParseInt(string(name), 10, 64); err == nil {
				m.marked.Store(max(m.marked.Load(), number))
			}
		}
	}
}

// catchUp waits until all that was committed before is captured and published. mark
// commits a row of the markers' table, again and again, since Maxwell begins with
// what is committed after it has started.
func (m *maxwell) catchUp(mark func(name string)) {
	m.t.Helper()
	first := int64(m.markers + 1)
	var last time.Time
	waitFor(m.t, "the last change to be captured", func() bool {
		if time.Since(last) > time.Second {
			last = time.Now()
			m.markers++
			mark(markerPrefix + strconv.Itoa(m.markers))
		}
		return m.marked.Load() >= first
	}, m.process)
}

// kill ends Maxwell at once; start runs it again.
func (m *maxwell) kill() {
	m.process.end(syscall.SIGKILL)
	<-m.pumped
}

// maxwellTables are the workload's tables without the types that Maxwell writes in
// forms of its own: bits as numbers, sets as arrays. Its values need no hint, but
// that bytes are in base64.
func maxwellTables() []*sourceTable {
	without := []string{"c_bits", "c_set"}
	tables := mariadbTables()
	for _, t := range tables {
		t.columns = slices.DeleteFunc(t.columns, func(c column) bool { return slices.Contains(without, c.name) })
		for i := range t.columns {
			c := &t.columns[i]
			if target, hint, _ := strings.Cut(c.target, ", from: "); hint != "base64" {
				c.target = target
			}
			switch c.name {
			case "c_binary": // the binary log has it without the zeros that it ends with
				c.text = `replace(to_base64(trim(TRAILING x'00' FROM $)), '\n', '')`
			case "c_point":
				c.text = "concat('POINT (', ST_X($), ' ', ST_Y($), ')')"
			}
		}
	}
	return tables
}

// TestMaxwell: MariaDB through Maxwell, with restarts of all three.
func TestMaxwell(t *testing.T) {
	tables := maxwellTables()
	h := mariadbHistory(t, false)
	source, ok := h.source.(*mariadb)
	if !ok {
		t.Fatalf("the source is a %T", h.source)
	}
	for _, table := range tables {
		source.exec(h.dialect.create(table)...)
	}
	source.exec("CREATE TABLE markers (name varchar(64) PRIMARY KEY)")
	s := startServices(t, h.dialect.config("maxwell", tables))
	m := &maxwell{t: t, port: source.port, publish: s.publish}
	if file := keepCaptured(t); file != nil {
		m.keep = file
	}
	h.format, h.tables = "maxwell", tables
	s.launch()
	m.start()
	m.catchUp(h.mark)

	seed, n := seedOf(t), transactions(t)
	if n == defaultTransactions {
		n /= 3
	}
	w := &workload{t: t, r: rand.New(rand.NewPCG(seed, 1)), d: h.dialect, db: source.pool(), tables: tables, setup: h.setup, expected: h.expected}
	w.connect()
	w.run(n / 4)
	w.commit()
	source.exec(h.addColumns()...)
	w.altered = true
	w.run(n / 2)
	m.kill()
	w.disconnect()
	source.restart()
	w.db = source.pool()
	w.connect()
	m.start()
	w.run(3 * n / 4)
	s.kill()
	s.launch()
	w.run(n)
	w.commit()
	t.Logf("%d transactions, %v", w.ended, w.counts)
	m.catchUp(h.mark)
	m.kill()
	h.compareAll(s)
}
