package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/option"

	iam "beamcdc/internal/permission"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
)

// service is a service of Google's that answers each request alike.
func service(t *testing.T, status int, answer string, asked *[]string) []option.ClientOption {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Permissions []string `json:"permissions"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body) // a GET has none
		*asked = append(*asked, r.URL.Path+" "+r.URL.Query().Get("filter")+strings.Join(body.Permissions, " "))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	return []option.ClientOption{option.WithEndpoint(server.URL), option.WithoutAuthentication()}
}

func TestProject(t *testing.T) {
	creates := func(o *pipeline.Options) { o.CreateTables = true }
	reads := func(o *pipeline.Options) {
		o.Tables[0].UnavailableValues, o.Tables[0].Fill = "fill", &table.Fill{FirstSeen: "read"}
	}
	recreates := func(o *pipeline.Options) { o.Tables[0].Truncates = "recreate" }
	for _, tt := range []struct {
		name   string
		set    func(*pipeline.Options)
		status int
		answer string
		asked  string
		want   string
	}{
		{"nothing is needed", func(*pipeline.Options) {}, 200, `{}`, "", ""},
		{"all is granted", creates, 200, `{"permissions": ["bigquery.tables.create", "bigquery.datasets.create"]}`, "bigquery.tables.create bigquery.datasets.create", ""},
		{"on the datasets, perhaps", creates, 200, `{"permissions": ["bigquery.datasets.create"]}`, "bigquery.tables.create bigquery.datasets.create", "unknown: this account lacks bigquery.tables.create: unless"},
		{"no query", reads, 200, `{}`, "bigquery.jobs.create", "fatal: this account lacks bigquery.jobs.create: `fill.first_seen: read` can't do its work"},
		{"a new table behind a view", recreates, 200, `{"permissions": ["bigquery.jobs.create"]}`, "bigquery.jobs.create bigquery.tables.create", "unknown: this account lacks bigquery.tables.create"},
		{"no answer", creates, 403, `{"error": {"code": 403, "message": "no"}}`, "bigquery.tables.create bigquery.datasets.create", "unknown: which permissions this account has: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			o := pipeline.Options{Source: pipeline.Source{Subscription: "projects/p/subscriptions/s"}, Tables: []table.Rule{{Source: "a.b", Destination: "d.t"}}}
			tt.set(&o)
			x := &examination{options: o, request: Request{unemulated: unemulated{resourceManager: service(t, tt.status, tt.answer, &asked)}}}
			x.project(t.Context())
			wantOne(t, x.Findings, tt.want)
			if want := "/v3/projects/p:testIamPermissions " + tt.asked; tt.asked != "" && (len(asked) != 1 || asked[0] != want) {
				t.Errorf("asked %q, want %q", asked, want)
			}
			if tt.asked == "" && len(asked) > 0 {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func TestConsumers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		answer string
		want   string
	}{
		{"nobody", 200, `{}`, ""},
		{"somebody who gets nothing", 200, `{"timeSeries": [{"points": [{"value": {"int64Value": "0"}}]}]}`, ""},
		{"somebody", 200, `{"timeSeries": [{"points": [{"value": {"int64Value": "3"}}]}, {"points": [{"value": {"int64Value": "4"}}]}]}`, "warning: 7 of its messages were acked during the last 15m0s"},
		{"no answer", 403, `{"error": {"code": 403, "message": "no"}}`, "unknown: whether another consumer reads it: "},
		{"no service", 404, `{"error": {"code": 404, "message": "no"}}`, "unknown: whether another consumer reads it: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			o := pipeline.Options{Source: pipeline.Source{Subscription: "projects/p/subscriptions/s"}}
			x := &examination{options: o, request: Request{unemulated: unemulated{monitoring: service(t, tt.status, tt.answer, &asked)}}}
			x.consumers(t.Context())
			wantOne(t, x.Findings, tt.want)
			// A permission is advised where that is what lacks.
			if len(x.Findings) == 1 && x.Findings[0].Level == Unknown && strings.Contains(x.Findings[0].Mend, "grant ") != (tt.status == 403) {
				t.Errorf("of status %d it advises %q", tt.status, x.Findings[0].Mend)
			}
			want := `/v3/projects/p/timeSeries metric.type = "pubsub.googleapis.com/subscription/ack_message_count" AND resource.labels.subscription_id = "s"`
			if len(asked) != 1 || asked[0] != want {
				t.Errorf("asked %q, want %q", asked, want)
			}
		})
	}
}

// What is asked for on a table and on the project is what the settings are documented to need.
func TestPermissions_settings(t *testing.T) {
	for use, rule := range map[string]table.Rule{
		iam.Always:               {},
		"unknown_columns: add":   {UnknownColumns: "add"},
		"truncates: delete_keys": {Truncates: "delete_keys"},
		"truncates: recreate":    {Truncates: "recreate"},
		"fill.first_seen: read":  {Deletes: "soft", Fill: &table.Fill{FirstSeen: "read"}},
		"enrich.lookup: table":   {Enrich: []table.Step{{Lookup: &table.Lookup{Table: "p.d.names"}}}},
	} {
		always, more := iam.Of(iam.Pipeline, iam.Always), iam.Of(iam.Pipeline, use)
		want := append(iam.On(always, iam.Dataset), iam.On(more, iam.Dataset)...)
		want = slices.DeleteFunc(want, func(name string) bool { return name == creating })
		slices.Sort(want)
		got := names(permissionsOfTable(&rule))
		slices.Sort(got)
		if want := slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%s: on a table %q, want %q", use, got, want)
		}
		got = names(permissionsOfProject(&pipeline.Options{Tables: []table.Rule{rule}}))
		got = slices.DeleteFunc(got, func(name string) bool { return name == creating })
		if want := iam.On(more, iam.Project); !slices.Equal(got, want) {
			t.Errorf("%s: on the project %q, want %q", use, got, want)
		}
	}
}

// Of a view that has one table after the other behind it, it is the table that is looked at.
func TestRun_view(t *testing.T) {
	w := newWorld(t, `  - {source: inventory.items, destination: d.items, truncates: recreate}
  - {source: inventory.plain, destination: d.plain, truncates: recreate}
  - {source: inventory.gone, destination: d.gone, truncates: recreate}
`)
	w.sql("CREATE TABLE d.items_g0 (id INT64 NOT NULL, name STRING, beamcdc_sequence STRING, beamcdc_deleted BOOL, PRIMARY KEY (id) NOT ENFORCED)")
	w.sql("CREATE VIEW d.items AS SELECT * EXCEPT (beamcdc_sequence, beamcdc_deleted) FROM `p.d.items_g0` WHERE beamcdc_deleted IS NOT TRUE")
	w.sql("CREATE TABLE d.plain (id INT64 NOT NULL, PRIMARY KEY (id) NOT ENFORCED)")
	w.sql("INSERT INTO d.items_g0 (id) VALUES (1)")
	out, err := w.run("-messages", "0")
	if err == nil {
		t.Error("no error")
	}
	for _, want := range []string{
		"warning: table p.d.items_g0, behind p.d.items\n  it is not clustered by its primary key",
		"warning: table p.d.items_g0, behind p.d.items\n  it has no max_staleness",
		"warning: table p.d.items_g0, behind p.d.items\n  1 statement of DML changed it",
		"ALTER TABLE `p.d.items_g0` SET OPTIONS",
		"fatal: view p.d.plain\n  it is a table, and truncates: recreate puts a view there",
		"fatal: table p.d.gone\n  it does not exist",
		"subscription " + subscription + ": whether another consumer reads it, an emulator doesn't tell",
		"project p: an emulator asks for no permission",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
