package rest

import (
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/query"
)

// A query without a destination has an anonymous table: this dataset's, named after
// its job. It has the job's rows, and is listed nowhere.
const (
	anonymousDataset = "_anonymous"
	anonymousTable   = "anon_"
)

// anonymous finds the query whose anonymous table this is.
func (s *Service) anonymous(ref engine.TableRef) (*query.Job, error) {
	id, ok := strings.CutPrefix(ref.Table, anonymousTable)
	if !ok {
		return nil, engine.NotFound("Not found: Table %s", ref)
	}
	j, err := s.options.Jobs.Find(ref.Project, id)
	if err != nil || !isDone(j) || j.Result == nil {
		return nil, engine.NotFound("Not found: Table %s", ref)
	}
	return j, nil
}

// anonymousResource is the table as tables.get shows it.
func (s *Service) anonymousResource(ref engine.TableRef) (*bq.Table, error) {
	j, err := s.anonymous(ref)
	if err != nil {
		return nil, err
	}
	return &bq.Table{
		Kind: "bigquery#table", Id: ref.String(), TableReference: tableReference(ref), Type: "TABLE", Location: j.Location, Schema: j.Result.Schema,
		CreationTime: j.Created.UnixMilli(), LastModifiedTime: uint64(j.Ended.UnixMilli()), ExpirationTime: j.Ended.AddDate(0, 0, 1).UnixMilli(),
		NumRows: uint64(len(j.Result.Rows)), Etag: j.ID, ForceSendFields: []string{"NumRows"},
	}, nil
}
