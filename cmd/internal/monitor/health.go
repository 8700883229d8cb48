package monitor

import (
	"fmt"
	"sync"
	"time"

	"beamcdc/cmd/internal/direct"
	"beamcdc/transforms/pubsubsource"
)

// Job is what the health of a pipeline is told by. [direct.Job] is one.
type Job interface {
	// Source returns what the job has taken and acked up to now, and SourceTrouble what
	// keeps messages from coming, and since when.
	Source() pubsubsource.Counts
	SourceTrouble() (since time.Time, trouble error)
	// Done is closed when the job has ended; Result then tells how.
	Done() <-chan struct{}
	Result() (direct.Counts, error)
}

// Health is what /healthz answers.
type Health struct {
	Status string `json:"status"` // ok or unhealthy
	Reason string `json:"reason,omitempty"`

	Taken       uint64 `json:"taken"`       // deliveries of messages
	Acked       uint64 `json:"acked"`       // of them
	Outstanding int    `json:"outstanding"` // neither acked nor given back, now
}

// The statuses.
const (
	OK        = "ok"
	Unhealthy = "unhealthy"
)

// health judges a job. The zero value has none yet.
type health struct {
	patience time.Duration // how long nothing may be acked while messages are outstanding, or nothing come since Pub/Sub is out of reach

	mu  sync.Mutex
	job Job // nil before there is one
}

// watch takes a job to judge from now on.
func (h *health) watch(j Job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.job = j
}

// now judges the job as it is.
func (h *health) now(at time.Time) Health {
	h.mu.Lock()
	job := h.job
	h.mu.Unlock()
	if job == nil {
		return Health{Status: Unhealthy, Reason: "starting: the pipeline does not run yet"}
	}
	source := job.Source()
	state := Health{Status: OK, Taken: source.Taken, Acked: source.Acked, Outstanding: source.Outstanding}
	if reason := h.fault(job, source, at); reason != "" {
		state.Status, state.Reason = Unhealthy, reason
	}
	return state
}

// fault returns what is wrong with the job, "" if nothing is.
func (h *health) fault(job Job, source pubsubsource.Counts, at time.Time) string {
	select {
	case <-job.Done():
		if _, err := job.Result(); err != nil {
			return "the job failed: " + err.Error()
		}
		return "the job has ended"
	default:
	}
	if since, trouble := job.SourceTrouble(); trouble != nil && at.Sub(since) > h.patience {
		return fmt.Sprintf("no message has come for %v: %v", at.Sub(since).Round(time.Second), trouble)
	}
	// What is outstanding for long is no fault while others are acked: it may wait for
	// what completes its row. Where nothing is acked and the oldest is old, all stands.
	since := source.OldestTaken
	if source.LastAcked.After(since) {
		since = source.LastAcked
	}
	if source.Outstanding > 0 && at.Sub(since) > h.patience {
		return fmt.Sprintf("nothing was acked for %v while %d messages are outstanding: BigQuery may be out of reach; the log tells", at.Sub(since).Round(time.Second), source.Outstanding)
	}
	return ""
}
