package emulator

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// defaultStream is the ID of the stream that every table has.
const defaultStream = "_default"

// parseStream reads a stream's name, projects/P/datasets/D/tables/T/streams/S. The
// default stream's may lack "streams/".
func parseStream(name string) (ref tableRef, stream string, err error) {
	parts := strings.Split(name, "/")
	if len(parts) == 7 && parts[6] == defaultStream {
		parts = append(parts[:6:6], "streams", defaultStream)
	}
	if len(parts) != 8 || parts[6] != "streams" || parts[7] == "" {
		return ref, "", status.Errorf(codes.InvalidArgument, "Invalid stream name: %q", clip(name))
	}
	ref, err = parseTablePath(strings.Join(parts[:6], "/"))
	if err != nil {
		return ref, "", status.Errorf(codes.InvalidArgument, "Invalid stream name: %q", clip(name))
	}
	return ref, parts[7], nil
}

// parseTablePath reads projects/P/datasets/D/tables/T.
func parseTablePath(path string) (tableRef, error) {
	parts := strings.Split(path, "/")
	if len(parts) != 6 || parts[0] != "projects" || parts[2] != "datasets" || parts[4] != "tables" ||
		parts[1] == "" || parts[3] == "" || parts[5] == "" {
		return tableRef{}, status.Errorf(codes.InvalidArgument, "Invalid table name: %q", clip(path))
	}
	return tableRef{parts[1], parts[3], parts[5]}, nil
}

// clip bounds what a stranger's text adds to a message.
func clip(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
