package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"beamcdc/emulator"
	"beamcdc/transforms/deadletter"
	"beamcdc/transforms/pubsubsource"
)

func TestMain(m *testing.M) { ptest.Main(m) }

// world is everything around a pipeline: Pub/Sub and BigQuery, by address.
type world struct {
	t        *testing.T
	pubsub   *pstest.Server
	bigquery *emulator.Server
	topic    string
	options  Options
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
	type outcome struct {
		result beam.PipelineResult
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := ptest.RunWithMetrics(p)
		done <- outcome{result, err}
	}()
	deadline := time.After(30 * time.Second)
	for drained := false; ; {
		select {
		case o := <-done:
			if o.err != nil {
				w.t.Fatal(o.err)
			}
			if err := pubsubsource.Close(w.t.Context(), w.options.SourceConfig()); err != nil {
				w.t.Fatal(err)
			}
			counts := make(map[string]int64)
			for _, c := range o.result.Metrics().AllMetrics().Counters() {
				counts[c.Namespace()+"/"+c.Name()] += c.Result()
			}
			return counts
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
		if strings.HasPrefix(name, "decode/control_") {
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
		{"letters stored", counts["deadletter/letters"], counts["decode/letters"] + counts["keyed/letters"] + counts["bqcdc/rows_dead_lettered"]},
		{"messages acked", counts["pubsubsource/messages_acked"], messages},
	} {
		if equation.got != equation.want {
			t.Errorf("%s: %d, want %d; counters %v", equation.name, equation.got, equation.want, counts)
		}
	}
}
