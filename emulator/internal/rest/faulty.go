package rest

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/faults"
)

const defaultFault = "The emulator was told to fail."

// faulty lets faults at a call of a REST method: serve answers it.
func (s *Service) faulty(w http.ResponseWriter, r *http.Request, method string, serve http.HandlerFunc) {
	call := faults.Call{Method: method}
	if table := r.PathValue("table"); table != "" {
		ref := tableOf(r)
		ref.Table, _, _ = strings.Cut(ref.Table, "$")
		call.Table = ref.Dotted()
	}
	e := s.options.Effect(call)
	if e.Delay > 0 {
		select {
		case <-time.After(e.Delay):
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case e.Cut == "before":
		cut(w)
	case e.Cut == "after":
		serve(unheard{http.Header{}}, r)
		cut(w)
	case e.Code != "":
		s.writeError(w, r, FaultError(&e))
	default:
		serve(w, r)
	}
}

// cut closes the connection, without an answer.
func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close() // it is to be broken
	}
}

// unheard takes an answer that nobody gets.
type unheard struct{ header http.Header }

func (u unheard) Header() http.Header         { return u.header }
func (u unheard) Write(p []byte) (int, error) { return len(p), nil }
func (u unheard) WriteHeader(int)             {}

// FaultError is a fault's gRPC code as Google's REST APIs have it, with the reason
// that BigQuery gives.
func FaultError(e *faults.Effect) error {
	code := e.GRPCCode()
	answer := &engine.Error{Code: http.StatusInternalServerError, Reason: "internalError", Message: cmp.Or(e.Message, defaultFault), Status: e.Code}
	switch code {
	case codes.Unavailable:
		answer.Code, answer.Reason = http.StatusServiceUnavailable, "backendError"
	case codes.DeadlineExceeded:
		answer.Code, answer.Reason = http.StatusGatewayTimeout, "timeout"
	case codes.ResourceExhausted:
		answer.Code, answer.Reason = http.StatusForbidden, "rateLimitExceeded"
	case codes.PermissionDenied:
		answer.Code, answer.Reason = http.StatusForbidden, "accessDenied"
	case codes.Unauthenticated:
		answer.Code, answer.Reason = http.StatusUnauthorized, "authError"
	case codes.NotFound:
		answer.Code, answer.Reason = http.StatusNotFound, "notFound"
	case codes.AlreadyExists:
		answer.Code, answer.Reason = http.StatusConflict, "duplicate"
	case codes.Aborted:
		answer.Code, answer.Reason = http.StatusConflict, "aborted"
	case codes.InvalidArgument, codes.FailedPrecondition, codes.OutOfRange:
		answer.Code, answer.Reason = http.StatusBadRequest, "invalid"
	case codes.Unimplemented:
		answer.Code, answer.Reason = http.StatusNotImplemented, "notImplemented"
	case codes.Canceled:
		answer.Code, answer.Reason = 499, "stopped" // as Google's table of codes has it
	default: // INTERNAL, UNKNOWN, DATA_LOSS
	}
	return answer
}
