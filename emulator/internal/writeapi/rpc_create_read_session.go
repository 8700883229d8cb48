package writeapi

import (
	"context"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/emulator/internal/engine"
)

// ReadService is the gRPC service BigQueryRead, of which only refusals are here: it
// says so, and refuses what BigQuery refuses for what BigQuery refuses it.
type ReadService struct {
	storagepb.UnimplementedBigQueryReadServer
	engine *engine.Engine
}

// NewReads returns the service for an engine's tables.
func NewReads(e *engine.Engine) *ReadService { return &ReadService{engine: e} }

// CreateReadSession refuses:
//
//   - A table that isn't there is NOT_FOUND.
//   - A table whose pending changes would have to be merged is FAILED_PRECONDITION:
//     "Tables with active CDC that perform runtime merge jobs because the table's
//     max_staleness value is too low cannot support […] the BigQuery Storage Read API".
//   - Any other is UNIMPLEMENTED.
func (s *ReadService) CreateReadSession(_ context.Context, request *storagepb.CreateReadSessionRequest) (*storagepb.ReadSession, error) {
	name := request.GetReadSession().GetTable()
	ref, err := parseTablePath(name)
	if err != nil {
		return nil, err
	}
	table, err := s.engine.Table(ref)
	if err != nil {
		return nil, rpcError(name, err)
	}
	if s.engine.CDCState(table).RuntimeMerge {
		return nil, status.Errorf(codes.FailedPrecondition,
			"The Storage Read API is not supported on table %s while its pending changes have to be merged at query time; raise its max_staleness.", ref)
	}
	return nil, status.Error(codes.Unimplemented, "The Storage Read API is not implemented by this emulator: read by a query or tabledata.list")
}
