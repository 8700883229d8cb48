package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// jobs: insert, get, list, cancel, delete (query and getQueryResults: see queries.go)
//
// Behavior:
//   - insert begins a job of one kind, query, load, extract or copy, and answers once it
//     is done or a tenth of a second is over; clients ask for its status. What goes wrong in the job is its errorResult; only a
//     request that makes no job is an error of HTTP. A job's ID that is taken is 409.
//   - dryRun runs a query's planning alone, at once: its errors are of HTTP, and the
//     answer has statistics and no ID. Other jobs have no dry run: 400.
//   - A job never waits: it is RUNNING until it is DONE. Jobs end with the server.
//   - cancel asks a job to end, and answers at once; the job is then DONE with the
//     reason stopped, unless it was faster.
//   - delete forgets a job that is done.
//   - list shows the latest jobs first, filtered by stateFilter, minCreationTime and
//     maxCreationTime, with configurations where projection is full. There is one user.
//   - The latest 10,000 jobs are remembered, as long as the server runs.

// jobID is what BigQuery takes for a job's ID, of at most 1024 characters.
var jobID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (s *Service) insertJob(r *http.Request) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	return s.beginJob(r.Context(), r.PathValue("project"), body, nil)
}

// beginJob begins the job that a resource describes. content is the file that was
// uploaded for it, nil for none.
func (s *Service) beginJob(ctx context.Context, project string, resource, content []byte) (any, error) {
	var job struct {
		bq.Job
		Configuration struct {
			bq.JobConfiguration
			Query *struct {
				bq.JobConfigurationQuery
				QueryParameters []queryParameter `json:"queryParameters"`
			} `json:"query"`
		} `json:"configuration"`
	}
	raw, err := unmarshal(resource, &job)
	if err != nil {
		return nil, err
	}
	configuration, _ := raw["configuration"].(map[string]any)
	j := &query.Job{Project: project, ID: newJobID(), Location: location("")}
	if ref := job.JobReference; ref != nil {
		j.ID, j.Location = cmp.Or(ref.JobId, j.ID), location(ref.Location)
		if len(j.ID) > 1024 || !jobID.MatchString(j.ID) {
			return nil, engine.Invalid("Invalid job ID %q. Job IDs must be alphanumeric (plus underscores and dashes) and must be at most 1024 characters long.", engine.Clip(j.ID))
		}
		if ref.ProjectId != "" && ref.ProjectId != project {
			return nil, engine.Invalid("Invalid project ID: the job's is not the request's")
		}
	}
	c := job.Configuration
	var kinds []string
	for kind, set := range map[string]bool{"QUERY": c.Query != nil, "LOAD": c.Load != nil, "EXTRACT": c.Extract != nil, "COPY": c.Copy != nil} {
		if set {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) != 1 {
		return nil, engine.Invalid("Required parameter is missing: configuration.query, load, extract or copy, one of them")
	}
	j.Type = kinds[0]
	configuration["jobType"] = j.Type
	if content != nil && j.Type != "LOAD" {
		return nil, engine.Invalid("Only a load job takes an uploaded file")
	}
	if c.DryRun && j.Type != "QUERY" {
		return nil, engine.Invalid("Dry run is not supported for %s jobs", strings.ToLower(j.Type))
	}
	switch j.Type {
	case "QUERY":
		q := c.Query
		run, err := queryRun(project, q.Query, q.UseLegacySql, q.DefaultDataset, q.ParameterMode, q.QueryParameters)
		if err != nil {
			return nil, err
		}
		switch {
		case len(q.TableDefinitions) > 0:
			return nil, engine.Unimplemented("external tables are not implemented by this emulator")
		case len(q.SchemaUpdateOptions) > 0:
			return nil, engine.Unimplemented("schemaUpdateOptions of queries are not implemented by this emulator")
		}
		run.WriteDisposition, run.CreateDisposition = q.WriteDisposition, q.CreateDisposition
		if err := checkDispositions(q.WriteDisposition, q.CreateDisposition); err != nil {
			return nil, err
		}
		if q.DestinationTable != nil && q.DestinationTable.DatasetId != anonymousDataset {
			ref, err := refOf(q.DestinationTable, project, "destinationTable")
			if err != nil {
				return nil, err
			}
			run.Destination = &ref
		}
		if c.DryRun {
			run.DryRun = true
			return s.dryRun(ctx, j, run, configuration)
		}
		j.SQL = q.Query
		err = s.startQuery(j, run, configuration)
		if err != nil {
			return nil, err
		}
	case "LOAD":
		err = s.startLoad(j, c.Load, configuration, content)
	case "EXTRACT":
		err = s.startExtract(j, c.Extract, configuration)
	case "COPY":
		err = s.startCopy(j, c.Copy, configuration)
	}
	if err != nil {
		return nil, err
	}
	// Clients ask again after a second, at times: a quick job spares them that.
	select {
	case <-j.Done():
	case <-time.After(insertPatience):
	}
	return s.shownJob(project, j.ID)
}

// insertPatience is how long insert waits for a job.
const insertPatience = 100 * time.Millisecond

// dryRun plans a query at once.
func (s *Service) dryRun(ctx context.Context, j *query.Job, run query.Request, configuration map[string]any) (any, error) {
	result, err := s.options.Executor.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(configuration)
	if err != nil {
		return nil, err
	}
	statistics := &bq.JobStatistics{CreationTime: s.options.Now().UnixMilli(), TotalBytesProcessed: result.Bytes, Query: queryStatistics(result, result.Bytes)}
	return &jobResource{
		Kind: "bigquery#job", UserEmail: defaultUser, JobReference: &bq.JobReference{ProjectId: j.Project, Location: j.Location},
		Configuration: text, Status: &bq.JobStatus{State: "DONE"}, Statistics: statistics,
	}, nil
}

// shownJob is a job as it is now.
func (s *Service) shownJob(project, id string) (*jobResource, error) {
	j, err := s.options.Jobs.Find(project, id)
	if err != nil {
		return nil, err
	}
	return s.jobResource(j), nil
}

func (s *Service) getJob(r *http.Request) (any, error) {
	return s.shownJob(r.PathValue("project"), r.PathValue("job"))
}

func (s *Service) cancelJob(r *http.Request) (any, error) {
	j, err := s.shownJob(r.PathValue("project"), r.PathValue("job"))
	if err != nil {
		return nil, err
	}
	s.runner.stop(r.PathValue("project"), r.PathValue("job"))
	return map[string]any{"kind": "bigquery#jobCancelResponse", "job": j}, nil
}

func (s *Service) deleteJob(r *http.Request) (any, error) {
	return nil, s.options.Jobs.Delete(r.PathValue("project"), r.PathValue("job"))
}

func (s *Service) listJobs(r *http.Request) (any, error) {
	q := r.URL.Query()
	states := q["stateFilter"]
	for i, state := range states {
		states[i] = strings.ToUpper(state)
		if !slices.Contains([]string{"DONE", "PENDING", "RUNNING"}, states[i]) {
			return nil, engine.Invalid("Invalid value for stateFilter: %s", engine.Clip(state))
		}
	}
	times := map[string]int64{"minCreationTime": 0, "maxCreationTime": 1<<63 - 1}
	for name := range times {
		if text := q.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, engine.Invalid("Invalid value for %s: %s", name, engine.Clip(text))
			}
			times[name] = n
		}
	}
	list := []*jobResource{}
	for _, j := range s.options.Jobs.List(r.PathValue("project")) {
		shown := s.jobResource(j)
		shown.State, shown.ErrorResult = shown.Status.State, shown.Status.ErrorResult
		if at := shown.Statistics.CreationTime; at < times["minCreationTime"] || at > times["maxCreationTime"] {
			continue
		}
		if len(states) > 0 && !slices.Contains(states, shown.State) {
			continue
		}
		if q.Get("projection") != "full" {
			shown.Configuration = nil
		}
		list = append(list, shown)
	}
	first, last, token, err := listPage(r, len(list))
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"kind": "bigquery#jobList", "jobs": list[first:last]}
	if token != "" {
		answer["nextPageToken"] = token
	}
	return answer, nil
}

// refOf reads a table's reference in a job's configuration.
func refOf(ref *bq.TableReference, project, name string) (engine.TableRef, error) {
	if ref == nil || ref.DatasetId == "" || ref.TableId == "" {
		return engine.TableRef{}, engine.Invalid("Required parameter is missing: %s", name)
	}
	if strings.Contains(ref.TableId, "$") {
		return engine.TableRef{}, engine.Unimplemented("partition decorators of %s are not implemented by this emulator", name)
	}
	result := engine.TableRef{Project: cmp.Or(ref.ProjectId, project), Dataset: ref.DatasetId, Table: ref.TableId}
	if strings.ContainsAny(result.Dotted(), "`\\\n") { // it may become part of a statement
		return engine.TableRef{}, engine.Invalid("Invalid value for %s: %s", name, engine.Clip(result.Dotted()))
	}
	return result, nil
}

func checkDispositions(write, create string) error {
	if !slices.Contains([]string{"", "WRITE_EMPTY", "WRITE_APPEND", "WRITE_TRUNCATE"}, write) {
		return engine.Invalid("Invalid value for writeDisposition: %s", engine.Clip(write))
	}
	if !slices.Contains([]string{"", "CREATE_IF_NEEDED", "CREATE_NEVER"}, create) {
		return engine.Invalid("Invalid value for createDisposition: %s", engine.Clip(create))
	}
	return nil
}
