package pipeline

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
	"beamcdc/internal/counters"
	"beamcdc/internal/prism"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/pubsubsource"
)

func TestMain(m *testing.M) {
	if err := counters.Enable(); err != nil {
		panic(err)
	}
	prism.Prepare()
	ptest.Main(m)
}

// world is everything around a pipeline: Pub/Sub and BigQuery, by address.
type world struct {
	t        *testing.T
	pubsub   *pstest.Server
	bigquery *emulator.Server
	topic    string
	options  Options

	publishing *sync.WaitGroup // nil when all is published before the pipeline runs
}

// newWorld starts the servers and returns them with a pipeline's options, the
// configuration's text and the world's addresses.
func newWorld(t *testing.T, config string) *world {
	t.Helper()
	name := strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
	w := &world{t: t, pubsub: pstest.NewServer(), topic: "projects/demo/topics/" + name}
	t.Cleanup(func() { _ = w.pubsub.Close() })
	var err error
	if w.bigquery, err = emulator.New(emulator.Options{Project: "demo"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.bigquery.Close() })
	w.options = Parse("test.yaml", []byte(config))
	subscription := "projects/demo/subscriptions/" + name
	for setting, value := range map[string]string{
		"subscription": subscription, "pubsub_endpoint": w.pubsub.Addr, "pubsub_plaintext": "true",
		"bigquery_rest_endpoint": w.bigquery.RESTAddr(), "bigquery_grpc_endpoint": w.bigquery.GRPCAddr(), "bigquery_plaintext": "true",
	} {
		if err := w.options.Set(setting, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.pubsub.GServer.CreateTopic(context.Background(), &pubsubpb.Topic{Name: w.topic}); err != nil {
		t.Fatal(err)
	}
	_, err = w.pubsub.GServer.CreateSubscription(context.Background(), &pubsubpb.Subscription{Name: subscription, Topic: w.topic, AckDeadlineSeconds: 60})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// publish publishes messages whose ordering key is the row's key.
func (w *world) publish(messages ...message) {
	for _, m := range messages {
		w.pubsub.PublishOrdered(w.topic, []byte(m.data), nil, m.key)
	}
}

type message struct{ data, key string }

// run runs the pipeline until everything that was published is acked, and
// returns its counters as "namespace/name".
func (w *world) run() map[string]int64 {
	w.t.Helper()
	if problems := Check(w.t.Context(), w.options); len(problems) > 0 {
		w.t.Fatal(problems)
	}
	p, s := beam.NewPipelineWithRoot()
	Build(s, w.options)
	before := counters.Now()
	done := make(chan error, 1)
	go func() { done <- ptest.Run(p) }()
	deadline := time.After(2 * time.Minute)
	for drained := false; ; {
		select {
		case err := <-done:
			if err != nil {
				w.t.Fatal(err)
			}
			if err := pubsubsource.Close(w.t.Context(), w.options.SourceConfig()); err != nil {
				w.t.Fatal(err)
			}
			return before.Since()
		case <-deadline:
			w.t.Fatalf("not acked in time: %+v", pubsubsource.Stats(w.options.SourceConfig()))
		case <-time.After(20 * time.Millisecond):
			if !drained && w.acked() {
				drained = true
				pubsubsource.Drain(w.options.SourceConfig())
			}
		}
	}
}

// acked reports whether all messages of the topic are acked.
func (w *world) acked() bool {
	if w.publishing != nil {
		w.publishing.Wait()
	}
	for _, m := range w.pubsub.Messages() {
		if m.Topic == w.topic && m.Acks == 0 {
			return false
		}
	}
	return true
}

// rows returns a table's rows as JSON.
func (w *world) rows(dataset, table string) []string {
	w.t.Helper()
	rows, err := w.bigquery.Rows(w.t.Context(), dataset, table)
	if err != nil {
		w.t.Fatal(err)
	}
	texts := []string{}
	for _, row := range rows {
		texts = append(texts, string(row))
	}
	return texts
}

// debezium renders a change of public.orders, as Debezium publishes it.
func debezium(op string, before, after any, lastCommit, lsn int) message {
	source := map[string]any{
		"connector": "postgresql", "db": "shop", "schema": "public", "table": "orders", "snapshot": "false",
		"lsn": lsn, "sequence": fmt.Sprintf(`["%d","%d"]`, lastCommit, lsn), "ts_ms": 1741507626005,
	}
	text, err := json.Marshal(map[string]any{"op": op, "before": before, "after": after, "source": source, "ts_ms": 1741507626400})
	if err != nil {
		panic(err)
	}
	row, _ := after.(map[string]any)
	if row == nil {
		row, _ = before.(map[string]any)
	}
	return message{string(text), fmt.Sprintf(`{"id":%v}`, row["id"])}
}

func order(id int, status string) map[string]any {
	return map[string]any{"id": id, "status": status}
}

const ordersConfig = `
create_tables: true
window: 300ms
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [id]
    columns:
      - {name: id, type: INT64, mode: REQUIRED}
      - {name: status, type: STRING}
`

func TestBuild_directory(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "dead")
	w := newWorld(t, ordersConfig+"dead_letters: {directory: "+directory+"}")
	w.publish(
		debezium("u", nil, order(1, "shipped"), 30, 31), // the later change comes first
		debezium("c", nil, order(1, "placed"), 10, 11),
		debezium("c", nil, order(2, "placed"), 12, 13),
		debezium("d", order(2, ""), nil, 40, 41),
		debezium("u", order(3, "placed"), order(4, "placed"), 50, 51), // a changed key
		debezium("c", nil, order(3, "placed"), 14, 15),
		debezium("u", nil, order(5, "?"), 60, 61),
		message{`{"ts_ms":1741507626400}`, ""},
		message{`{"op":`, "poison"},
		debezium("c", nil, map[string]any{"id": 6, "status": "placed", "color": "red"}, 70, 71),
		debezium("c", nil, map[string]any{"id": nil, "status": "placed"}, 72, 73),
	)
	counts := w.run()
	want := []string{`{"id":"1","status":"shipped"}`, `{"id":"4","status":"placed"}`, `{"id":"5","status":"?"}`}
	if diff := cmp.Diff(want, w.rows("shop", "orders")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	letters, err := deadletter.ReadDirectory(directory)
	if err != nil {
		t.Fatal(err)
	}
	reasons := make(map[string]int)
	for _, l := range letters {
		reasons[l.Stage+" "+l.Reason]++
	}
	if diff := cmp.Diff(map[string]int{"decode bad_json": 1, "encode unknown_column": 1, "key missing_key": 1}, reasons); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	checkCounts(t, counts, 11)
	if got := counts["keyed/key_changes"]; got != 1 {
		t.Errorf("%d key changes, want 1", got)
	}
}

// checkCounts checks invariant 4: what came in is what was written, superseded,
// filtered, a control message, or a dead letter.
func checkCounts(t *testing.T, counts map[string]int64, messages int64) {
	t.Helper()
	control := int64(0)
	for name, n := range counts {
		if strings.HasPrefix(name, "decode/control/") {
			control += n
		}
	}
	for _, equation := range []struct {
		name      string
		got, want int64
	}{
		{"messages", counts["decode/messages"], messages},
		{"messages decoded, control, letters", counts["decode/decoded"] + control + counts["decode/letters"], messages},
		{"events keyed", counts["keyed/events"], counts["decode/events"]},
		{
			"rows made of events", counts["keyed/upserts"] + counts["keyed/deletes"],
			counts["keyed/events"] + counts["keyed/key_changes"] - counts["keyed/letters"] - counts["keyed/filtered"],
		},
		{"rows coalesced", counts["keyed/rows_coalesced"] + counts["keyed/rows_superseded"], counts["keyed/upserts"] + counts["keyed/deletes"]},
		{"letters stored", counts["deadletter/letters"], counts["decode/letters"] + counts["keyed/letters"] + counts["bqcdc/rows_rejected"]},
		{"messages acked", counts["pubsubsource/messages_acked"], messages},
	} {
		if equation.got != equation.want {
			t.Errorf("%s: %d, want %d; counters %v", equation.name, equation.got, equation.want, counts)
		}
	}
}

func TestBuild_topic(t *testing.T) {
	dead := "projects/demo/topics/dead"
	w := newWorld(t, ordersConfig+"dead_letters: {topic: "+dead+"}\nunlisted_tables: filter\n")
	if problems := Check(t.Context(), w.options); len(problems) == 0 {
		t.Error("a topic that is not there passed the check")
	}
	if _, err := w.pubsub.GServer.CreateTopic(context.Background(), &pubsubpb.Topic{Name: dead}); err != nil {
		t.Fatal(err)
	}
	other := debezium("c", nil, order(1, "x"), 10, 11)
	other.data = strings.Replace(other.data, `"table":"orders"`, `"table":"carts"`, 1)
	w.publish(
		debezium("c", nil, order(1, "placed"), 10, 11),
		message{`no json`, "k"},
		other,
	)
	counts := w.run()
	if diff := cmp.Diff([]string{`{"id":"1","status":"placed"}`}, w.rows("shop", "orders")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	checkCounts(t, counts, 3)
	if counts["keyed/filtered"] != 1 {
		t.Errorf("%d changes of an unlisted table were filtered, want 1", counts["keyed/filtered"])
	}
	letters := 0
	for _, m := range w.pubsub.Messages() {
		if m.Topic == dead {
			letters++
			if string(m.Data) != "no json" || m.Attributes[deadletter.AttributeReason] != "bad_json" || m.Attributes[deadletter.AttributeOrderingKey] != "k" {
				t.Errorf("letter %q %v", m.Data, m.Attributes)
			}
		}
	}
	if letters != 1 {
		t.Errorf("%d letters in the topic, want 1", letters)
	}
}

func TestBuild_table(t *testing.T) {
	w := newWorld(t, ordersConfig+"dead_letters: {table: ops.dead_letters}\n")
	large := strings.Repeat("x", deadletter.MaxPieceBytes+1_200_000)
	w.publish(
		debezium("c", nil, order(1, "placed"), 10, 11),
		message{`no json`, "k"},
		debezium("c", nil, order(2, large), 12, 13), // a row that fits into no request
		debezium("u", order(3, large), order(4, "placed"), 14, 15),
	)
	counts := w.run()
	if diff := cmp.Diff([]string{`{"id":"1","status":"placed"}`, `{"id":"4","status":"placed"}`}, w.rows("shop", "orders")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got := counts["pubsubsource/messages_acked"]; got != 4 {
		t.Errorf("%d messages acked, want 4", got)
	}
	type letter struct {
		Stage, Reason, Piece, Pieces, Data string
		OrderingKey                        string `json:"ordering_key"`
		MessageID                          string `json:"message_id"`
	}
	var got []string
	data := make(map[string][]byte)
	for _, text := range w.rows("ops", "dead_letters") {
		var l letter
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s/%s %s", l.Stage, l.Reason, l.Piece, l.Pieces, l.OrderingKey))
		piece, err := base64.StdEncoding.DecodeString(l.Data)
		if err != nil {
			t.Fatal(err)
		}
		data[l.OrderingKey] = append(data[l.OrderingKey], piece...)
	}
	slices.Sort(got)
	want := []string{"decode bad_json 1/1 k", `encode row_too_large 1/2 {"id":2}`, `encode row_too_large 2/2 {"id":2}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("letters (-want +got):\n%s", diff)
	}
	if want := debezium("c", nil, order(2, large), 12, 13).data; string(data[`{"id":2}`]) != want {
		t.Errorf("the pieces make %d bytes, want the message's %d", len(data[`{"id":2}`]), len(want))
	}
}

// No row may be late: Beam would drop it without a word, and its message would
// never be acked. Windows are short here, and messages come all the time.
func TestBuild_dropsNothingLate(t *testing.T) {
	w := newWorld(t, ordersConfig+"dead_letters: {directory: "+t.TempDir()+"}")
	if err := w.options.Set("window", "7ms"); err != nil {
		t.Fatal(err)
	}
	const messages = 1000
	var published sync.WaitGroup
	published.Go(func() {
		for i := range messages {
			w.publish(debezium("c", nil, order(i%40, fmt.Sprint(i)), 10+i, 10+i))
			if i%100 == 99 {
				time.Sleep(3 * time.Millisecond)
			}
		}
	})
	w.publishing = &published
	counts := w.run()
	checkCounts(t, counts, messages)
	if got := len(w.rows("shop", "orders")); got != 40 {
		t.Errorf("%d rows, want 40", got)
	}
}

// A rule's expression orders its changes instead of the format: here the format's
// order, by commit, is the reverse of the expression's.
func TestBuild_sequence(t *testing.T) {
	w := newWorld(t, ordersConfig+"    sequence: data.source.lsn\ndead_letters: {directory: "+t.TempDir()+"}")
	var messages []message
	for i := range 5 {
		messages = append(messages, debezium("u", nil, order(1, fmt.Sprint(i)), 100-i, 10+i))
	}
	messages[1], messages[4] = messages[4], messages[1]
	w.publish(messages...)
	checkCounts(t, w.run(), 5)
	if diff := cmp.Diff([]string{`{"id":"1","status":"4"}`}, w.rows("shop", "orders")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Invariant 2, through everything: a source's history, shuffled and partly
// delivered twice, leaves the source's rows.
func TestBuild_convergence(t *testing.T) {
	w := newWorld(t, ordersConfig+"dead_letters: {directory: "+t.TempDir()+"}")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same history every time
	source := make(map[int]string)
	var history []message
	lsn, lastCommit := 0xFFFFFF00, 0xFFFFFE00 // on the way from F/FFFFFF00 to 10/200
	for change := range 300 {
		lsn += 0x40 + random.IntN(0x4000000)
		id, other, status := 1+random.IntN(12), 1+random.IntN(12), fmt.Sprint(change)
		before, there := source[id]
		_, taken := source[other]
		switch pick := random.IntN(4); {
		case !there:
			history = append(history, debezium("c", nil, order(id, status), lastCommit, lsn))
			source[id] = status
		case pick == 0:
			history = append(history, debezium("d", order(id, before), nil, lastCommit, lsn))
			delete(source, id)
		case pick == 1 && !taken:
			history = append(history, debezium("u", order(id, before), order(other, status), lastCommit, lsn))
			delete(source, id)
			source[other] = status
		default:
			history = append(history, debezium("u", nil, order(id, status), lastCommit, lsn))
			source[id] = status
		}
		if random.IntN(3) == 0 {
			lastCommit = lsn
		}
	}
	for range 100 {
		history = append(history, history[random.IntN(300)])
	}
	random.Shuffle(len(history), func(i, j int) { history[i], history[j] = history[j], history[i] })
	var published sync.WaitGroup
	published.Go(func() {
		for i := range history {
			w.publish(history[i])
			if i%80 == 79 {
				time.Sleep(150 * time.Millisecond) // some windows apart
			}
		}
	})
	w.publishing = &published
	if err := w.options.Set("window", "100ms"); err != nil {
		t.Fatal(err)
	}
	checkCounts(t, w.run(), int64(len(history)))
	want := []string{}
	for _, id := range slices.Sorted(maps.Keys(source)) {
		want = append(want, fmt.Sprintf(`{"id":"%d","status":"%s"}`, id, source[id]))
	}
	if diff := cmp.Diff(want, w.rows("shop", "orders")); diff != "" {
		t.Errorf("rows (-source +table):\n%s", diff)
	}
}
