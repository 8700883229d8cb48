package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bigquery is the emulator: a process on a file, at the same addresses each time.
type bigquery struct {
	program, db string
	grpc, rest  string // host:port
	said        func(line string)

	kills atomic.Int64

	mu       sync.Mutex
	process  *process
	active   map[string]map[string]any // faults by name
	set      []string                  // the names of those that were set last, in their order
	happened map[string]int            // how often each did, as far as a killed emulator could be asked
}

func startBigQuery(program, db string, said func(line string)) (*bigquery, error) {
	b := &bigquery{program: program, db: db, said: said, active: map[string]map[string]any{}, happened: map[string]int{}}
	for _, address := range []*string{&b.grpc, &b.rest} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address = listener.Addr().String()
		defer func() { _ = listener.Close() }()
	}
	return b, nil
}

// start starts the process and waits until it answers. The lock is held.
func (b *bigquery) start() error {
	p, err := startProcess(b.program, []string{"--grpc_addr", b.grpc, "--rest_addr", b.rest, "--project", "demo", "--db", b.db}, nil, b.said)
	if err != nil {
		return err
	}
	b.process = p
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.output(), "ready "); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.ended:
			return fmt.Errorf("the emulator ended by itself: %s", p.command.ProcessState)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the emulator is not ready after a minute")
		}
	}
	return b.setFaults()
}

func (b *bigquery) up() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.start()
}

// killed kills the emulator, does something, and starts it again on its file.
func (b *bigquery) killed(meanwhile func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.harvest()
	b.process.kill()
	b.kills.Add(1)
	meanwhile()
	return b.start()
}

func (b *bigquery) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.process != nil {
		b.process.kill()
	}
}

// fault sets a fault by a name, and reset takes it away.
func (b *bigquery) fault(name string, f map[string]any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.harvest()
	b.active[name] = f
	return b.setFaults()
}

func (b *bigquery) reset(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.harvest()
	delete(b.active, name)
	return b.setFaults()
}

// setFaults has the emulator know the active faults. The lock is held.
func (b *bigquery) setFaults() error {
	b.set = slices.Sorted(maps.Keys(b.active))
	list := make([]map[string]any, len(b.set))
	for i, name := range b.set {
		list[i] = b.active[name]
	}
	return b.call(http.MethodPut, "/emulator/v1/faults", list, nil)
}

// harvest asks how often the faults happened before they are set anew, and forgets
// those that have happened as often as they are to. The lock is held.
func (b *bigquery) harvest() {
	var answer struct {
		Faults []struct{ Happened int }
	}
	if b.call(http.MethodGet, "/emulator/v1/faults", nil, &answer) != nil || len(answer.Faults) != len(b.set) {
		return
	}
	for i, name := range b.set {
		n := answer.Faults[i].Happened
		b.happened[name[strings.Index(name, " ")+1:]] += n
		if times, ok := b.active[name]["times"].(int); ok {
			if times -= n; times <= 0 {
				delete(b.active, name)
			} else {
				b.active[name]["times"] = times
			}
		}
	}
}

// wait waits until a fault has happened as often as it is to, but not for ever: its
// table may get no rows.
func (b *bigquery) wait(name string, atMost time.Duration) {
	for deadline := time.Now().Add(atMost); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		b.mu.Lock()
		b.harvest()
		_, active := b.active[name]
		if active {
			_ = b.setFaults()
		}
		b.mu.Unlock()
		if !active {
			return
		}
	}
}

// advance moves the clock.
func (b *bigquery) advance(d time.Duration) error {
	return b.call(http.MethodPost, "/emulator/v1/clock", map[string]string{"advance": d.String()}, nil)
}

// rows returns a table's rows, pending changes applied.
func (b *bigquery) rows(dataset, table string) ([]map[string]any, error) {
	var answer struct{ Rows []map[string]any }
	err := b.call(http.MethodGet, "/emulator/v1/projects/demo/datasets/"+dataset+"/tables/"+table+"/rows", nil, &answer)
	return answer.Rows, err
}

// query returns the first value of the first row of a query's result.
func (b *bigquery) query(sql string) (string, error) {
	var answer struct {
		Rows []struct{ F []struct{ V any } }
	}
	err := b.call(http.MethodPost, "/bigquery/v2/projects/demo/queries", map[string]any{"query": sql, "useLegacySql": false, "timeoutMs": 60_000}, &answer)
	if err != nil || len(answer.Rows) == 0 || len(answer.Rows[0].F) == 0 {
		return "", fmt.Errorf("%s: no row: %w", sql, err)
	}
	return fmt.Sprint(answer.Rows[0].F[0].V), nil
}

// statusError is an answer other than 200.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %.500s", e.code, e.text) }

// call makes a request, and reads its answer.
func (b *bigquery) call(method, path string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, "http://"+b.rest+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 5 * time.Minute}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %w", method, path, &statusError{response.StatusCode, string(text)})
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
