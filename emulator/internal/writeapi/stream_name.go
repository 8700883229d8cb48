package writeapi

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"beamcdc/emulator/internal/engine"
)

// defaultStream is the ID of the stream that every table has.
const defaultStream = "_default"

// maxNameBytes bounds a name: errors tell it, and each of its parts has 1,024
// characters at most.
const maxNameBytes = 8192

// parseStream reads a stream's name, projects/P/datasets/D/tables/T/streams/S. The
// default stream's may lack "streams/".
func parseStream(name string) (ref engine.TableRef, stream string, err error) {
	parts := strings.Split(name, "/")
	if len(parts) == 7 && parts[6] == defaultStream {
		parts = append(parts[:6:6], "streams", defaultStream)
	}
	if len(name) > maxNameBytes || len(parts) != 8 || parts[6] != "streams" || parts[7] == "" {
		return ref, "", status.Errorf(codes.InvalidArgument, "Invalid stream name: %q", engine.Clip(name))
	}
	ref, err = parseTablePath(strings.Join(parts[:6], "/"))
	if err != nil {
		return ref, "", status.Errorf(codes.InvalidArgument, "Invalid stream name: %q", engine.Clip(name))
	}
	return ref, parts[7], nil
}

// tablePath is the reverse of parseTablePath.
func tablePath(r engine.TableRef) string {
	return "projects/" + r.Project + "/datasets/" + r.Dataset + "/tables/" + r.Table
}

// parseTablePath reads projects/P/datasets/D/tables/T.
func parseTablePath(path string) (engine.TableRef, error) {
	parts := strings.Split(path, "/")
	if len(path) > maxNameBytes || len(parts) != 6 || parts[0] != "projects" || parts[2] != "datasets" || parts[4] != "tables" ||
		parts[1] == "" || parts[3] == "" || parts[5] == "" {
		return engine.TableRef{}, status.Errorf(codes.InvalidArgument, "Invalid table name: %q", engine.Clip(path))
	}
	return engine.TableRef{Project: parts[1], Dataset: parts[3], Table: parts[5]}, nil
}
