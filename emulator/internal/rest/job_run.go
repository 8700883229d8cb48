package rest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// defaultUser is who runs all jobs: nobody signs in here.
const defaultUser = "emulator@example.com"

// outcome is what came of a job: a query's result, or the statistics of another.
type outcome struct {
	result     *query.Result
	statistics any // a value of the Statistics types of package bigquery/v2
	bytes      int64
}

// runner runs jobs apart from the requests that ask for them.
type runner struct {
	work sync.WaitGroup

	mu      sync.Mutex
	running map[*query.Job]context.CancelCauseFunc
	closed  bool
}

func newRunner() *runner {
	return &runner{running: map[*query.Job]context.CancelCauseFunc{}}
}

// run does a job's work apart from its request, unless the service is closed.
func (r *runner) run(j *query.Job, work func(ctx context.Context)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return engine.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r.running[j] = cancel
	r.work.Go(func() {
		defer cancel(nil)
		work(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, j)
	})
	return nil
}

// close ends what runs, and waits for it.
func (r *runner) close() {
	r.mu.Lock()
	r.closed = true
	for _, cancel := range r.running {
		cancel(engine.ErrClosed)
	}
	r.mu.Unlock()
	r.work.Wait()
}

// start begins a job: 409 if its ID is taken.
func (s *Service) start(j *query.Job, configuration map[string]any, work func(ctx context.Context) (outcome, error)) error {
	text, err := json.Marshal(configuration)
	if err != nil {
		return err
	}
	j.Configuration, j.User = text, defaultUser
	j.Created = s.options.Now()
	j.Started = j.Created
	if err := s.options.Jobs.Begin(j); err != nil {
		return err
	}
	return s.runner.run(j, func(ctx context.Context) {
		result, err := work(ctx)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		ended := s.options.Now()
		s.options.Jobs.End(j, func() {
			j.Ended, j.Error, j.Result, j.Statistics, j.Bytes = ended, err, result.result, result.statistics, result.bytes
			j.SlotMillis = ended.Sub(j.Started).Milliseconds()
		})
	})
}

var errCanceled = &engine.Error{Code: 400, Reason: "stopped", Status: "CANCELLED", Message: "Job execution was cancelled: User requested cancellation"}

// stop cancels a job if it still runs.
func (r *runner) stop(project, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for j, cancel := range r.running {
		if j.Project == project && j.ID == id {
			cancel(errCanceled)
		}
	}
}

// isDone says whether a job was done when it was looked up.
func isDone(j *query.Job) bool { return !j.Ended.IsZero() }

func newJobID() string { return "job_" + rand.Text() }

// jobError is a job's error as BigQuery's resources have it.
func jobError(err error) *engine.Error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return &engine.Error{Code: 500, Reason: "internalError", Status: "INTERNAL", Message: err.Error()}
}
