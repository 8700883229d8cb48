package pubsubsource

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// checkTime bounds a Check, checkPause is between its tries, and probeTime is how
// long a stream must last to count as permitted.
const (
	checkTime  = 10 * time.Second
	checkPause = 250 * time.Millisecond
	probeTime  = time.Second
)

// Check reports within 10 seconds why the subscription can't be read: it is
// missing, is not one to pull from, the service can't be reached or does not
// permit it. It is for the start of a pipeline, which would wait for a service
// without an end. Where the runner owns the subscription, it is the launching
// account that is checked, and what this account may not see is no error.
func Check(ctx context.Context, c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if err := c.check(ctx); err != nil {
		return fmt.Errorf("checking %s at %s: %w%s", c.Subscription, c.where(), err, advice(err))
	}
	return nil
}

func (c Config) check(ctx context.Context) error {
	project, _, err := ParseSubscription(c.Subscription)
	if err != nil {
		return err
	}
	options, err := c.ClientOptions()
	if err != nil {
		return err
	}
	client, err := pubsub.NewClient(ctx, project, options...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // it was for reading alone
	// The client's own retries would hide the reason behind "context deadline exceeded".
	client.SubscriptionAdminClient.CallOptions.GetSubscription = nil
	request := &pubsubpb.GetSubscriptionRequest{Subscription: c.Subscription}
	var last error
	for {
		sub, err := client.SubscriptionAdminClient.GetSubscription(ctx, request)
		switch {
		case err == nil:
			return CheckKind(sub)
		case status.Code(err) == codes.PermissionDenied:
			// roles/pubsub.subscriber permits to read from a subscription, and not to look at it.
			return c.probe(ctx, client, err)
		case !transient(err):
			return err
		case ctx.Err() == nil || last == nil:
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(checkPause):
		}
	}
}

// CheckKind reports why a subscription that is there can't be pulled from.
func CheckKind(sub *pubsubpb.Subscription) error {
	var kind string
	switch {
	case sub.GetDetached():
		return status.Error(codes.FailedPrecondition, "the subscription is detached from its topic")
	case sub.GetPushConfig().GetPushEndpoint() != "":
		kind = "a push"
	case sub.GetBigqueryConfig() != nil:
		kind = "a BigQuery"
	case sub.GetCloudStorageConfig() != nil:
		kind = "a Cloud Storage"
	case sub.GetBigtableConfig() != nil:
		kind = "a Bigtable"
	default:
		return nil
	}
	return status.Errorf(codes.FailedPrecondition, "it is %s subscription", kind)
}

// probe opens a stream, because nothing else tells whether that is permitted, and
// gives back the message that may come on it.
func (c Config) probe(ctx context.Context, client *pubsub.Client, denied error) error {
	if c.RunnerOwned {
		return nil // the workers' account may well be permitted
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.SubscriptionAdminClient.StreamingPull(ctx)
	if err != nil {
		return err
	}
	err = stream.Send(&pubsubpb.StreamingPullRequest{
		Subscription: c.Subscription, StreamAckDeadlineSeconds: 10, MaxOutstandingMessages: 1, MaxOutstandingBytes: 1,
	})
	if err != nil {
		return err
	}
	result := make(chan error, 1)
	go func() {
		response, err := stream.Recv()
		if messages := response.GetReceivedMessages(); err == nil && len(messages) > 0 {
			nack := &pubsubpb.ModifyAckDeadlineRequest{Subscription: c.Subscription}
			for _, m := range messages {
				nack.AckIds = append(nack.AckIds, m.GetAckId())
			}
			err = client.SubscriptionAdminClient.ModifyAckDeadline(ctx, nack)
		}
		result <- err
	}()
	select {
	case err := <-result:
		if status.Code(err) == codes.PermissionDenied {
			return denied
		}
		return err
	case <-time.After(probeTime):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
