package doctor

import (
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	bq "google.golang.org/api/bigquery/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/transforms/catalog"
)

// good is a subscription that nothing is wrong with.
func good() *pubsubpb.Subscription {
	return &pubsubpb.Subscription{
		Name: "projects/p/subscriptions/s", Topic: "projects/p/topics/t", AckDeadlineSeconds: 60,
		MessageRetentionDuration: durationpb.New(7 * 24 * time.Hour), ExpirationPolicy: &pubsubpb.ExpirationPolicy{},
	}
}

func TestJudgeSubscription(t *testing.T) {
	tests := []struct {
		name     string
		change   func(*pubsubpb.Subscription)
		dataflow bool
		want     string // level and a part of the problem; "" for nothing
	}{
		{"good", func(*pubsubpb.Subscription) {}, true, ""},
		{"short deadline", func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 10 }, true, "warning: its ack deadline is 10s"},
		{"short deadline, leased by the pipeline", func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 10 }, false, ""},
		{"retention", func(s *pubsubpb.Subscription) { s.MessageRetentionDuration = durationpb.New(time.Hour) }, false, "warning: it keeps messages for 1h0m0s"},
		{"expires", func(s *pubsubpb.Subscription) { s.ExpirationPolicy.Ttl = durationpb.New(31 * 24 * time.Hour) }, false, "warning: it is deleted when nobody reads it"},
		{"ordering", func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = true }, false, "warning: it orders messages"},
		{"exactly once", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true }, false, "warning: it delivers exactly once"},
		{"filter", func(s *pubsubpb.Subscription) { s.Filter = `attributes.a = "b"` }, false, "warning: it has a filter"},
		{"dead letters", func(s *pubsubpb.Subscription) {
			s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: "projects/p/topics/dead", MaxDeliveryAttempts: 5}
		}, false, "warning: after 5 deliveries Pub/Sub moves a message to projects/p/topics/dead"},
		{"backoff", func(s *pubsubpb.Subscription) {
			s.RetryPolicy = &pubsubpb.RetryPolicy{MaximumBackoff: durationpb.New(10 * time.Minute)}
		}, false, "warning: its retry policy waits up to 10m0s"},
		{"push", func(s *pubsubpb.Subscription) {
			s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: "https://example.com"}
		}, false, "fatal: it is a push subscription"},
		{"BigQuery's", func(s *pubsubpb.Subscription) { s.BigqueryConfig = &pubsubpb.BigQueryConfig{Table: "p.d.t"} }, false, "fatal: it is a BigQuery subscription"},
		{"detached", func(s *pubsubpb.Subscription) { s.Detached = true }, false, "fatal: its topic is gone"},
		{"topic deleted", func(s *pubsubpb.Subscription) { s.Topic = "_deleted-topic_" }, false, "fatal: its topic is gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sub := good()
			tt.change(sub)
			wantOne(t, judgeSubscription("subscription s", sub, &pipeline.Options{RunnerOwnsSource: tt.dataflow}), tt.want)
		})
	}
}

func TestJudgeTable(t *testing.T) {
	tests := []struct {
		name   string
		change func(*destination)
		region string
		want   string
	}{
		{"good", func(*destination) {}, "europe-west1", ""},
		{"clustered by another column of the key", func(d *destination) { d.resource.Clustering.Fields = []string{"LINE", "a"} }, "", ""},
		{"far", func(*destination) {}, "us-central1", "warning: its dataset is in EU, and the job in us-central1"},
		{"not clustered", func(d *destination) { d.resource.Clustering = nil }, "", "warning: it is not clustered by its primary key"},
		{"clustered otherwise", func(d *destination) { d.resource.Clustering.Fields = []string{"a", "id"} }, "", "warning: it is not clustered by its primary key"},
		{"no max_staleness", func(d *destination) { d.ready.Table.MaxStaleness = 0 }, "", "warning: it has no max_staleness"},
		{"partition filter", func(d *destination) { d.resource.RequirePartitionFilter = true }, "", "warning: it requires a partition filter"},
		{"expires", func(d *destination) { d.resource.ExpirationTime = 1_800_000_000_000 }, "", "warning: it is deleted on 2027-01-15"},
		{"partitions expire", func(d *destination) { d.resource.TimePartitioning = &bq.TimePartitioning{ExpirationMs: 86_400_000} }, "", "warning: its partitions are deleted after 24h0m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &destination{
				match: catalog.Match{Name: table.Name{Project: "p", Dataset: "d", Table: "t"}}, stored: table.Name{Project: "p", Dataset: "d", Table: "t"}, location: "EU",
				resource: &bq.Table{
					TableConstraints: &bq.TableConstraints{PrimaryKey: &bq.TableConstraintsPrimaryKey{Columns: []string{"id", "line"}}},
					Clustering:       &bq.Clustering{Fields: []string{"id"}},
				},
				ready: &catalog.Destination{Table: &table.Table{MaxStaleness: time.Minute}},
			}
			tt.change(d)
			wantOne(t, judgeTable(d, Dataflow{Region: tt.region}), tt.want)
		})
	}
}

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		location, region string
		want             bool
	}{
		{"US", "us-central1", true},
		{"US", "europe-west1", false},
		{"EU", "europe-west4", true},
		{"EU", "us-east1", false},
		{"europe-west1", "EUROPE-WEST1", true},
		{"europe-west1", "europe-west2", false},
	} {
		if got := near(tt.location, tt.region); got != tt.want {
			t.Errorf("near(%q, %q) = %t", tt.location, tt.region, got)
		}
	}
}

func TestJudgeJob(t *testing.T) {
	whole := Dataflow{Wanted: true, Project: "p", Region: "europe-west1", Staging: "gs://b/staging"}
	for _, tt := range []struct {
		name   string
		change func(*Dataflow)
		want   string
	}{
		{"whole", func(*Dataflow) {}, ""},
		{"no project", func(d *Dataflow) { d.Project = "" }, "fatal: no project"},
		{"no region", func(d *Dataflow) { d.Region = "" }, "fatal: no region"},
		{"no staging", func(d *Dataflow) { d.Staging = "" }, "fatal: no place for the job's files"},
		{"staging is no bucket", func(d *Dataflow) { d.Staging = "/tmp" }, "fatal: no place for the job's files"},
		{"temp is no bucket", func(d *Dataflow) { d.Temp = "s3://b" }, "fatal: --temp_location is no place"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := whole
			tt.change(&job)
			wantOne(t, judgeJob(job), tt.want)
		})
	}
}

func TestLacking(t *testing.T) {
	needed := []permission{{"a.b.get", Fatal, "nothing works"}, {"a.b.list", Warning, "little works"}}
	wantOne(t, lacking("x", needed, []string{"a.b.get", "a.b.list", "other"}), "")
	wantOne(t, lacking("x", needed, []string{"a.b.list"}), "fatal: this account lacks a.b.get: nothing works")
	wantOne(t, lacking("x", needed, []string{"a.b.get"}), "warning: this account lacks a.b.list: little works")
	if n := len(lacking("x", needed, nil)); n != 2 {
		t.Errorf("%d findings, want 2", n)
	}
}

// What a message or a server says can't move the terminal's cursor.
func TestReport_text(t *testing.T) {
	r := &Report{Checked: []string{"a\x1b[2J"}, Findings: []Finding{{Fatal, "b\r", "c\x1b]0;title\x07\nd", "e\u009b1m"}}}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\r\x07\u009b") {
		t.Errorf("%q", b.String())
	}
	if !strings.Contains(b.String(), "1 fatal, 0 warnings, 0 could not be checked.") {
		t.Errorf("%s", b.String())
	}
}

// wantOne checks that there is one finding, of this level and with this text, or none for "".
func wantOne(t *testing.T, found []Finding, want string) {
	t.Helper()
	switch {
	case want == "" && len(found) == 0:
	case len(found) != 1, !strings.HasPrefix(string(found[0].Level)+": "+found[0].Problem, want):
		t.Errorf("found %+v, want %q", found, want)
	case found[0].Mend == "":
		t.Errorf("%q has no mend", found[0].Problem)
	}
}
