package pubsubsource

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// receiveError says what ended the receiving, where, and what to do about it.
func receiveError(c Config, err error) error {
	return fmt.Errorf("receiving from %s at %s: %w%s", c.Subscription, c.where(), err, advice(err))
}

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.ResourceExhausted, codes.Aborted:
		return true
	default:
		return false
	}
}

// advice is what an operator can do about an error, "" when nobody knows.
func advice(err error) string {
	switch status.Code(err) {
	case codes.NotFound:
		return ": create the subscription, or correct its name"
	case codes.PermissionDenied:
		return ": give the pipeline's account roles/pubsub.subscriber on the subscription"
	case codes.Unauthenticated:
		return ": give the pipeline credentials"
	case codes.FailedPrecondition:
		return ": give the pipeline a pull subscription of its own"
	case codes.Unavailable, codes.DeadlineExceeded:
		return ": make the service reachable, or correct the endpoint"
	default:
		return ""
	}
}
