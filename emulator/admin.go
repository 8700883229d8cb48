package emulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/goccy/go-yaml"
)

// The admin endpoint, under /emulator/v1, offers to programs in any language what
// Server offers to Go:
//
//	PUT    /emulator/v1/faults  a list of faults, in YAML or JSON, in the place of those that were set
//	GET    /emulator/v1/faults  the faults, and how often each has matched and happened
//	DELETE /emulator/v1/faults  no faults any more
//	POST   /emulator/v1/clock   {"advance": "36h"}, {"freeze": "2026-01-02T03:04:05Z"}, {"run": true}, or several
//	GET    /emulator/v1/clock   {"now": …}
//	POST   /emulator/v1/apply   applies what is due by the clock; {"hold": true} holds background applies back,
//	                            {"hold": false} lets them go on
//	GET    /emulator/v1/stats   counts of requests, rows, applies, …
//
// What is wrong with a request is a text with the status 400. It has no
// authentication, like the rest of the emulator.

// maxAdminBody bounds a request's body, in bytes.
const maxAdminBody = 1 << 20

func (s *Server) admin(rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]func(context.Context, []byte) (any, error){
		"PUT /emulator/v1/faults": s.putFaults,
		"GET /emulator/v1/faults": s.getFaults,
		"DELETE /emulator/v1/faults": func(ctx context.Context, _ []byte) (any, error) {
			return s.putFaults(ctx, nil)
		},
		"POST /emulator/v1/clock": s.moveClock,
		"GET /emulator/v1/clock":  s.moveClock,
		"POST /emulator/v1/apply": s.apply,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAdminBody))
			var answer any
			if err == nil {
				answer, err = h(r.Context(), body)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json; charset=UTF-8")
			_ = json.NewEncoder(w).Encode(answer) // the client is gone when this fails
		})
	}
	mux.Handle("/", rest)
	return mux
}

func (s *Server) getFaults(context.Context, []byte) (any, error) {
	type shown struct {
		Fault    string `json:"fault"`
		Matched  int    `json:"matched"`
		Happened int    `json:"happened"`
	}
	list := []shown{}
	for _, f := range s.Faults() {
		text, err := yaml.MarshalWithOptions(f.Fault, yaml.Flow(true), yaml.OmitEmpty())
		if err != nil {
			return nil, fmt.Errorf("showing a fault: %w", err)
		}
		list = append(list, shown{string(text), f.Matched, f.Happened})
	}
	return map[string]any{"faults": list}, nil
}

func (s *Server) putFaults(ctx context.Context, body []byte) (any, error) {
	list, err := ParseFaults(body)
	if err != nil {
		return nil, err
	}
	if err := s.SetFaults(list); err != nil {
		return nil, err
	}
	return s.getFaults(ctx, nil)
}

func (s *Server) moveClock(_ context.Context, body []byte) (any, error) {
	var move struct {
		Advance string    `json:"advance"`
		Freeze  time.Time `json:"freeze"`
		Run     bool      `json:"run"`
	}
	if len(body) > 0 {
		clock := s.options.Clock
		if clock == nil {
			return nil, errors.New("this emulator's clock can't be moved: it was given another")
		}
		if err := json.Unmarshal(body, &move); err != nil {
			return nil, fmt.Errorf(`reading the request: %w; write {"advance": "36h"}, {"freeze": "2026-01-02T03:04:05Z"} or {"run": true}`, err)
		}
		var by time.Duration
		if move.Advance != "" {
			var err error
			if by, err = time.ParseDuration(move.Advance); err != nil {
				return nil, fmt.Errorf("advance: %q is no duration such as 36h or 15m", move.Advance)
			}
		}
		if !move.Freeze.IsZero() {
			clock.Freeze(move.Freeze)
		}
		clock.Advance(by)
		if move.Run {
			clock.Run()
		}
	}
	return map[string]time.Time{"now": s.options.Now().UTC()}, nil
}

func (s *Server) apply(ctx context.Context, body []byte) (any, error) {
	var request struct {
		Hold *bool `json:"hold"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &request); err != nil {
			return nil, fmt.Errorf(`reading the request: %w; write {"hold": true}, {"hold": false} or nothing`, err)
		}
	}
	if request.Hold != nil {
		s.HoldApplies(*request.Hold)
	}
	if err := s.ApplyDue(ctx); err != nil {
		return nil, err
	}
	return s.Stats(), nil
}
