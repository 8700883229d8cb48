package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"

	"beamcdc/cmd/local/embeddedpubsub"
	"beamcdc/emulator"
)

const (
	topic        = "projects/p/topics/changes"
	subscription = "projects/p/subscriptions/changes"
	deadTopic    = "projects/p/topics/dead"
)

// world is the two emulators and a configuration for them.
type world struct {
	t      *testing.T
	pubsub *embeddedpubsub.Server
	server *emulator.Server
	client *bigquery.Client
	args   []string
}

func newWorld(t *testing.T, tables string) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	if w.pubsub, err = embeddedpubsub.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pubsub.Close)
	if w.server, err = emulator.New(emulator.Options{Project: "p"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.server.Close() })
	if err := w.server.CreateDataset(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if w.client, err = bigquery.NewClient(t.Context(), "p", option.WithEndpoint(w.server.RESTAddr()), option.WithoutAuthentication()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{topic, deadTopic} {
		if err := w.pubsub.CreateTopic(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string]string{subscription: topic, "projects/p/subscriptions/dead": deadTopic} {
		if err := w.pubsub.CreateSubscription(t.Context(), name, of); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	text := "source: {subscription: " + subscription + "}\ndead_letters: {topic: " + deadTopic + "}\ntables:\n" + tables
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.args = []string{
		"-config", file, "-pubsub_endpoint", w.pubsub.Addr, "-pubsub_plaintext",
		"-bigquery_rest_endpoint", w.server.RESTAddr(), "-bigquery_grpc_endpoint", w.server.GRPCAddr(), "-wait", "2s",
	}
	return w
}

// run runs the command, and returns what it printed.
func (w *world) run(more ...string) (string, error) {
	w.t.Helper()
	var stdout, stderr strings.Builder
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	err := Run(ctx, append(w.args, more...), &stdout, &stderr)
	return stdout.String(), err
}

func (w *world) sql(statement string) {
	w.t.Helper()
	job, err := w.client.Query(statement).Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	status, err := job.Wait(w.t.Context())
	if err != nil || status.Err() != nil {
		w.t.Fatalf("%s: %v, %v", statement, err, status)
	}
}

func (w *world) publish(data ...string) {
	w.t.Helper()
	for _, d := range data {
		if err := w.pubsub.Publish(w.t.Context(), topic, &pubsubpb.PubsubMessage{Data: []byte(d)}); err != nil {
			w.t.Fatal(err)
		}
	}
}

const items = `  - {source: inventory.items, destination: d.items}
`

// message is a Debezium message of a row of inventory.items.
func message(lsn int, row string) string {
	return fmt.Sprintf(`{"op":"u","before":null,"after":%s,"source":{"connector":"postgresql","schema":"inventory","table":"items","lsn":%d,"ts_ms":1700000000000,"sequence":"[\"%d\",\"%d\"]"}}`, row, lsn, lsn-1, lsn)
}

// A pipeline that nothing is wrong with: the report says so, and no message is acked.
func TestRun_nothingWrong(t *testing.T) {
	w := newWorld(t, items)
	w.sql("CREATE TABLE d.items (id INT64 NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED) CLUSTER BY id OPTIONS (max_staleness = INTERVAL 15 MINUTE)")
	w.publish(message(10, `{"id":1,"name":"a"}`), message(20, `{"id":1,"name":"b"}`), message(30, `{"id":2,"name":"c"}`))
	out, err := w.run("-messages", "3")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"3 messages: 3 changes of 1 table, 0 control messages, 0 that would be dead letters", "subscription " + subscription} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "fatal:") || strings.Contains(out, "could not be checked.") && !strings.Contains(out, "0 could not be checked.") {
		t.Errorf("something is wrong:\n%s", out)
	}
	if n := w.pubsub.Unacked(topic); n != 3 {
		t.Errorf("%d messages are unacked, want 3", n)
	}
}

// Everything that the services and the messages show, in one run.
func TestRun_findings(t *testing.T) {
	w := newWorld(t, items+`  - {source: inventory.gone, destination: d.gone}
  - {source: inventory.keyless, destination: d.keyless, primary_key: [id]}
`)
	w.sql("CREATE TABLE d.items (id INT64 NOT NULL, n INT64, doc STRING, PRIMARY KEY (id) NOT ENFORCED)")
	w.sql("INSERT INTO d.items (id) VALUES (1)")
	w.sql("CREATE TABLE d.keyless (id INT64)")
	w.publish(
		message(10, `{"id":1,"n":1}`), message(20, `{"id":1,"n":"many"}`), message(15, `{"id":1,"n":1,"color":"red"}`),
		message(30, `{"id":2,"doc":"__debezium_unavailable_value"}`), `{"half":`,
		strings.Replace(message(40, `{"id":1}`), `"items"`, `"other"`, 1),
		strings.NewReplacer(`"lsn":50,`, "", `,"sequence":"[\"49\",\"50\"]"`, "").Replace(message(50, `{"id":9,"n":"much"}`)),
		strings.Replace(message(60, "null"), `"op":"u"`, `"op":"t"`, 1),
	)
	out, err := w.run("-messages", "8")
	if err == nil {
		t.Error("no error")
	}
	for _, want := range []string{
		"fatal: table p.d.gone\n  it does not exist",
		"fatal: table p.d.keyless",
		"warning: table p.d.items\n  it is not clustered by its primary key",
		"warning: table p.d.items\n  it has no max_staleness",
		"1 statement of DML changed it during the last day",
		"encode: bad_value n: ", "encode: unknown_column color: ", "encode: unavailable_value doc: ",
		"decode: bad_json: ", "key: unlisted_table: no rule matches this table",
		"warning: changes of inventory.items\n  key: no_position: ", "docs/sources.md",
		"warning: changes of inventory.items\n  truncate: ",
		// All but the first, each once: that without a position has a bad value, too.
		"7 that would be dead letters",
		"order: a row's later message has a lower position",
		"REPLICA IDENTITY FULL",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "many") || strings.Contains(out, "much") {
		t.Errorf("a row's value is shown:\n%s", out)
	}
}

// What is missing is fatal, and said once.
func TestRun_missing(t *testing.T) {
	w := newWorld(t, items)
	out, err := w.run("-subscription", "projects/p/subscriptions/other", "-dead_letter_topic", "projects/p/topics/other", "-output", "json")
	if err == nil {
		t.Error("no error")
	}
	for _, want := range []string{
		`"about":"subscription projects/p/subscriptions/other","problem":"it does not exist"`,
		`"about":"dead letters' topic projects/p/topics/other","problem":"it does not exist"`,
		`"about":"table p.d.items","problem":"it does not exist"`,
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("not once %s in\n%s", want, out)
		}
	}
}

func TestRun_badUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"-config"}, {"-config", "x", "extra"}, {"-output", "xml"}, {"-runner", "spark"}, {"-messages", "-1"}, {"-unknown"}} {
		var stdout, stderr strings.Builder
		err := Run(t.Context(), args, &stdout, &stderr)
		if _, ok := err.(UsageError); !ok { //nolint:errorlint // it is returned as it is
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Without credentials nothing else is advised but to get some.
func TestExamine_withoutCredentials(t *testing.T) {
	x := &examination{}
	x.add(
		Finding{Fatal, aboutCredentials, "there are no application default credentials", "get some"},
		Finding{Unknown, "subscription s", "whether another consumer reads it: credentials: could not find default credentials. See https://…", "grant monitoring.timeSeries.list"},
		Finding{Fatal, "BigQuery", "creating BigQuery's client: bigquery: constructing client: credentials: could not find default credentials.", ""},
		Finding{Warning, "table t", "it has no max_staleness", "set it"},
	)
	x.withoutCredentials()
	want := []Finding{
		{Fatal, aboutCredentials, "there are no application default credentials", "get some"},
		{Unknown, "subscription s", "whether another consumer reads it: there are no credentials", "see credentials, above"},
		{Fatal, "BigQuery", "creating BigQuery's client: there are no credentials", "see credentials, above"},
		{Warning, "table t", "it has no max_staleness", "set it"},
	}
	if diff := cmp.Diff(want, x.Findings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
