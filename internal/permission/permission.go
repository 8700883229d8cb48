// Package permission is the one list of what accounts are permitted to do in Google
// Cloud, and why: documents and Terraform's roles are held against it, and a test
// compares it with the calls that the programs make, feature by feature.
package permission

import (
	"slices"
	"strings"
)

// The resources that permissions are on. A role with them can be granted there, or on
// anything that they are in.
const (
	Subscription = "the subscription"
	DeadTopic    = "the dead letters' topic"
	DeadSub      = "the dead letters' subscription"
	SourceTopic  = "the source's topic"
	Dataset      = "the tables' dataset"
	DeadDataset  = "the dead letters' dataset"
	Lookup       = "what lookups read"
	Schema       = "the topic's schema"
	Secret       = "the secret"
	Object       = "the file in Cloud Storage"
	Project      = "the project"
)

// Need is a permission on a resource.
type Need struct{ Name, On string }

// Use is a feature, or a command, and what it needs besides what always is.
type Use struct {
	What  string // a setting, as the configuration writes it, or a command
	Needs []Need
}

// Always is the first of Pipeline's uses.
const Always = "always"

// Pipeline is what the account of a pipeline's workers does. On Dataflow it is the
// launcher's account, too, and does besides what roles/dataflow.worker is for.
var Pipeline = []Use{
	{Always, []Need{
		{"pubsub.subscriptions.consume", Subscription},
		{"pubsub.subscriptions.get", Subscription},
		{"bigquery.tables.get", Dataset},
		{"bigquery.tables.updateData", Dataset},
	}},
	{"dead_letters.topic", []Need{{"pubsub.topics.publish", DeadTopic}, {"pubsub.topics.get", DeadTopic}}},
	{"dead_letters.table", []Need{{"bigquery.tables.get", DeadDataset}, {"bigquery.tables.updateData", DeadDataset}}},
	{"create_tables", []Need{{"bigquery.tables.create", Dataset}, {"bigquery.datasets.create", Project}}},
	{"unknown_columns: add", []Need{{"bigquery.tables.update", Dataset}, {"bigquery.jobs.create", Project}}},
	{"truncates: delete_keys", []Need{{"bigquery.tables.update", Dataset}, {"bigquery.tables.getData", Dataset}, {"bigquery.jobs.create", Project}}},
	{"truncates: recreate", []Need{
		{"bigquery.tables.create", Dataset}, {"bigquery.tables.update", Dataset}, {"bigquery.tables.getData", Dataset}, {"bigquery.jobs.create", Project},
	}},
	{"fill.first_seen: read", []Need{{"bigquery.tables.getData", Dataset}, {"bigquery.jobs.create", Project}}},
	{"history", nil},
	{"enrich.lookup: table", []Need{{"bigquery.tables.getData", Lookup}, {"bigquery.jobs.create", Project}}},
	{"a topic with an Avro schema", []Need{{"pubsub.schemas.get", Schema}}},
	{"a key in a secret", []Need{{"secretmanager.versions.access", Secret}}},
	{"a file in gs://", []Need{{"storage.objects.get", Object}}},
}

// Operator is what the account of those who run cdc does.
var Operator = []Use{
	{"cdc doctor", []Need{
		{"pubsub.subscriptions.get", Subscription},
		{"pubsub.topics.get", DeadTopic},
		{"bigquery.tables.get", Dataset},
		{"bigquery.datasets.get", Dataset},
		{"bigquery.jobs.create", Project},
		{"bigquery.jobs.listAll", Project},
		{"bigquery.tables.list", Project},
	}},
	{"cdc doctor, of other consumers", []Need{{"monitoring.timeSeries.list", Project}}},
	{"cdc doctor -messages", []Need{{"pubsub.subscriptions.consume", Subscription}}},
	{"cdc status", []Need{
		{"bigquery.tables.get", Dataset},
		{"bigquery.tables.list", Dataset},
		{"bigquery.routines.get", Dataset},
		{"bigquery.routines.list", Dataset},
		{"bigquery.datasets.get", Dataset},
		{"bigquery.jobs.create", Project},
		{"bigquery.jobs.listAll", Project},
		{"bigquery.tables.list", Project},
	}},
	{"cdc ddl", []Need{{"bigquery.tables.get", Dataset}, {"bigquery.datasets.get", Dataset}}},
	{"cdc ddl -apply", []Need{
		{"bigquery.tables.create", Dataset}, {"bigquery.tables.update", Dataset}, {"bigquery.datasets.create", Project}, {"bigquery.jobs.create", Project},
	}},
	{"cdc diff", []Need{{"bigquery.tables.get", Dataset}, {"bigquery.tables.getData", Dataset}, {"bigquery.jobs.create", Project}}},
	{"cdc diff -repair", []Need{{"pubsub.topics.publish", SourceTopic}}},
	{"cdc changes", []Need{{"bigquery.tables.get", Dataset}, {"bigquery.tables.getData", Dataset}, {"bigquery.jobs.create", Project}}},
	{"cdc changes -topic", []Need{{"pubsub.topics.publish", SourceTopic}}},
	{"cdc dead-letters, of a topic", []Need{{"pubsub.subscriptions.consume", DeadSub}}},
	{"cdc dead-letters, of a table", []Need{{"bigquery.tables.getData", DeadDataset}, {"bigquery.jobs.create", Project}}},
	{"cdc dead-letters replay", []Need{{"pubsub.subscriptions.get", Subscription}, {"pubsub.topics.publish", SourceTopic}}},
	{"cdc dead-letters replay, of a table", []Need{{"bigquery.tables.get", DeadDataset}, {"bigquery.tables.updateData", DeadDataset}}},
	{"encrypted dead letters", []Need{{"secretmanager.versions.access", Secret}}},
}

// Of returns what a use needs, nil for one that there isn't.
func Of(uses []Use, what string) []Need {
	for _, u := range uses {
		if u.What == what {
			return u.Needs
		}
	}
	return nil
}

// On returns the names of the needed permissions on a resource, sorted.
func On(needs []Need, resource string) []string {
	var names []string
	for _, n := range needs {
		if n.On == resource {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Markdown returns the uses as a table.
func Markdown(uses []Use, title string) string {
	var b strings.Builder
	b.WriteString("| " + title + " | permissions |\n|---|---|\n")
	for _, u := range uses {
		what := "`" + u.What + "`"
		if !strings.ContainsAny(u.What, "._") && !strings.HasPrefix(u.What, "cdc ") && u.What != "history" && !strings.Contains(u.What, ": ") || strings.Contains(u.What, "gs://") {
			what = u.What
		}
		var resources []string
		for _, n := range u.Needs {
			if !slices.Contains(resources, n.On) {
				resources = append(resources, n.On)
			}
		}
		var texts []string
		for _, r := range resources {
			texts = append(texts, "`"+strings.Join(On(u.Needs, r), "`, `")+"` on "+r)
		}
		needs := strings.Join(texts, "; ")
		if needs == "" {
			needs = "no other"
		}
		b.WriteString("| " + what + " | " + needs + " |\n")
	}
	return b.String()
}
