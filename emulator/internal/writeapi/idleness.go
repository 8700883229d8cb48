package writeapi

import (
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// idleWatch is how often a connection is looked at, in real time: the clock it is
// held against may be moved.
const idleWatch = time.Second

// idleness is how long a connection has been idle, by the server's clock.
type idleness struct {
	now   func() time.Time
	limit time.Duration // 0 for none
	last  atomic.Int64  // nanoseconds since the epoch
}

// touch says that something came or went.
func (i *idleness) touch() { i.last.Store(i.now().UnixNano()) }

// over returns BigQuery's error once the connection has been idle for too long.
func (i *idleness) over() error {
	if i.limit == 0 || time.Duration(i.now().UnixNano()-i.last.Load()) < i.limit {
		return nil
	}
	return status.Errorf(codes.Aborted, "Closing the stream because it has been inactive for %d seconds", int(i.limit.Seconds()))
}
