package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/pipeline"
	"beamcdc/transforms/pubsubsource"
)

// The permissions that reading a subscription takes, and what follows without them.
var subscriptionPermissions = []permission{
	{"pubsub.subscriptions.consume", Fatal, "no message can be read"},
	{"pubsub.subscriptions.get", Warning, "neither Dataflow nor this command can look at the subscription"},
}

// pubsubEmulated says whether Pub/Sub is an emulator.
func pubsubEmulated(o *pipeline.Options) bool {
	return o.Runtime.PubSubPlaintext || o.Runtime.PubSubEndpoint == "" && os.Getenv("PUBSUB_EMULATOR_HOST") != ""
}

// pubsubClient returns a client for the configuration's Pub/Sub.
func (x *examination) pubsubClient(ctx context.Context, project string) (*pubsub.Client, error) {
	options, err := x.options.SourceConfig().ClientOptions()
	if err != nil {
		return nil, err
	}
	return pubsub.NewClient(ctx, project, options...)
}

// subscription looks at the subscription: what it is set to, and who may read it.
func (x *examination) subscription(ctx context.Context) {
	name := x.options.Source.Subscription
	about := "subscription " + name
	project, _, err := pubsubsource.ParseSubscription(name)
	if err != nil {
		x.add(Finding{Fatal, about, err.Error(), "set source.subscription"})
		return
	}
	client, err := x.pubsubClient(ctx, project)
	if err != nil {
		x.add(Finding{Fatal, about, fmt.Sprintf("there is no client for it: %v", err), ""})
		return
	}
	defer func() { _ = client.Close() }()                                                                 // it was for reading alone
	client.SubscriptionAdminClient.CallOptions.GetSubscription = nil                                      // its retries hide the reason behind a deadline
	x.permissions(ctx, client.SubscriptionAdminClient.Connection(), about, name, subscriptionPermissions) //nolint:staticcheck // the one way to the connection
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	sub, err := client.SubscriptionAdminClient.GetSubscription(ctx, &pubsubpb.GetSubscriptionRequest{Subscription: name})
	switch status.Code(err) {
	case codes.OK:
		x.checked("%s: of topic %s", about, sub.GetTopic())
		x.add(judgeSubscription(about, sub, &x.options)...)
	case codes.NotFound:
		x.add(Finding{Fatal, about, "it does not exist", "create it: gcloud pubsub subscriptions create " + name + " --topic=TOPIC --ack-deadline=60 --message-retention-duration=7d --expiration-period=never"})
	case codes.PermissionDenied:
		x.add(Finding{Unknown, about, "this account may not look at it", "grant roles/pubsub.viewer on it, or run the command as another account"})
	default:
		x.add(Finding{Fatal, about, fmt.Sprintf("it can't be asked for: %v", err), "see whether Pub/Sub's address is right and can be reached"})
	}
}

// shortDeadline is the ack deadline below which Dataflow may well need longer for a
// message; off Dataflow the pipeline extends the lease itself.
const shortDeadline = 30 * time.Second

// The least that a subscription should keep messages: long enough for an outage
// that starts on a Friday evening.
const goodRetention = 3 * 24 * time.Hour

// judgeSubscription returns what is wrong with a subscription's settings.
func judgeSubscription(about string, sub *pubsubpb.Subscription, o *pipeline.Options) []Finding {
	var found []Finding
	report := func(level Level, problem, mend string) { found = append(found, Finding{level, about, problem, mend}) }
	if sub.GetDetached() || sub.GetTopic() == "_deleted-topic_" {
		report(Fatal, "its topic is gone: it gets no message any more", "create a subscription to the topic that the change events go to")
	} else if err := pubsubsource.CheckKind(sub); err != nil {
		report(Fatal, status.Convert(err).Message()+": nobody can pull from it", "create a pull subscription to the same topic")
	}
	if deadline := time.Duration(sub.GetAckDeadlineSeconds()) * time.Second; deadline < shortDeadline && o.RunnerOwnsSource {
		report(Warning, fmt.Sprintf("its ack deadline is %v: Dataflow takes a message again that it has not acked by then", deadline),
			"set it to 60 s or more: gcloud pubsub subscriptions update NAME --ack-deadline=60")
	}
	if retention := sub.GetMessageRetentionDuration().AsDuration(); retention > 0 && retention < goodRetention {
		report(Warning, fmt.Sprintf("it keeps messages for %v: an outage that lasts longer loses changes for good", retention),
			"gcloud pubsub subscriptions update NAME --message-retention-duration=7d")
	}
	if sub.GetExpirationPolicy().GetTtl().AsDuration() > 0 {
		report(Warning, fmt.Sprintf("it is deleted when nobody reads it for %v, with its messages", sub.GetExpirationPolicy().GetTtl().AsDuration()),
			"gcloud pubsub subscriptions update NAME --expiration-period=never")
	}
	if sub.GetEnableMessageOrdering() {
		report(Warning, "it orders messages by key: sequence numbers order the rows anyway, and ordering holds back all messages of a key behind one that is slow",
			"use a subscription without message ordering (it can't be changed later)")
	}
	if sub.GetEnableExactlyOnceDelivery() {
		report(Warning, "it delivers exactly once: repetition is harmless here, and exactly-once delivery has more latency and less throughput",
			"gcloud pubsub subscriptions update NAME --no-enable-exactly-once-delivery")
	}
	if sub.GetFilter() != "" {
		report(Warning, "it has a filter: changes that do not match are acked unseen, and their rows stay as they were",
			"see that the filter leaves no change of a configured table out; unlisted_tables: filter does it here, and counts")
	}
	if p := sub.GetDeadLetterPolicy(); p != nil {
		report(Warning, fmt.Sprintf("after %d deliveries Pub/Sub moves a message to %s: an outage of BigQuery does that to good changes, which nobody writes then",
			p.GetMaxDeliveryAttempts(), p.GetDeadLetterTopic()),
			"leave it out: the pipeline has dead letters of its own; or set the highest number, and subscribe to that topic")
	}
	if p := sub.GetRetryPolicy(); p.GetMaximumBackoff().AsDuration() > 5*time.Minute {
		report(Warning, fmt.Sprintf("its retry policy waits up to %v before it delivers again", p.GetMaximumBackoff().AsDuration()), "set a maximum of a minute")
	}
	return found
}

// deadLetters looks at the topic of the dead letters. The table is looked at among
// the tables; a directory is the workers'.
func (x *examination) deadLetters(ctx context.Context) {
	name := x.options.DeadLetters.Topic
	switch {
	case x.options.DeadLetters.Directory != "" && x.request.Dataflow.Wanted:
		x.add(Finding{Warning, "dead letters", "they go to a directory on each of Dataflow's workers, which are gone with the job", "set dead_letters.topic or dead_letters.table"})
		return
	case name == "":
		return
	}
	about := "dead letters' topic " + name
	parts := strings.Split(name, "/")
	if len(parts) != 4 {
		return // Validate has said so
	}
	client, err := x.pubsubClient(ctx, parts[1])
	if err != nil {
		x.add(Finding{Fatal, about, fmt.Sprintf("there is no client for it: %v", err), ""})
		return
	}
	defer func() { _ = client.Close() }()
	client.TopicAdminClient.CallOptions.GetTopic = nil
	client.TopicAdminClient.CallOptions.ListTopicSubscriptions = nil
	x.permissions(ctx, client.TopicAdminClient.Connection(), about, name, []permission{{"pubsub.topics.publish", Fatal, "no dead letter can be stored, and then no message acked"}}) //nolint:staticcheck // the one way to the connection
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err = client.TopicAdminClient.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: name})
	switch status.Code(err) {
	case codes.OK:
		x.checked("%s", about)
	case codes.NotFound:
		x.add(Finding{Fatal, about, "it does not exist", "create it: gcloud pubsub topics create " + name})
		return
	case codes.PermissionDenied:
		x.add(Finding{Unknown, about, "this account may not look at it", "grant roles/pubsub.viewer on it"})
		return
	default:
		x.add(Finding{Fatal, about, fmt.Sprintf("it can't be asked for: %v", err), ""})
		return
	}
	subs, err := client.TopicAdminClient.ListTopicSubscriptions(ctx, &pubsubpb.ListTopicSubscriptionsRequest{Topic: name}).Next()
	if subs == "" && (err == nil || err.Error() == "no more items in iterator") {
		x.add(Finding{Warning, about, "it has no subscription: a dead letter that is published there is gone", "gcloud pubsub subscriptions create NAME --topic=" + name + " --message-retention-duration=7d --expiration-period=never"})
	}
}

// permission is one that an account needs.
type permission struct {
	name   string
	level  Level
	effect string // of lacking it
}

// permissions asks Pub/Sub which of the permissions the account has.
func (x *examination) permissions(ctx context.Context, connection *grpc.ClientConn, about, resource string, needed []permission) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	request := &iampb.TestIamPermissionsRequest{Resource: resource}
	for _, p := range needed {
		request.Permissions = append(request.Permissions, p.name)
	}
	granted, err := iampb.NewIAMPolicyClient(connection).TestIamPermissions(ctx, request)
	switch status.Code(err) {
	case codes.OK:
		x.add(lacking(about, needed, granted.GetPermissions())...)
	case codes.NotFound, codes.Unavailable, codes.DeadlineExceeded: // the next call says it better
	default:
		x.add(Finding{Unknown, about, fmt.Sprintf("which permissions this account has: %v", err), ""})
	}
}

// lacking returns a finding for each permission that is needed and not granted.
func lacking(about string, needed []permission, granted []string) []Finding {
	has := make(map[string]bool, len(granted))
	for _, g := range granted {
		has[g] = true
	}
	var found []Finding
	for _, p := range needed {
		if !has[p.name] {
			found = append(found, Finding{p.level, about, "this account lacks " + p.name + ": " + p.effect, "grant a role that has it to the account that the pipeline runs as"})
		}
	}
	return found
}
