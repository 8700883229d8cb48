package databases

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// captured is a message as debezium/ writes it, and cmd/local reads it.
type captured struct {
	OrderingKey string            `json:"ordering_key"`
	Attributes  map[string]string `json:"attributes"`
	Data        json.RawMessage   `json:"data"` // its exact bytes; a tombstone's are empty
}

// debezium is a connector in a process of its own. What it captures is published;
// it stores its offsets once that has happened, so that a run after a kill captures
// again what was not.
type debezium struct {
	t          testing.TB
	properties string // the file
	offsets    string // the file that the connector keeps them in
	publish    func([]*pubsubpb.PubsubMessage)
	keep       io.Writer // every line captured; nil for none
	process    *process
	pumped     chan struct{} // closed when the process's output has ended

	markers int // that were made

	mu          sync.Mutex
	marked      int // the highest marker that was published
	incremental int // messages of incremental snapshots
	batches     int // that this run has published
}

// newDebezium makes a connector of a class with settings, which is not running.
func newDebezium(t testing.TB, publish func([]*pubsubpb.PubsubMessage), settings map[string]string) *debezium {
	t.Helper()
	directory := t.TempDir()
	all := map[string]string{
		"name":                          "e2e",
		"topic.prefix":                  "acme",
		"offset.storage":                "org.apache.kafka.connect.storage.FileOffsetBackingStore",
		"offset.storage.file.filename":  filepath.Join(directory, "offsets"),
		"offset.flush.interval.ms":      "0",    // with each batch
		"errors.max.retries":            "1000", // the database is restarted
		"errors.retry.delay.initial.ms": "100",
		"errors.retry.delay.max.ms":     "1000",
		"poll.interval.ms":              "20",
		"tombstones.on.delete":          "false", // as Debezium Server sets it for Pub/Sub
	}
	maps.Copy(all, settings)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s=%s\n", name, strings.ReplaceAll(all[name], `\`, `\\`))
	}
	d := &debezium{t: t, properties: filepath.Join(directory, "engine.properties"), publish: publish, offsets: all["offset.storage.file.filename"]}
	if err := os.WriteFile(d.properties, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if file := keepCaptured(t); file != nil {
		d.keep = file
	}
	return d
}

// keepCaptured returns a file for the messages that the test captures, or nil where
// nobody wants them.
func keepCaptured(t testing.TB) *os.File {
	t.Helper()
	directory := os.Getenv("BEAMCDC_E2E_CAPTURE")
	if directory == "" {
		return nil
	}
	file, err := os.Create(filepath.Join(directory, strings.ReplaceAll(t.Name(), "/", "_")+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// start runs the connector from where its offsets say.
func (d *debezium) start() {
	d.t.Helper()
	target, err := filepath.Abs("debezium/target")
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(target, "lib")); err != nil {
		d.t.Fatalf("the Java program in tests/e2e/databases/debezium is not built: run tests/e2e/databases/install, or skip these tests by -short")
	}
	self := account{uid: os.Getuid(), gid: os.Getgid()}
	command := self.command(syscall.SIGKILL, program(d.t, "java"), "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Duser.timezone=UTC",
		"-cp", filepath.Join(target, "classes")+":"+filepath.Join(target, "lib", "*"), "capture.Capture", d.properties)
	stdin, err := command.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	read, write, err := os.Pipe() // it is read to its end, whenever the process ends
	if err != nil {
		d.t.Fatal(err)
	}
	command.Stdout = write
	d.process = start(d.t, "debezium", command)
	_ = write.Close()
	if saved, err := os.ReadFile(d.offsets + ".saved"); err == nil {
		if err := os.WriteFile(d.offsets, saved, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	d.t.Log("debezium starts")
	d.pumped, d.batches = make(chan struct{}), 0
	go d.pump(bufio.NewReaderSize(read, 1<<20), stdin, d.pumped)
}

// pump publishes what the connector captures, batch by batch.
func (d *debezium) pump(from *bufio.Reader, to io.Writer, done chan<- struct{}) {
	defer close(done)
	var batch []*pubsubpb.PubsubMessage
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return // it was ended: what is left is half a batch
		}
		if len(line) > 1 {
			m, err := parseCaptured(line)
			if err != nil {
				d.t.Errorf("debezium/ wrote what is no message: %v", err)
				return
			}
			batch = append(batch, m)
			if d.keep != nil {
				_, _ = d.keep.Write(line) // for people
			}
			continue
		}
		d.saveOffsets()
		d.publish(batch)
		d.note(batch)
		batch = nil
		if _, err := to.Write([]byte{'.'}); err != nil {
			return
		}
	}
}

// saveOffsets copies the offsets' file while the connector waits. It writes the file
// in place: killed meanwhile it would have none left, and take a new snapshot, which
// tells of no row that was deleted before it.
func (d *debezium) saveOffsets() {
	offsets, err := os.ReadFile(d.offsets)
	if err == nil {
		err = os.WriteFile(d.offsets+".saved", offsets, 0o600)
	}
	if err != nil && !os.IsNotExist(err) { // there are none before the first batch is done
		d.t.Errorf("saving the connector's offsets: %v", err)
	}
}

func parseCaptured(line []byte) (*pubsubpb.PubsubMessage, error) {
	var c captured
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, err
	}
	return &pubsubpb.PubsubMessage{Data: c.Data, OrderingKey: c.OrderingKey, Attributes: c.Attributes}, nil
}

// markerPrefix begins the value of a row that tells how far the capture has come.
const markerPrefix = "marker-"

// note remembers the markers that were published. One that a snapshot read says
// nothing: the rest of the snapshot may follow it.
func (d *debezium) note(batch []*pubsubpb.PubsubMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.batches++
	for _, m := range batch {
		if bytes.Contains(m.GetData(), []byte(`"snapshot":"incremental"`)) {
			d.incremental++
		}
		if _, after, ok := bytes.Cut(m.GetData(), []byte(`"`+markerPrefix)); ok && bytes.Contains(m.GetData(), []byte(`op":"c"`)) {
			name, _, _ := bytes.Cut(after, []byte(`"`))
			if number, err := strconv.Atoi(string(name)); err == nil {
				d.marked = max(d.marked, number)
			}
		}
	}
}

// waitBatches waits until the run has published so many batches.
func (d *debezium) waitBatches(n int) {
	d.t.Helper()
	waitFor(d.t, "messages to be captured", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.batches >= n
	}, d.process)
}

// waitIncremental waits until rows of an incremental snapshot were published. ask
// asks for one. It is called again and again: a snapshot goes on when changes come,
// and of its rows those are left out that changed while they were read.
func (d *debezium) waitIncremental(ask func()) {
	d.t.Helper()
	var last time.Time
	waitFor(d.t, "the incremental snapshot", func() bool {
		if time.Since(last) > 2*time.Second {
			last = time.Now()
			ask()
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.incremental > 0
	}, d.process)
}

// catchUp waits until all that was committed before is captured and published.
// mark commits a row of the markers' table: changes are captured in the order of
// their commits. It is called again and again, since what is committed before a
// snapshot is not captured as a change.
func (d *debezium) catchUp(mark func(name string)) {
	d.t.Helper()
	first := d.markers + 1 // those before it may still be under way
	var last time.Time
	waitFor(d.t, "the last change to be captured", func() bool {
		if time.Since(last) > time.Second {
			last = time.Now()
			d.markers++
			mark(markerPrefix + strconv.Itoa(d.markers))
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.marked >= first
	}, d.process)
}

// kill ends the connector at once; start runs it again.
func (d *debezium) kill() {
	d.process.end(syscall.SIGKILL)
	<-d.pumped
}
