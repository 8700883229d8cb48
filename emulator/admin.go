package emulator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"beamcdc/emulator/internal/engine"
)

// The admin endpoint, under /emulator/v1, offers to programs in any language what
// Server offers to Go:
//
//	PUT    /emulator/v1/faults  a list of faults, in YAML or JSON, in the place of those that were set
//	GET    /emulator/v1/faults  the faults, and how often each has matched and happened
//	DELETE /emulator/v1/faults  no faults any more
//	POST   /emulator/v1/clock   {"advance": "36h"}, {"freeze": "2026-01-02T03:04:05Z"}, {"run": true}, or several;
//	                            it answers when what is due by the new time is applied, unless applies are held
//	GET    /emulator/v1/clock   {"now": …}
//	POST   /emulator/v1/apply   applies what is due by the clock; {"table": "dataset.table"} applies that table
//	                            alone, due or not and held or not; {"hold": true} holds background applies back,
//	                            {"hold": false} lets them go on
//	GET    /emulator/v1/stats   counts of requests, rows, applies, …
//	GET    /emulator/v1/projects/P/datasets/D/tables/T/rows  all current rows, as Server.Rows has them
//
// What is wrong with a request, an unknown key too, is a text with the status 400. It has
// no authentication, like the rest of the emulator. The last two are in package rest.

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
		"GET /emulator/v1/clock":  s.getClock,
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
		list = append(list, shown{strings.TrimSpace(string(text)), f.Matched, f.Happened})
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

// decode reads a request's JSON. No key that isn't known is passed over: who misspells
// one should hear of it.
func decode(body []byte, into any, example string) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		return fmt.Errorf("reading the request: %w; write %s", err, example)
	}
	return nil
}

func (s *Server) getClock(context.Context, []byte) (any, error) {
	return map[string]time.Time{"now": s.options.Now().UTC()}, nil
}

func (s *Server) moveClock(ctx context.Context, body []byte) (any, error) {
	var move struct {
		Advance string    `json:"advance"`
		Freeze  time.Time `json:"freeze"`
		Run     bool      `json:"run"`
	}
	clock := s.options.Clock
	if clock == nil {
		return nil, errors.New("this emulator's clock can't be moved: it was given another")
	}
	if err := decode(body, &move, `{"advance": "36h"}, {"freeze": "2026-01-02T03:04:05Z"} or {"run": true}`); err != nil {
		return nil, err
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
	if err := s.ApplyDue(ctx); err != nil {
		return nil, err
	}
	return s.getClock(ctx, nil)
}

func (s *Server) apply(ctx context.Context, body []byte) (any, error) {
	var request struct {
		Hold  *bool  `json:"hold"`
		Table string `json:"table"`
	}
	if len(body) > 0 {
		if err := decode(body, &request, `{"table": "dataset.table"}, {"hold": true}, {"hold": false} or nothing`); err != nil {
			return nil, err
		}
	}
	var ref engine.TableRef
	if request.Table != "" {
		// A project's name may have dots.
		parts := strings.Split(request.Table, ".")
		n := len(parts)
		if n < 2 || slices.Contains(parts, "") {
			return nil, fmt.Errorf("table: %q is neither dataset.table nor project.dataset.table", request.Table)
		}
		ref = engine.TableRef{Project: cmp.Or(strings.Join(parts[:n-2], "."), s.options.Project), Dataset: parts[n-2], Table: parts[n-1]}
	}
	if request.Hold != nil {
		s.HoldApplies(*request.Hold)
	}
	var err error
	if request.Table != "" {
		err = s.applyTable(ctx, ref)
	} else {
		err = s.ApplyDue(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.Stats(), nil
}
