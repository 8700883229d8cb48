package rest

import (
	"net/http"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
)

// tables: testIamPermissions
//
// Behavior:
//   - The table must be there; whoever asks has every permission that is asked for,
//     since the emulator knows no accounts.

const testPermissions = ":testIamPermissions"

// testTablePermissions serves a POST to a table's path, whose last part holds the
// method after a colon.
func (s *Service) testTablePermissions(r *http.Request) (any, error) {
	name, ok := strings.CutSuffix(r.PathValue("table"), testPermissions)
	if !ok {
		return nil, engine.Unimplemented("%s %s is not implemented by this emulator", r.Method, engine.Clip(r.URL.Path))
	}
	ref := tableOf(r)
	ref.Table = name
	if _, err := s.engine.Table(ref); err != nil {
		return nil, err
	}
	var asked bq.TestIamPermissionsRequest
	if err := decodeBody(r, &asked); err != nil {
		return nil, err
	}
	return &bq.TestIamPermissionsResponse{Permissions: asked.Permissions}, nil
}
