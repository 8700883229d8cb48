package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	resourcemanager "google.golang.org/api/cloudresourcemanager/v3"
	monitoring "google.golang.org/api/monitoring/v3"
	"google.golang.org/api/option"

	iam "beamcdc/internal/permission"
	"beamcdc/pipeline"
	"beamcdc/schemas/table"
	"beamcdc/transforms/pubsubsource"
)

// unemulated is how Google's services that have no emulator are reached; nil for where they are.
type unemulated struct {
	resourceManager, monitoring []option.ClientOption
}

// usesOf returns what the rules' settings ask of BigQuery, as package permission names it.
func usesOf(rules ...table.Rule) []string {
	var uses []string
	for i := range rules {
		r := &rules[i]
		for use, asked := range map[string]bool{
			"unknown_columns: add":   r.UnknownColumns == "add",
			"truncates: delete_keys": r.Truncates == "delete_keys",
			"truncates: recreate":    r.Truncates == "recreate",
			"fill.first_seen: read":  r.Fill.WithDefaults().FirstSeen == "read" && (r.UnavailableValues == "fill" || r.Deletes == "soft"),
			"enrich.lookup: table":   slices.ContainsFunc(r.Enrich, func(s table.Step) bool { return s.Lookup != nil && s.Lookup.Table != "" }),
		} {
			if asked && !slices.Contains(uses, use) {
				uses = append(uses, use)
			}
		}
	}
	slices.Sort(uses)
	return uses
}

// neededOn are the permissions on a kind of resource that settings take, beyond what
// every pipeline needs.
func neededOn(resource string, uses []string) []permission {
	var needed []permission
	for _, use := range uses {
		for _, name := range iam.On(iam.Of(iam.Pipeline, use), resource) {
			if !slices.ContainsFunc(needed, func(p permission) bool { return p.name == name }) {
				needed = append(needed, permission{name, Fatal, fmt.Sprintf("`%s` can't do its work", use)})
			}
		}
	}
	return needed
}

// creating is the permission that a table takes which is made, on its dataset: BigQuery's
// datasets can't be asked for permissions, and projects can.
const creating = "bigquery.tables.create"

// permissionsOfTable are those that writing a table by its rule takes.
func permissionsOfTable(r *table.Rule) []permission {
	more := neededOn(iam.Dataset, usesOf(*r))
	return slices.Concat(tablePermissions, slices.DeleteFunc(more, func(p permission) bool {
		return p.name == creating || slices.ContainsFunc(tablePermissions, func(t permission) bool { return t.name == p.name })
	}))
}

// permissionsOfProject are those that the pipeline takes on the project that its
// queries run in.
func permissionsOfProject(o *pipeline.Options) []permission {
	uses := usesOf(o.Tables...)
	needed := neededOn(iam.Project, uses)
	creates := o.CreateTables || slices.ContainsFunc(neededOn(iam.Dataset, uses), func(p permission) bool { return p.name == creating })
	if creates {
		needed = append(needed, permission{creating, Unknown, "unless it is granted on each dataset, which nobody can be asked, no table can be created"})
	}
	if o.CreateTables {
		needed = append(needed, permission{"bigquery.datasets.create", Warning, "a dataset that is missing can't be created"})
	}
	return needed
}

// project looks at the permissions on BigQuery's project.
func (x *examination) project(ctx context.Context) {
	project := x.options.CatalogConfig().Project
	about := "project " + project
	needed := permissionsOfProject(&x.options)
	if len(needed) == 0 || project == "" {
		return
	}
	if x.options.Runtime.BigQueryRESTEndpoint != "" && x.request.unemulated.resourceManager == nil {
		x.checked("%s: an emulator asks for no permission", about)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	service, err := resourcemanager.NewService(ctx, x.request.unemulated.resourceManager...)
	if err != nil {
		x.add(Finding{Unknown, about, fmt.Sprintf("which permissions this account has: %v", err), "see whether there are credentials"})
		return
	}
	answer, err := service.Projects.TestIamPermissions("projects/"+project, &resourcemanager.TestIamPermissionsRequest{Permissions: names(needed)}).Context(ctx).Do()
	if err != nil {
		x.add(Finding{Unknown, about, fmt.Sprintf("which permissions this account has: %v", err), "enable cloudresourcemanager.googleapis.com, or look for yourself whether it has " + names(needed)[0] + " and the like (docs/security.md)"})
		return
	}
	x.checked("%s: its permissions", about)
	x.add(lacking(about, needed, answer.Permissions)...)
}

// recently is how far back acks are looked for.
const recently = 15 * time.Minute

// consumers looks whether somebody takes the subscription's messages. Pub/Sub itself
// doesn't tell who reads: Cloud Monitoring tells whether anybody acked.
func (x *examination) consumers(ctx context.Context) {
	name := x.options.Source.Subscription
	about := "subscription " + name
	project, id, err := pubsubsource.ParseSubscription(name)
	if err != nil {
		return // subscription has said so
	}
	if pubsubEmulated(&x.options) && x.request.unemulated.monitoring == nil {
		x.checked("%s: whether another consumer reads it, an emulator doesn't tell", about)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	unknown := func(err error) {
		x.add(Finding{Unknown, about, fmt.Sprintf("whether another consumer reads it: %v", err), granting(err, "monitoring.timeSeries.list (roles/monitoring.viewer)", "look at the subscription's acks in Cloud Monitoring")})
	}
	service, err := monitoring.NewService(ctx, x.request.unemulated.monitoring...)
	if err != nil {
		unknown(err)
		return
	}
	now := time.Now()
	acked := int64(0)
	err = service.Projects.TimeSeries.List("projects/"+project).
		Filter(fmt.Sprintf(`metric.type = "pubsub.googleapis.com/subscription/ack_message_count" AND resource.labels.subscription_id = %q`, id)).
		IntervalStartTime(now.Add(-recently).UTC().Format(time.RFC3339)).IntervalEndTime(now.UTC().Format(time.RFC3339)).
		Pages(ctx, func(page *monitoring.ListTimeSeriesResponse) error {
			for _, series := range page.TimeSeries {
				for _, p := range series.Points {
					if p.Value != nil && p.Value.Int64Value != nil {
						acked += *p.Value.Int64Value
					}
				}
			}
			return nil
		})
	if err != nil {
		unknown(err)
		return
	}
	x.checked("%s: acks of the last %v", about, recently)
	if acked > 0 {
		x.add(Finding{
			Warning, about, fmt.Sprintf("%d of its messages were acked during the last %v: if that was not this pipeline, another consumer takes them, and each gets a part", acked, recently),
			"stop the other consumer, or give this pipeline a subscription of its own to the same topic",
		})
	}
}
