package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// jobs: query, getQueryResults
//
// Behavior:
//   - One GoogleSQL statement; useLegacySql true is 501, and a request that doesn't
//     say is GoogleSQL's. What the statements are is package query's matter.
//   - query waits for timeoutMs, 10 seconds if it isn't given, getQueryResults too;
//     what isn't done by then answers with jobComplete false, and goes on.
//   - A statement that fails is an error of HTTP: 400 with invalidQuery, or what else it is.
//   - A page has at most maxResults rows, and no more than fit into 10 MB; a pageToken
//     is the number of rows before the page.
//   - A request with the requestId of one within 15 minutes gets that one's job.
//   - Results are kept for the latest 200 queries; a SELECT without a destination
//     writes to an anonymous table, which tables.get and tabledata.list know too.
//   - dryRun plans the statement and runs nothing: there is no job of it.
//   - Never a cache hit. maximumBytesBilled, priority, reservations, sessions and the
//     like change nothing.

const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = 200 * time.Second // BigQuery's
	maxPageBytes   = 10 << 20
)

// queryRequest is Google's struct, but for the parameters, whose NULLs it would lose.
type queryRequest struct {
	bq.QueryRequest
	QueryParameters []queryParameter `json:"queryParameters"`
}

// queryResponse answers query and getQueryResults. Where there are no rows to be had,
// as after DML, totalRows and the schema are missing: clients rely on that.
type queryResponse struct {
	Kind                string            `json:"kind"`
	Schema              *bq.TableSchema   `json:"schema,omitempty"`
	JobReference        *bq.JobReference  `json:"jobReference,omitempty"`
	Location            string            `json:"location,omitempty"`
	TotalRows           *string           `json:"totalRows,omitempty"`
	PageToken           string            `json:"pageToken,omitempty"`
	Rows                []json.RawMessage `json:"rows,omitempty"`
	TotalBytesProcessed string            `json:"totalBytesProcessed"`
	JobComplete         bool              `json:"jobComplete"`
	CacheHit            bool              `json:"cacheHit"`
	StatementType       string            `json:"statementType,omitempty"`
	NumDMLAffectedRows  string            `json:"numDmlAffectedRows,omitempty"`
	DMLStats            *bq.DmlStatistics `json:"dmlStats,omitempty"`
	CreationTime        string            `json:"creationTime,omitempty"`
	StartTime           string            `json:"startTime,omitempty"`
	EndTime             string            `json:"endTime,omitempty"`
}

func (s *Service) query(r *http.Request) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var request queryRequest
	raw, err := unmarshal(body, &request)
	if err != nil {
		return nil, err
	}
	project := r.PathValue("project")
	run, err := queryRun(project, request.Query, request.UseLegacySql, request.DefaultDataset, request.ParameterMode, request.QueryParameters)
	if err != nil {
		return nil, err
	}
	if request.DryRun {
		run.DryRun = true
		result, err := s.options.Executor.Run(r.Context(), run)
		if err != nil {
			return nil, err
		}
		return &queryResponse{
			Kind: "bigquery#queryResponse", JobComplete: true, Schema: result.Schema, StatementType: result.StatementType,
			TotalBytesProcessed: strconv.FormatInt(result.Bytes, 10), JobReference: &bq.JobReference{ProjectId: project, Location: location(request.Location)},
			Location: location(request.Location),
		}, nil
	}
	p := rowPage{limit: request.MaxResults, limited: raw["maxResults"] != nil}
	if o := request.FormatOptions; o != nil {
		if p.form, err = newWireForm(o.UseInt64Timestamp, o.TimestampOutputFormat); err != nil {
			return nil, err
		}
	}
	j := &query.Job{Project: project, ID: newJobID(), Location: location(request.Location), Type: "QUERY", SQL: request.Query}
	if j.ID, err = s.requests.claim(project, request.RequestId, j.ID, s.options.Now()); err != nil {
		return nil, err
	}
	if earlier, err := s.options.Jobs.Find(project, j.ID); err == nil {
		j = earlier
	} else if err := s.startQuery(j, run, queryConfiguration(raw)); err != nil {
		// Two requests of one ID at once: the other one began it.
		if j, _ = s.options.Jobs.Find(project, j.ID); j == nil {
			return nil, err
		}
	}
	timeout := defaultTimeout
	if raw["timeoutMs"] != nil {
		timeout = min(maxTimeout, time.Duration(request.TimeoutMs)*time.Millisecond)
	}
	return s.results(r.Context(), j, timeout, p, "bigquery#queryResponse")
}

func (s *Service) getQueryResults(r *http.Request) (any, error) {
	project := r.PathValue("project")
	j, err := s.options.Jobs.Find(project, r.PathValue("job"))
	if err != nil {
		return nil, err
	}
	if j.Type != "QUERY" {
		return nil, engine.Invalid("Job %s:%s is not a query job", project, engine.Clip(j.ID))
	}
	p, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	timeout := defaultTimeout
	if text := r.URL.Query().Get("timeoutMs"); text != "" {
		millis, err := strconv.ParseInt(text, 10, 32)
		if err != nil || millis < 0 {
			return nil, engine.Invalid("Invalid value for timeoutMs: %s", engine.Clip(text))
		}
		timeout = min(maxTimeout, time.Duration(millis)*time.Millisecond)
	}
	return s.results(r.Context(), j, timeout, p, "bigquery#getQueryResultsResponse")
}

// results waits for a query, and answers with a page of its rows.
func (s *Service) results(ctx context.Context, j *query.Job, timeout time.Duration, p rowPage, kind string) (*queryResponse, error) {
	answer := &queryResponse{Kind: kind, JobReference: jobReference(j), Location: j.Location, TotalBytesProcessed: "0"}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-j.Done():
	case <-timer.C:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	j, err := s.options.Jobs.Find(j.Project, j.ID) // as it is now that it is done
	if err != nil {
		return nil, err
	}
	if j.Error != nil {
		return nil, j.Error
	}
	answer.JobComplete = true
	answer.CreationTime, answer.StartTime, answer.EndTime = millis(j.Created), millis(j.Started), millis(j.Ended)
	answer.TotalBytesProcessed = strconv.FormatInt(j.Bytes, 10)
	result := j.Result
	if result == nil {
		return nil, errForgotten(j)
	}
	answer.StatementType = result.StatementType
	if answer.DMLStats = dmlStats(result); answer.DMLStats != nil {
		answer.NumDMLAffectedRows = strconv.FormatInt(affected(result), 10)
	}
	if result.Schema == nil {
		return answer, nil
	}
	answer.Schema = result.Schema
	w := pageWriter{rowPage: p}
	if err := s.eachRow(ctx, j, w.add); err != nil {
		return nil, err
	}
	answer.Rows, answer.PageToken = w.rows, w.token()
	total := strconv.FormatUint(w.total, 10)
	answer.TotalRows = &total
	return answer, nil
}

func errForgotten(j *query.Job) error {
	return engine.NotFound("Not found: the results of job %s:%s aren't kept any more", j.Project, engine.Clip(j.ID))
}

// eachRow calls f with each row of a query's result, which its destination has if
// the request named one.
func (s *Service) eachRow(ctx context.Context, j *query.Job, f func([]*engine.Column, []any) error) error {
	if j.Result.Rows == nil && j.Destination != nil && j.Destination.Dataset != anonymousDataset {
		return s.engine.Scan(ctx, *j.Destination, f)
	}
	for _, row := range j.Result.Rows {
		if err := f(j.Result.Columns, row); err != nil {
			return err
		}
	}
	return nil
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

func location(text string) string { return cmp.Or(text, "US") }

// queryRun is what a request for a query asks to run.
func queryRun(project, sql string, legacy *bool, dataset *bq.DatasetReference, mode string, list []queryParameter) (query.Request, error) {
	if legacy != nil && *legacy {
		return query.Request{}, engine.Unimplemented("legacy SQL is not implemented by this emulator: set useLegacySql to false")
	}
	run := query.Request{SQL: sql, Project: project, User: defaultUser}
	if dataset != nil && dataset.DatasetId != "" {
		run.Dataset = &engine.DatasetRef{Project: cmp.Or(dataset.ProjectId, project), Dataset: dataset.DatasetId}
	}
	var err error
	run.Named, run.Positional, err = parameters(mode, list)
	return run, err
}

// queryConfiguration is the configuration of the job that a jobs.query makes.
func queryConfiguration(request map[string]any) map[string]any {
	q := map[string]any{"useLegacySql": false, "priority": "INTERACTIVE", "writeDisposition": "WRITE_TRUNCATE"}
	for _, name := range []string{"query", "defaultDataset", "parameterMode", "queryParameters", "useQueryCache", "maximumBytesBilled"} {
		if v, ok := request[name]; ok {
			q[name] = v
		}
	}
	configuration := map[string]any{"query": q, "jobType": "QUERY"}
	if labels, ok := request["labels"]; ok {
		configuration["labels"] = labels
	}
	return configuration
}

// startQuery begins a query's job. One without a destination gets an anonymous one.
func (s *Service) startQuery(j *query.Job, run query.Request, configuration map[string]any) error {
	j.Destination = run.Destination
	if j.Destination == nil {
		j.Destination = &engine.TableRef{Project: j.Project, Dataset: anonymousDataset, Table: anonymousTable + j.ID}
		if q, ok := configuration["query"].(map[string]any); ok {
			q["destinationTable"] = tableReference(*j.Destination)
		}
	}
	return s.start(j, configuration, func(ctx context.Context) (outcome, error) {
		result, err := s.options.Executor.Run(ctx, run)
		if err != nil {
			return outcome{}, err
		}
		return outcome{result: result, bytes: result.Bytes}, nil
	})
}

// requests remembers which job a request's ID made.
type requests struct {
	mu   sync.Mutex
	jobs map[requestID]requested
}

type requestID struct{ project, id string }

type requested struct {
	job string
	at  time.Time
}

const (
	requestLifetime = 15 * time.Minute
	maxRequestID    = 1024
	maxRequests     = 10_000
)

// claim returns the job of an earlier request of this ID, or the one that is about to be.
func (s *requests) claim(project, id, job string, now time.Time) (string, error) {
	if id == "" {
		return job, nil
	}
	if len(id) > maxRequestID {
		return "", engine.Invalid("Invalid value for requestId: it has more than %d characters", maxRequestID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := requestID{project, id}
	if earlier, ok := s.jobs[key]; ok && now.Sub(earlier.at) < requestLifetime {
		return earlier.job, nil
	}
	if len(s.jobs) >= maxRequests {
		for k, r := range s.jobs {
			if now.Sub(r.at) >= requestLifetime {
				delete(s.jobs, k)
			}
		}
		if len(s.jobs) >= maxRequests {
			clear(s.jobs) // best effort: BigQuery's is too
		}
	}
	if s.jobs == nil {
		s.jobs = map[requestID]requested{}
	}
	s.jobs[key] = requested{job, now}
	return job, nil
}
