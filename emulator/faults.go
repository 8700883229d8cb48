package emulator

import (
	"slices"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/faults"
	"beamcdc/emulator/internal/rest"
	"beamcdc/emulator/internal/writeapi"
)

// Call is one call as Options.OnCall sees it, before the server does:
//
//	Method   string         // of the RPC ("AppendRows") or of REST's method ("tables.get")
//	Table    string         // "project.dataset.table", or "" where the call names none
//	Request  proto.Message  // as it was sent, nil for REST
type Call = faults.Call

// Effect is what goes wrong with a call. Its zero value is nothing. Its fields, with
// their keys in YAML:
//
//	Delay          time.Duration  // delay: how long the call waits before anything else
//	Code           string         // code: the gRPC code that it is answered with, "UNAVAILABLE"
//	Message        string         // message: the text of Code
//	StorageError   string         // storage_error: in the details of Code, "TABLE_NOT_FOUND"
//	EndConnection  bool           // end_connection: Code ends an AppendRows connection
//	Cut            string         // cut: the connection, "before" anything is done or "after" it is
//	LoseResponse   bool           // lose_response: it is done, and the connection says nothing any more
//	RejectRows     []int          // reject_rows: positions of an AppendRows request's rows
//	RejectMessage  string         // reject_message: the text of their row errors
//	Throttle       int64          // bytes_per_second: of AppendRows requests, as by the quota
//	HideNew        time.Duration  // hide_new: how long the Write API doesn't know new tables and columns
//
// Of Code, Cut, LoseResponse, RejectRows and Throttle there can be one. LoseResponse,
// RejectRows and Throttle are for AppendRows alone.
type Effect = faults.Effect

// Fault is an effect and the calls that it is for. Its fields, with their keys in YAML,
// besides Effect's:
//
//	Method  string         // method: a pattern such as "tables.*", or "BackgroundApply"; "" is AppendRows
//	Table   string         // table: a pattern such as "shop.*" or "project.shop.orders"; "" is any
//	From    time.Duration  // from: when it begins to count, by the emulator's clock, after it was set
//	For     time.Duration  // for: how long it counts; 0 is no end
//	Skip    int            // skip: how many matching calls go through first
//	Every   int            // every: of those that follow, each Every-th goes wrong; 0 is 1
//	Times   int            // times: at most so many in all; 0 is no bound
//	Chance  float64        // chance: the probability with which each of those does; 0 is always
//	Seed    uint64         // seed: where Chance's generator begins
//	Effect                 // what goes wrong
type Fault = faults.Fault

// FaultStatus is a fault and how often it matched and happened:
//
//	Fault     Fault
//	Matched   int
//	Happened  int
type FaultStatus = faults.Status

// ParseFaults reads a list of faults in YAML, of which JSON is a part:
//
//   - {table: shop.orders, skip: 10, every: 5, times: 3, code: UNAVAILABLE}
//   - {method: GetWriteStream, delay: 2s}
//
// An unknown key, and a fault that can't be meant, is an error.
func ParseFaults(text []byte) ([]Fault, error) { return faults.Parse(text, faultMethods()) }

// backgroundApply is what a fault calls the apply of a table's changes that BigQuery
// does by itself. Of effects it takes Code and Message; it is tried again after a minute.
const backgroundApply = "BackgroundApply"

// applyFault is the error with which a background apply is to fail.
func (s *Server) applyFault(ref engine.TableRef) error {
	if e := s.faults.Next(Call{Method: backgroundApply, Table: ref.Dotted()}); e.Code != "" {
		return rest.FaultError(&e)
	}
	return nil
}

// faultMethods are the methods whose calls can go wrong.
func faultMethods() []string {
	return slices.Concat(writeapi.Methods(), rest.Methods(), []string{backgroundApply})
}

// SetFaults puts these faults in the place of those that were set before. Of the
// faults that are due for a call the first one happens. It changes nothing if one of
// them is wrong; the error says which.
func (s *Server) SetFaults(list []Fault) error { return s.faults.Replace(list) }

// Faults returns the faults that are set, and what they have done.
func (s *Server) Faults() []FaultStatus { return s.faults.List() }

// effect is what goes wrong with a call.
func (s *Server) effect(c Call) Effect {
	if s.options.OnCall != nil {
		if e := s.options.OnCall(c); !e.IsZero() {
			return e
		}
	}
	return s.faults.Next(c)
}
