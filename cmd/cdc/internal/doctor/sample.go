package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/schemas/change"
	"beamcdc/transforms/pubsubsource"
)

// sample pulls messages without acking them, and looks at what the pipeline would
// make of them. They are given back at the end.
func (x *examination) sample(ctx context.Context) {
	about := "messages of " + x.options.Source.Subscription
	messages, err := x.pull(ctx)
	if err != nil && status.Code(err) != codes.NotFound { // which was said already
		x.add(Finding{Unknown, about, fmt.Sprintf("none can be pulled: %v", err), ""})
	}
	if len(messages) == 0 {
		if err == nil {
			x.add(Finding{
				Unknown, about, fmt.Sprintf("none came within %v: either there is none, or another consumer of the subscription takes them", x.request.Wait),
				"publish some, or stop the other consumer: two consumers of one subscription each get a part",
			})
		}
		return
	}
	slices.SortStableFunc(messages, func(a, b change.Message) int { return a.PublishTime.Compare(b.PublishTime) }) // they come in any order
	i, err := newInspector(x)
	if err != nil {
		x.add(Finding{Fatal, about, err.Error(), ""})
		return
	}
	for k := range messages {
		i.inspect(&messages[k])
	}
	x.checked("%s: %s", counted(len(messages), "message"), i.summary())
	x.add(i.findings()...)
}

// pull takes up to as many messages as are asked for, and gives them back.
func (x *examination) pull(ctx context.Context) (taken []change.Message, err error) {
	name := x.options.Source.Subscription
	project, _, err := pubsubsource.ParseSubscription(name)
	if err != nil {
		return nil, err
	}
	client, err := x.pubsubClient(ctx, project)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }() // all was answered
	admin := client.SubscriptionAdminClient
	admin.CallOptions.Pull = nil
	var handles []string
	defer func() {
		// Their lease would end by itself; given back, the pipeline need not wait for that.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
		defer cancel()
		for len(handles) > 0 {
			some := handles[:min(len(handles), 1000)]
			handles = handles[len(some):]
			back := admin.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: name, AckIds: some})
			if back != nil && err == nil {
				err = fmt.Errorf("giving messages back: %w; they come again when their ack deadline is over", back)
			}
		}
	}()
	seen := make(map[string]bool)
	ctx, cancel := context.WithTimeout(ctx, x.request.Wait)
	defer cancel()
	for len(taken) < x.request.Messages {
		answer, err := admin.Pull(ctx, &pubsubpb.PullRequest{Subscription: name, MaxMessages: int32(min(1000, x.request.Messages-len(taken)))})
		if err != nil {
			if ctx.Err() != nil {
				return taken, nil // the wait is over
			}
			return taken, err
		}
		for _, r := range answer.GetReceivedMessages() {
			handles = append(handles, r.GetAckId())
			m := r.GetMessage()
			if seen[m.GetMessageId()] {
				return taken, nil // they come round: there are no others
			}
			seen[m.GetMessageId()] = true
			taken = append(taken, change.Message{
				ID: m.GetMessageId(), PublishTime: publishTime(m), OrderingKey: m.GetOrderingKey(), Attributes: m.GetAttributes(), Data: m.GetData(),
			})
		}
	}
	return taken, nil
}

func publishTime(m *pubsubpb.PubsubMessage) time.Time {
	if m.GetPublishTime() == nil {
		return time.Time{}
	}
	return m.GetPublishTime().AsTime()
}
