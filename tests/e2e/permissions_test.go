package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"beamcdc/internal/permission"
)

// callPermissions are the permissions that each call takes, by Google's documentation:
//
//	https://docs.cloud.google.com/pubsub/docs/access-control
//	https://docs.cloud.google.com/bigquery/docs/access-control
//	https://docs.cloud.google.com/bigquery/docs/write-api-streaming (updateData)
//	https://docs.cloud.google.com/bigquery/docs/reference/standard-sql/data-definition-language
//	https://docs.cloud.google.com/bigquery/docs/information-schema-jobs, -table-storage, -write-api
//
// A call of one's own job, and a question for one's own permissions, take none.
var callPermissions = map[string][]string{
	"google.pubsub.v1.Subscriber/StreamingPull":         {"pubsub.subscriptions.consume"},
	"google.pubsub.v1.Subscriber/Pull":                  {"pubsub.subscriptions.consume"},
	"google.pubsub.v1.Subscriber/Acknowledge":           {"pubsub.subscriptions.consume"},
	"google.pubsub.v1.Subscriber/ModifyAckDeadline":     {"pubsub.subscriptions.consume"},
	"google.pubsub.v1.Subscriber/GetSubscription":       {"pubsub.subscriptions.get"},
	"google.pubsub.v1.Publisher/Publish":                {"pubsub.topics.publish"},
	"google.pubsub.v1.Publisher/GetTopic":               {"pubsub.topics.get"},
	"google.pubsub.v1.Publisher/ListTopicSubscriptions": {"pubsub.topics.get"},
	"google.pubsub.v1.SchemaService/GetSchema":          {"pubsub.schemas.get"},
	"google.iam.v1.IAMPolicy/TestIamPermissions":        nil,

	"google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows":     {"bigquery.tables.updateData"},
	"google.cloud.bigquery.storage.v1.BigQueryWrite/GetWriteStream": {"bigquery.tables.updateData"},

	"bigquery.tables.get":                {"bigquery.tables.get"},
	"bigquery.tables.insert":             {"bigquery.tables.create"},
	"bigquery.tables.patch":              {"bigquery.tables.get", "bigquery.tables.update"},
	"bigquery.datasets.get":              {"bigquery.datasets.get"},
	"bigquery.datasets.insert":           {"bigquery.datasets.create"},
	"bigquery.tables.testIamPermissions": nil,
	"bigquery.jobs.get of its own":       nil,
	"bigquery.query SELECT":              {"bigquery.jobs.create", "bigquery.tables.getData"},
	"bigquery.query ALTER TABLE":         {"bigquery.jobs.create", "bigquery.tables.get", "bigquery.tables.update"},
	"bigquery.query CREATE TABLE":        {"bigquery.jobs.create", "bigquery.tables.create"},
	"bigquery.query CREATE SCHEMA":       {"bigquery.jobs.create", "bigquery.datasets.create"},

	"bigquery.query SELECT INFORMATION_SCHEMA.JOBS_BY_PROJECT":               {"bigquery.jobs.create", "bigquery.jobs.listAll"},
	"bigquery.query SELECT INFORMATION_SCHEMA.JOBS_TIMELINE_BY_PROJECT":      {"bigquery.jobs.create", "bigquery.jobs.listAll"},
	"bigquery.query SELECT INFORMATION_SCHEMA.WRITE_API_TIMELINE":            {"bigquery.jobs.create", "bigquery.tables.list"},
	"bigquery.query SELECT INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT": {"bigquery.jobs.create", "bigquery.tables.list"},
	"bigquery.query SELECT INFORMATION_SCHEMA.TABLES":                        {"bigquery.jobs.create", "bigquery.tables.get", "bigquery.tables.list", "bigquery.routines.get", "bigquery.routines.list"},
	"bigquery.query SELECT INFORMATION_SCHEMA.TABLE_OPTIONS":                 {"bigquery.jobs.create", "bigquery.tables.get", "bigquery.tables.list", "bigquery.routines.get", "bigquery.routines.list"},
	"bigquery.query SELECT INFORMATION_SCHEMA.TABLE_CONSTRAINTS":             {"bigquery.jobs.create", "bigquery.tables.get", "bigquery.tables.list"},
	"bigquery.query SELECT INFORMATION_SCHEMA.SEARCH_INDEXES":                {"bigquery.jobs.create", "bigquery.tables.get", "bigquery.tables.list"},
}

// compare holds calls against what their uses are documented to need, both ways.
func compare(t *testing.T, calls []string, needs ...permission.Need) {
	t.Helper()
	used := make(map[string]bool)
	for _, call := range calls {
		permissions, known := callPermissions[call]
		if !known {
			t.Errorf("nobody knows which permissions %q takes", call)
		}
		for _, p := range permissions {
			used[p] = true
		}
	}
	documented := make(map[string]bool)
	for _, n := range needs {
		documented[n.Name] = true
	}
	if diff := cmp.Diff(documented, used); diff != "" {
		t.Errorf("permissions, -documented +used:\n%s\nby %v", diff, calls)
	}
}

// feature is a configuration, and what happens under it.
type feature struct {
	name    string // that of its permission.Use
	rule    string // more of the rule of public.orders
	letters string // where dead letters go
	fresh   bool   // nothing is there before: the pipeline creates it
	first   []message
	events  []message
}

const featureConfig = `
source: {subscription: projects/demo/subscriptions/changes}
create_tables: %t
window: 100ms
dead_letters: %s
runtime: {truncate_wait: 1s}
tables:
  - source: public.orders
    destination: shop.orders
    primary_key: [order_id]
    columns:
      - {name: order_id, type: INT64, mode: REQUIRED}
      - {name: status, type: STRING}
%s`

func orderChange(lsn uint64, op, row string) message {
	return pgChange{table: "public.orders", op: op, after: row, lastCommit: lsn - 1, lsn: lsn}.message()
}

func features(t *testing.T) []feature {
	placed := orderChange(100, "c", `{"order_id":1,"status":"placed"}`)
	bad := orderChange(110, "c", `{"order_id":"x","status":"placed"}`)
	truncated := pgChange{table: "public.orders", op: "t", lastCommit: 199, lsn: 200}.message()
	again := orderChange(210, "c", `{"order_id":2,"status":"placed"}`)
	avro := message{data: "\x02", attributes: map[string]string{"googclient_schemaname": "projects/demo/schemas/none", "googclient_schemaencoding": "BINARY", "googclient_schemarevisionid": "1"}}
	dead := fmt.Sprintf("{directory: %q}", t.TempDir())
	return []feature{
		{name: "always", letters: dead, events: []message{placed, bad}},
		{name: "dead_letters.topic", letters: "{topic: " + launchDead + "}", events: []message{placed, bad}},
		{name: "dead_letters.table", letters: "{table: ops.dead_letters}", events: []message{placed, bad}},
		{name: "create_tables", letters: dead, fresh: true, events: []message{placed}},
		{name: "unknown_columns: add", letters: dead, rule: "    unknown_columns: add\n", events: []message{placed, orderChange(120, "c", `{"order_id":3,"status":"placed","note":"new","size":1}`), orderChange(121, "c", `{"order_id":4,"status":"placed","note":"new","size":1.5}`)}},
		{name: "truncates: delete_keys", letters: dead, rule: "    truncates: delete_keys\n", events: []message{placed, truncated, again}},
		{name: "truncates: recreate", letters: dead, rule: "    truncates: recreate\n", events: []message{placed, truncated, again}},
		{
			name: "fill.first_seen: read", letters: dead, rule: "    unavailable_values: fill\n    fill: {first_seen: read}\n", first: []message{placed},
			events: []message{orderChange(130, "u", `{"order_id":1,"status":"__debezium_unavailable_value"}`)},
		},
		{name: "history", letters: dead, rule: "    history: shop.orders_history\n", events: []message{placed}},
		{name: "enrich.lookup: table", letters: dead, rule: "    enrich:\n      - lookup: {table: demo.shop.names, key: {order_id: id}, columns: {status: name}}\n", events: []message{placed}},
		{name: "a topic with an Avro schema", letters: dead, events: []message{placed, avro}},
	}
}

// What a pipeline calls is what its account is documented to need, feature by feature:
// no more, and no less.
func TestPermissions(t *testing.T) {
	for _, f := range features(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			config := fmt.Sprintf(featureConfig, false, f.letters, f.rule)
			s := startServices(t, config)
			s.query("CREATE SCHEMA IF NOT EXISTS shop")
			s.query("CREATE TABLE shop.names (id INT64, name STRING)")
			r := record(t, s)
			if !f.fresh {
				before := s.launch("--create_tables")
				s.publish(f.first...)
				if len(f.first) == 0 {
					s.publish(orderChange(50, "c", `{"order_id":9,"status":"first"}`))
				}
				s.waitAcked(before)
				before.stop()
			} else if err := os.WriteFile(s.config, []byte(strings.Replace(config, "shop.orders", "fresh.orders", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			direct := s.pubsub.Addr
			s.pubsub.Addr = r.pubsub
			l := s.launch("--bigquery_rest_endpoint", r.rest, "--bigquery_grpc_endpoint", r.write, fmt.Sprintf("--create_tables=%t", f.fresh))
			s.pubsub.Addr = direct
			for _, m := range f.events {
				s.publish(m)
				s.waitAcked(l)
			}
			l.stop()
			needs := permission.Of(permission.Pipeline, f.name)
			if f.name != permission.Always {
				needs = slices.Concat(permission.Of(permission.Pipeline, permission.Always), needs)
			}
			compare(t, r.taken(), needs...)
		})
	}
}

// Of the operator's commands, too.
func TestPermissions_operator(t *testing.T) {
	t.Parallel()
	s := startServices(t, fmt.Sprintf(featureConfig, false, "{topic: "+launchDead+"}", ""))
	if err := s.pubsub.CreateSubscription(t.Context(), deadSubscription, launchDead); err != nil {
		t.Fatal(err)
	}
	letterTable := filepath.Join(t.TempDir(), "table.yaml")
	if err := os.WriteFile(letterTable, []byte(fmt.Sprintf(featureConfig, false, "{table: ops.dead_letters}", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	more := filepath.Join(t.TempDir(), "more.yaml") // a table that is missing, in a dataset that is, and a column more
	wider := strings.Replace(fmt.Sprintf(featureConfig, true, "{directory: dead}", ""), "{name: status, type: STRING}", "{name: status, type: STRING}\n      - {name: note, type: STRING}", 1)
	wider += "  - {source: public.more, destination: more.more, primary_key: [id], columns: [{name: id, type: INT64, mode: REQUIRED}]}\n"
	if err := os.WriteFile(more, []byte(wider), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(rows, []byte(`{"order_id":1,"status":"shipped"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	topics := s.config
	bad := orderChange(110, "c", `{"order_id":"x","status":"placed"}`)
	for i, config := range []string{letterTable, topics} {
		s.config = config
		l := s.launch("--create_tables")
		s.publish(orderChange(uint64(100+i), "c", `{"order_id":1,"status":"placed"}`), bad)
		s.waitAcked(l)
		l.stop()
	}
	r := record(t, s)
	run := func(what string, statuses []int, args ...string) {
		t.Helper()
		command := exec.Command(binary(t, "cdc"), args...)
		command.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+r.pubsub)
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		err := command.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || !slices.Contains(statuses, command.ProcessState.ExitCode()) {
			t.Errorf("%s: %v\n%s", what, err, out.String())
		}
	}
	at := []string{"-bigquery_rest_endpoint", r.rest, "-bigquery_grpc_endpoint", r.write}
	for _, test := range []struct {
		uses     []string
		statuses []int
		args     []string
	}{
		{[]string{"cdc doctor"}, []int{0, 1}, []string{"doctor", "-config", topics, "-messages", "0"}},
		{[]string{"cdc doctor", "cdc doctor -messages"}, []int{0, 1}, []string{"doctor", "-config", topics, "-messages", "1", "-wait", "1s"}},
		{[]string{"cdc status"}, []int{0, 1}, []string{"status", "-config", topics}},
		{[]string{"cdc ddl"}, []int{0, 1}, []string{"ddl", "-config", more}},
		{[]string{"cdc ddl", "cdc ddl -apply"}, []int{0, 1}, []string{"ddl", "-config", more, "-apply"}},
		{[]string{"cdc diff"}, []int{1}, []string{"diff", "-config", topics, "-file", rows, "-recheck", "0s"}},
		{[]string{"cdc diff", "cdc diff -repair"}, []int{1}, []string{"diff", "-config", topics, "-file", rows, "-recheck", "0s", "-repair", "-topic", launchTopic, "-sequence", "0/FFFF/0/0"}},
		{[]string{"cdc changes"}, []int{0}, []string{"changes", "-position", filepath.Join(t.TempDir(), "position.json"), "-function", "appends"}},
		{[]string{"cdc dead-letters, of a topic"}, []int{0}, []string{"dead-letters", "list", "-config", topics, "-dead_letter_subscription", deadSubscription, "-wait", "1s"}},
		{[]string{"cdc dead-letters, of a table"}, []int{0}, []string{"dead-letters", "show", "-config", letterTable}},
		{[]string{"cdc dead-letters, of a topic", "cdc dead-letters replay"}, []int{0}, []string{"dead-letters", "replay", "-config", topics, "-dead_letter_subscription", deadSubscription, "-wait", "1s", "-forgotten_deletes"}},
		{[]string{"cdc dead-letters, of a table", "cdc dead-letters replay", "cdc dead-letters replay, of a table"}, []int{0}, []string{"dead-letters", "replay", "-config", letterTable, "-forgotten_deletes"}},
	} {
		args := slices.Insert(slices.Clone(test.args), map[bool]int{true: 2, false: 1}[test.args[0] == "dead-letters"], at...)
		if test.args[0] == "changes" { // which has no configuration
			args = append(slices.Clone(test.args), "-bigquery_rest_endpoint", r.rest, "demo.shop.orders")
		}
		run(strings.Join(test.uses, ", "), test.statuses, args...)
		var needs []permission.Need
		for _, use := range test.uses {
			found := permission.Of(permission.Operator, use)
			if found == nil {
				t.Errorf("there is no use %q", use)
			}
			needs = append(needs, found...)
		}
		t.Run(strings.Join(test.uses, "+"), func(t *testing.T) { compare(t, r.taken(), needs...) })
	}
}
