package rest

import (
	"encoding/json"
	"fmt"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// jobResource is a job as BigQuery shows it. Google's struct would lose what it
// doesn't know of a configuration.
type jobResource struct {
	Kind          string            `json:"kind"`
	Etag          string            `json:"etag,omitempty"`
	ID            string            `json:"id,omitempty"`
	SelfLink      string            `json:"selfLink,omitempty"`
	UserEmail     string            `json:"user_email"`
	JobReference  *bq.JobReference  `json:"jobReference"`
	Configuration json.RawMessage   `json:"configuration"`
	State         string            `json:"state,omitempty"`       // in lists
	ErrorResult   *bq.ErrorProto    `json:"errorResult,omitempty"` // in lists
	Status        *bq.JobStatus     `json:"status"`
	Statistics    *bq.JobStatistics `json:"statistics"`
}

func (s *Service) jobResource(j *query.Job) *jobResource {
	r := &jobResource{
		Kind: "bigquery#job", UserEmail: j.User, Configuration: j.Configuration, JobReference: jobReference(j),
		ID:         fmt.Sprintf("%s:%s.%s", j.Project, j.Location, j.ID),
		SelfLink:   fmt.Sprintf("%s/bigquery/v2/projects/%s/jobs/%s?location=%s", s.options.BaseURL, j.Project, j.ID, j.Location),
		Statistics: &bq.JobStatistics{CreationTime: j.Created.UnixMilli(), StartTime: j.Started.UnixMilli()},
		Status:     &bq.JobStatus{State: "RUNNING"},
	}
	if !isDone(j) {
		return r
	}
	r.Status.State = "DONE"
	if j.Error != nil {
		r.Status.ErrorResult = errorProto(j.Error)
		r.Status.Errors = []*bq.ErrorProto{r.Status.ErrorResult}
	}
	r.Statistics.EndTime = j.Ended.UnixMilli()
	r.Statistics.TotalBytesProcessed, r.Statistics.TotalSlotMs = j.Bytes, j.SlotMillis
	switch statistics := j.Statistics.(type) {
	case *bq.JobStatistics3:
		r.Statistics.Load = statistics
	case *bq.JobStatistics4:
		r.Statistics.Extract = statistics
	case *bq.JobStatistics5:
		r.Statistics.Copy = statistics
	}
	if j.Result != nil {
		r.Statistics.Query = queryStatistics(j.Result, j.Bytes)
	}
	return r
}

func jobReference(j *query.Job) *bq.JobReference {
	return &bq.JobReference{ProjectId: j.Project, JobId: j.ID, Location: j.Location}
}

func errorProto(err error) *bq.ErrorProto {
	e := jobError(err)
	return &bq.ErrorProto{Reason: e.Reason, Location: e.Location, Message: e.Message}
}

func queryStatistics(r *query.Result, bytes int64) *bq.JobStatistics2 {
	q := &bq.JobStatistics2{
		StatementType: r.StatementType, TotalBytesProcessed: bytes, TotalBytesBilled: bytes, Schema: r.Schema,
		ForceSendFields: []string{"CacheHit", "TotalBytesProcessed", "TotalBytesBilled"},
	}
	for _, ref := range r.Referenced {
		q.ReferencedTables = append(q.ReferencedTables, tableReference(ref))
	}
	if q.DmlStats = dmlStats(r); q.DmlStats != nil {
		q.NumDmlAffectedRows = affected(r)
		q.ForceSendFields = append(q.ForceSendFields, "NumDmlAffectedRows")
	}
	if r.Operation != "" {
		q.DdlOperationPerformed = r.Operation
		if r.Target != nil {
			q.DdlTargetTable = tableReference(*r.Target)
		}
	}
	return q
}

func dmlStats(r *query.Result) *bq.DmlStatistics {
	if r.Changed == nil {
		return nil
	}
	return &bq.DmlStatistics{
		InsertedRowCount: r.Changed.Inserted, UpdatedRowCount: r.Changed.Updated, DeletedRowCount: r.Changed.Deleted,
		ForceSendFields: []string{"InsertedRowCount", "UpdatedRowCount", "DeletedRowCount"},
	}
}

func affected(r *query.Result) int64 {
	return r.Changed.Inserted + r.Changed.Updated + r.Changed.Deleted
}

func tableReference(ref engine.TableRef) *bq.TableReference {
	return &bq.TableReference{ProjectId: ref.Project, DatasetId: ref.Dataset, TableId: ref.Table}
}
