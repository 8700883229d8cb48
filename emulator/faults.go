package emulator

import "beamcdc/emulator/internal/faults"

// Call is one call as Options.OnCall sees it, before the server does.
type Call = faults.Call

// Effect is what goes wrong with a call. Its zero value is nothing.
type Effect = faults.Effect

// Fault is an effect and the calls that it is for.
type Fault = faults.Fault

// FaultStatus is a fault and how often it matched and happened.
type FaultStatus = faults.Status

// ParseFaults reads a list of faults in YAML, of which JSON is a part:
//
//   - {table: shop.orders, skip: 10, every: 5, times: 3, code: UNAVAILABLE}
//   - {method: GetWriteStream, delay: 2s}
//
// An unknown key, and a fault that can't be meant, is an error.
func ParseFaults(text []byte) ([]Fault, error) { return faults.Parse(text) }

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
