package writeapi

import (
	"context"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/status"

	"beamcdc/emulator/internal/timeline"
)

// counted is a reply whose request is counted in the timeline, by what it is
// answered with.
func (c *connection) counted(request *storagepb.AppendRowsRequest, r reply) reply {
	line := c.service.options.Timeline
	if line == nil {
		return r
	}
	key := timeline.Key{Project: c.ref.Project, Dataset: c.ref.Dataset, Table: c.ref.Table, StreamType: "DEFAULT"}
	if c.id != defaultStream {
		key.StreamType = storagepb.WriteStream_TYPE_UNSPECIFIED.String()
		if stream, err := c.service.engine.Stream(c.ref, c.id); err == nil {
			key.StreamType = typeOf(stream).String()
		}
	}
	rows := request.GetProtoRows().GetRows().GetSerializedRows()
	size := 0
	for _, row := range rows {
		size += len(row)
	}
	return func(ctx context.Context) (*storagepb.AppendRowsResponse, error) {
		response, err := r(ctx)
		switch e := response.GetError(); {
		case err != nil:
			key.ErrorCode = code.Code(status.Code(err)).String()
		default:
			key.ErrorCode = code.Code(e.GetCode()).String()
		}
		line.Add(c.service.options.Now(), key, int64(len(rows)), int64(size))
		return response, err
	}
}
