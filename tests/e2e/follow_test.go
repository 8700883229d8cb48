package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// followConfig has a table that a source's changes go to, and one that follows it.
const followConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: true
window: 20ms
dead_letters: {topic: projects/demo/topics/dead}
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id, shop]
    columns: &columns
      - {name: order_id, type: INT64, mode: REQUIRED}
      - {name: shop, type: STRING, mode: REQUIRED}
      - {name: total, type: NUMERIC}
      - {name: weight, type: FLOAT64}
      - {name: paid, type: BOOL}
      - {name: placed, type: TIMESTAMP}
      - {name: delivery, type: DATE}
      - {name: local, type: DATETIME}
      - {name: clock, type: TIME}
      - {name: took, type: INTERVAL}
      - {name: raw, type: BYTES}
      - {name: doc, type: JSON}
      - {name: tags, type: STRING, mode: REPEATED}
      - {name: address, type: STRUCT, fields: [{name: city, type: STRING}, {name: zip, type: INT64}]}
  - source: shop.orders
    destination: second.orders
    primary_key: [order_id, shop]
    columns: *columns
`

// changes runs "cdc changes" of shop.orders to the pipeline's own topic.
func (s *services) changes(ctx context.Context, position string, args ...string) (said string, err error) {
	s.t.Helper()
	command := exec.CommandContext(ctx, binary(s.t, "cdc"), "changes", "-position", position, "-bigquery_rest_endpoint", s.bigquery.RESTAddr(), "-range", "12m")
	command.Args = append(append(command.Args, args...), "demo.shop.orders")
	command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+s.pubsub.Addr)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	return string(out) + stderr.String(), err
}

// post asks the emulator's REST or admin API for something.
func (s *services) post(path, body string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.bigquery.RESTAddr()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var text bytes.Buffer
	_, _ = text.ReadFrom(response.Body)
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s\n%s", path, response.Status, text.String())
	}
}

// A second table that follows the first by its change history becomes what the first
// is, though cdc changes is killed, begins again from positions of long ago, and every
// range is read at another time.
func TestFollow(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := startServices(t, followConfig)
	binary(t, "cdc")
	l := s.launch()
	l.waitFor("the table", func() bool { _, err := s.bigquery.Rows(context.Background(), "shop", "orders"); return err == nil })
	s.post("/bigquery/v2/projects/demo/queries", `{"useLegacySql": false, "query": "ALTER TABLE shop.orders SET OPTIONS (enable_change_history = TRUE)"}`)
	position := filepath.Join(t.TempDir(), "position.json")
	args := []string{"-topic", launchTopic, "-source", "shop.orders"}
	var old []byte
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	lsn := uint64(100)
	for round := range 6 {
		for range 40 {
			key := fmt.Sprintf(`"order_id":%d,"shop":"%s"`, r.IntN(20), []string{"a", "ä/b"}[r.IntN(2)])
			c := pgChange{table: "public.orders", op: "u", lastCommit: lsn, lsn: lsn + 1}
			if c.after = fmt.Sprintf(`{%s,"total":"%d.50","weight":%d.25,"paid":%t,"placed":"2026-03-09T09:28:27.%06dZ","delivery":"2026-03-10",`+
				`"local":"2026-03-09T09:28:27.5","clock":"09:28:27","took":"-0-1 0 -0:0:0.5","raw":"AP8=","doc":"{\"n\":%d.0}","tags":["x","y"],"address":{"city":"Bonn","zip":%d}}`,
				key, lsn, lsn, lsn%3 == 0, lsn, lsn, lsn); r.IntN(4) == 0 {
				c.op, c.before, c.after = "d", "{"+key+"}", ""
			}
			lsn += 10
			s.publish(c.message())
		}
		s.waitAcked(l)
		for range 2 { // what came is applied, and the history told of once it is ten minutes old
			s.post("/emulator/v1/clock", `{"advance": "11m"}`)
		}
		switch round {
		case 1, 3: // killed, somewhere
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(300))*time.Millisecond)
			_, _ = s.changes(ctx, position, args...)
			cancel()
		case 2:
			old, _ = os.ReadFile(position)
		case 4: // begins again from long ago
			if err := os.WriteFile(position, old, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if round%2 == 0 {
			if said, err := s.changes(t.Context(), position, args...); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
		}
	}
	s.post("/emulator/v1/clock", `{"advance": "11m"}`)
	said, err := s.changes(t.Context(), position, args...)
	if err != nil || !strings.Contains(said, "BigQuery will bill") {
		t.Fatalf("%v\n%s", err, said)
	}
	s.waitAcked(l)
	l.stop()
	if letters := s.deadLetters(); len(letters) > 0 {
		t.Errorf("there are dead letters: %v", letters)
	}
	rows := func(dataset string) []string {
		texts, err := s.bigquery.Rows(context.Background(), dataset, "orders")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, text := range texts {
			all = append(all, string(text))
		}
		return all
	}
	first := rows("shop")
	if diff := cmp.Diff(first, rows("second")); diff != "" || len(first) < 5 {
		t.Errorf("of %d rows (-first +second):\n%s", len(first), diff)
	}

	// As JSON Lines, from the beginning, and no more than may be billed.
	from := filepath.Join(t.TempDir(), "other.json")
	said, err = s.changes(t.Context(), from)
	if n := strings.Count(said, `{"_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"0/`); err != nil || n < 50 {
		t.Errorf("%d lines, %v\n%s", n, err, said)
	}
	if said, err := s.changes(t.Context(), from+"2", "-max_bytes", "1"); err == nil || !strings.Contains(said, "more than is allowed") {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := s.changes(t.Context(), from+"2", "-dry_run"); err != nil || strings.Contains(said, "_CHANGE_TYPE") {
		t.Errorf("%v\n%s", err, said)
	}
	if _, err := os.Stat(from + "2"); err == nil {
		t.Error("a position was stored though nothing was read")
	}
}
