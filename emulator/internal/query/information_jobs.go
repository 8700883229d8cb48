package query

import (
	"errors"
	"slices"
	"time"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/timeline"
)

// The views about jobs and ingestion. A background apply of a table's changes is a
// job too, of BigQuery's own user, whose ID has cdc_background in it.

const jobsColumns = `creation_time TIMESTAMP, project_id STRING, user_email STRING, job_id STRING, job_type STRING, statement_type STRING, priority STRING,
 start_time TIMESTAMP, end_time TIMESTAMP, query STRING, state STRING, reservation_id STRING, total_bytes_processed INT64, total_bytes_billed INT64, total_slot_ms INT64,
 error_result STRUCT<reason STRING, location STRING, debug_info STRING, message STRING>, cache_hit BOOL,
 destination_table STRUCT<project_id STRING, dataset_id STRING, table_id STRING>,
 referenced_tables ARRAY<STRUCT<project_id STRING, dataset_id STRING, table_id STRING>>`

// jobRow is what the views about jobs show of one.
type jobRow struct {
	project, id, user, kind, statement, sql string
	created, started, ended                 time.Time
	err                                     error
	destination                             *engine.TableRef
	referenced                              []engine.TableRef
	bytes, slotMillis                       int64
}

// jobsOf returns a project's jobs, background applies among them, by their creation.
func (r *resolver) jobsOf(project string) []jobRow {
	var rows []jobRow
	for _, a := range slices.Concat(r.engine.ApplyJobs(), r.engine.OpenApplies()) {
		if a.Table.Project != project {
			continue
		}
		rows = append(rows, jobRow{
			project: project, id: a.ID, user: engine.ApplyJobUser, kind: "QUERY", statement: "MERGE", created: a.Created, started: a.Started, ended: a.Ended,
			err: a.Err, destination: &a.Table, bytes: a.Bytes, slotMillis: a.SlotMillis,
		})
	}
	for _, j := range r.jobs.List(project) {
		row := jobRow{
			project: project, id: j.ID, user: j.User, kind: j.Type, sql: j.SQL, created: j.Created, started: j.Started, ended: j.Ended, err: j.Error,
			destination: j.Destination, bytes: j.Bytes, slotMillis: j.SlotMillis,
		}
		if j.Result != nil {
			row.statement, row.referenced = j.Result.StatementType, j.Result.Referenced
			if j.Result.Target != nil { // of DML and DDL it is the table that they change
				row.destination = j.Result.Target
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b jobRow) int { return a.created.Compare(b.created) })
	return rows
}

func tableValue(ref *engine.TableRef) any {
	if ref == nil {
		return nil
	}
	return []any{ref.Project, ref.Dataset, ref.Table}
}

func jobsRows(r *resolver, project string) [][]any {
	var rows [][]any
	for _, j := range r.jobsOf(project) {
		state := "DONE"
		switch {
		case j.started.IsZero():
			state = "PENDING"
		case j.ended.IsZero():
			state = "RUNNING"
		}
		var failed any
		if j.err != nil {
			reason := "internalError"
			if e, ok := errors.AsType[*engine.Error](j.err); ok {
				reason = e.Reason
			}
			failed = []any{reason, nil, nil, j.err.Error()}
		}
		referenced := []any{}
		for _, ref := range j.referenced {
			referenced = append(referenced, tableValue(&ref))
		}
		rows = append(rows, []any{
			j.created, j.project, j.user, j.id, j.kind, orNull(j.statement), "INTERACTIVE", j.started, j.ended, orNull(j.sql), state, nil,
			j.bytes, j.bytes, j.slotMillis, failed, false, tableValue(j.destination), referenced,
		})
	}
	return rows
}

const jobsTimelineColumns = `period_start TIMESTAMP, period_slot_ms INT64, project_id STRING, user_email STRING, job_id STRING, job_type STRING, statement_type STRING,
 priority STRING, job_creation_time TIMESTAMP, job_start_time TIMESTAMP, job_end_time TIMESTAMP, state STRING, reservation_id STRING, total_bytes_processed INT64,
 error_result STRUCT<reason STRING, location STRING, debug_info STRING, message STRING>, cache_hit BOOL`

// maxPeriods bounds the seconds that one job shows in JOBS_TIMELINE.
const maxPeriods = 3600

// jobsTimelineRows has a row for each second that a job ran in, its slot time spread
// over them.
func jobsTimelineRows(r *resolver, project string) [][]any {
	var rows [][]any
	for _, j := range r.jobsOf(project) {
		if j.started.IsZero() {
			continue
		}
		end, state := j.ended, "DONE"
		if end.IsZero() {
			end, state = r.snapshot.Time(), "RUNNING"
		}
		first := j.started.Truncate(time.Second)
		periods := min(maxPeriods, int64(end.Sub(first)/time.Second)+1)
		for i := range periods {
			slot := j.slotMillis / periods
			if i == 0 {
				slot += j.slotMillis % periods
			}
			rows = append(rows, []any{
				first.Add(time.Duration(i) * time.Second), slot, j.project, j.user, j.id, j.kind, orNull(j.statement), "INTERACTIVE", j.created, j.started, j.ended,
				state, nil, j.bytes, nil, false,
			})
		}
	}
	return rows
}

const writeTimelineColumns = `start_timestamp TIMESTAMP, project_id STRING, project_number INT64, dataset_id STRING, table_id STRING, stream_type STRING, error_code STRING,
 total_requests INT64, total_rows INT64, total_input_bytes INT64`

func writeTimelineRows(r *resolver, project string) [][]any {
	var rows [][]any
	for _, i := range intervalsOf(r.writes, project) {
		rows = append(rows, []any{i.Start, i.Project, nil, i.Dataset, i.Table, i.StreamType, i.ErrorCode, i.Requests, i.Rows, i.Bytes})
	}
	return rows
}

const streamingTimelineColumns = `start_timestamp TIMESTAMP, project_id STRING, project_number INT64, dataset_id STRING, table_id STRING, error_code STRING,
 total_requests INT64, total_rows INT64, total_input_bytes INT64`

func streamingTimelineRows(r *resolver, project string) [][]any {
	var rows [][]any
	for _, i := range intervalsOf(r.streams, project) {
		rows = append(rows, []any{i.Start, i.Project, nil, i.Dataset, i.Table, i.ErrorCode, i.Requests, i.Rows, i.Bytes})
	}
	return rows
}

func intervalsOf(t *timeline.Timeline, project string) []timeline.Interval {
	return slices.DeleteFunc(t.Intervals(), func(i timeline.Interval) bool { return i.Project != project })
}
