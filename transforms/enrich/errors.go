package enrich

import (
	"context"
	"errors"
	"net"
	"net/http"

	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// isTransient reports whether reading something again may help: a service was out of
// reach or asked for time. What a file or a query holds is not mended by that.
func isTransient(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	if api, ok := errors.AsType[*googleapi.Error](err); ok {
		return api.Code >= http.StatusInternalServerError || api.Code == http.StatusTooManyRequests || api.Code == http.StatusRequestTimeout
	}
	if s, ok := status.FromError(err); ok {
		switch s.Code() {
		case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Internal:
			return true
		default:
			return false
		}
	}
	var network *net.OpError // not net.Error, which a missing file's errno is too
	return errors.As(err, &network)
}
