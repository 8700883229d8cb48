package query

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"beamcdc/emulator/internal/engine"
)

// What is kept of jobs: BigQuery keeps them for 180 days, and results for a day.
const (
	maxJobs    = 10_000
	maxResults = 200 // the latest jobs' results
	// maxKeptValues bounds the values of these results, some 50 bytes each. The latest
	// result is kept whatever it has.
	maxKeptValues = 10_000_000
)

// Job is a job that ran, or is running. Its fields are set by whoever runs it, and
// don't change once it is done.
type Job struct {
	Project, ID, Location string
	Type                  string // QUERY, LOAD, EXTRACT or COPY
	User                  string
	SQL                   string          // of QUERY
	Configuration         json.RawMessage // as jobs.get shows it

	Created, Started, Ended time.Time // Ended is zero while it runs
	Error                   error     // why it failed; nil if it didn't
	Destination             *engine.TableRef
	Result                  *Result // of QUERY; nil once it is forgotten, and if it failed
	Statistics              any     // of LOAD, EXTRACT and COPY: their part of a job's statistics
	Bytes, SlotMillis       int64

	done chan struct{}
}

// Done is closed when the job is done.
func (j *Job) Done() <-chan struct{} { return j.done }

// Jobs keeps the jobs. It is safe for any number of goroutines.
type Jobs struct {
	mu   sync.Mutex
	byID map[jobID]*Job
	list []*Job // oldest first
}

type jobID struct{ project, id string }

// NewJobs returns a store without jobs.
func NewJobs() *Jobs { return &Jobs{byID: map[jobID]*Job{}} }

// Begin keeps a job that is about to run. One of its ID must not be there: 409.
func (s *Jobs) Begin(j *Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := jobID{j.Project, j.ID}
	if s.byID[id] != nil {
		return engine.Duplicate("Already Exists: Job %s:%s.%s", j.Project, j.Location, engine.Clip(j.ID))
	}
	j.done = make(chan struct{})
	s.byID[id] = j
	s.list = append(s.list, j)
	if n := len(s.list); n > maxResults {
		if old := s.list[n-1-maxResults]; old.ended() && old.Result != nil {
			old.Result = nil
		}
	}
	if len(s.list) > maxJobs {
		delete(s.byID, jobID{s.list[0].Project, s.list[0].ID})
		s.list = slices.Delete(s.list, 0, 1)
	}
	return nil
}

// End says that the job is done. finish sets what came of it.
func (s *Jobs) End(j *Job, finish func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	finish()
	close(j.done)
	s.forgetResults(j)
}

// forgetResults forgets the oldest results, but for a job's that has just ended, if
// they have too many values. The caller holds mu.
func (s *Jobs) forgetResults(latest *Job) {
	kept := latest.values()
	for i := len(s.list) - 1; i >= max(0, len(s.list)-maxResults); i-- {
		if j := s.list[i]; j != latest && j.ended() {
			if kept += j.values(); kept > maxKeptValues {
				j.Result = nil
			}
		}
	}
}

// values is how many values the job's result has.
func (j *Job) values() int {
	if j.Result == nil {
		return 0
	}
	return len(j.Result.Rows) * len(j.Result.Columns)
}

func (j *Job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Find returns a job as it is now: 404 if it isn't there.
func (s *Jobs) Find(project, id string) (*Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.byID[jobID{project, id}]; j != nil {
		return j.asItIs(), nil
	}
	return nil, errNoJob(project, id)
}

// asItIs is a copy, which End doesn't change.
func (j *Job) asItIs() *Job {
	copied := *j
	return &copied
}

func errNoJob(project, id string) error {
	return engine.NotFound("Not found: Job %s:%s", project, engine.Clip(id))
}

// List returns a project's jobs as they are now, the latest first.
func (s *Jobs) List(project string) []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Job
	for _, j := range slices.Backward(s.list) {
		if j.Project == project {
			list = append(list, j.asItIs())
		}
	}
	return list
}

// Delete forgets a job that is done: 404 if it isn't there, 400 while it runs.
func (s *Jobs) Delete(project, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.byID[jobID{project, id}]
	switch {
	case j == nil:
		return errNoJob(project, id)
	case !j.ended():
		return engine.Invalid("Job %s:%s can't be deleted while it runs", project, engine.Clip(id))
	}
	delete(s.byID, jobID{project, id})
	s.list = slices.DeleteFunc(s.list, func(other *Job) bool { return other == j })
	return nil
}
