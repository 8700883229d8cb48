// Package faults decides which calls to the emulator go wrong, and how: what
// production does to a client, on request.
package faults

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// appendRows is the method that a fault without one is for.
const appendRows = "AppendRows"

// Call is one call as a fault sees it, before the server does.
type Call struct {
	// Method is the name of the RPC ("AppendRows", "GetWriteStream") or of REST's
	// method ("tables.get", "tabledata.insertAll").
	Method string
	// Table is "project.dataset.table", or "" where the call names none.
	Table string
	// Request is the RPC's message, as it was sent: all but a connection's first
	// AppendRows may lack the stream's name and the schema. It is nil for REST.
	Request proto.Message
}

// Effect is what goes wrong with a call. Its zero value is nothing.
type Effect struct {
	// Delay is how long the call waits before anything else happens. It delays its
	// connection alone.
	Delay time.Duration `yaml:"delay"`

	// Code is the name of the gRPC code that the call is answered with in the
	// server's place: UNAVAILABLE. Message is its text; it has a default.
	Code    string `yaml:"code"`
	Message string `yaml:"message"`
	// StorageError is the name of the Storage Write API's code in the error's
	// details: TABLE_NOT_FOUND.
	StorageError string `yaml:"storage_error"`
	// EndConnection lets Code end the connection of an AppendRows; otherwise it comes
	// inside a response and the connection goes on.
	EndConnection bool `yaml:"end_connection"`

	// Cut ends the connection with UNAVAILABLE: "before" anything is done, or
	// "after" the rows are stored, whose response is then lost.
	Cut string `yaml:"cut"`
	// LoseResponse does the call and sends no response, nor one to what follows on its
	// connection, which stays open. For AppendRows alone.
	LoseResponse bool `yaml:"lose_response"`

	// RejectRows are the positions of an AppendRows request's rows that get a row
	// error, with RejectMessage as its text; nothing of the request is stored.
	// Positions that the request doesn't have are passed over.
	RejectRows    []int  `yaml:"reject_rows"`
	RejectMessage string `yaml:"reject_message"`

	// Throttle is how many bytes of AppendRows requests are taken in a second; what
	// is beyond is answered with RESOURCE_EXHAUSTED as by the throughput quota. It
	// counts all connections that its fault matches.
	Throttle int64 `yaml:"bytes_per_second"`

	// HideNew is how long the Write API doesn't know a table after it was created, nor
	// a column after it was added: BigQuery's metadata lags by minutes.
	HideNew time.Duration `yaml:"hide_new"`
}

// Fault is an effect and the calls that it is for.
type Fault struct {
	// Method is a pattern of Call.Method, in which * stands for anything. Defaults to
	// AppendRows.
	Method string `yaml:"method"`
	// Table is a pattern of the call's table, "dataset.table" or
	// "project.dataset.table", in which * stands for anything but a dot. "" is any.
	Table string `yaml:"table"`

	// From and For bound the time in which it counts, by the emulator's clock, from
	// when it was set. For 0 is no end.
	From time.Duration `yaml:"from"`
	For  time.Duration `yaml:"for"`

	// Skip is how many matching calls go through first; of those that follow each
	// Every-th goes wrong, at most Times in all. Every 0 is 1, Times 0 no bound.
	Skip  int `yaml:"skip"`
	Every int `yaml:"every"`
	Times int `yaml:"times"`
	// Chance lets each of these calls go wrong with this probability, by a generator
	// that begins at Seed. 0 is always.
	Chance float64 `yaml:"chance"`
	Seed   uint64  `yaml:"seed"`

	Effect `yaml:",inline"`
}

// matchMethod holds a method's name against the fault's pattern.
func (f *Fault) matchMethod(name string) bool {
	matched, _ := path.Match(cmp.Or(f.Method, appendRows), name) // Check tells of a pattern that is none
	return matched
}

// IsZero reports whether nothing goes wrong.
func (e *Effect) IsZero() bool {
	return e.Delay == 0 && e.Code == "" && e.Cut == "" && !e.LoseResponse && len(e.RejectRows) == 0 && e.Throttle == 0 && e.HideNew == 0
}

// GRPCCode is Code as gRPC has it; OK if it is "".
func (e *Effect) GRPCCode() codes.Code {
	code, _ := parseCode(e.Code)
	return code
}

// StorageCode is StorageError as the Write API has it.
func (e *Effect) StorageCode() storagepb.StorageError_StorageErrorCode {
	return storagepb.StorageError_StorageErrorCode(storagepb.StorageError_StorageErrorCode_value[e.StorageError])
}

// parseCode reads a code's name as gRPC's documents write it.
func parseCode(name string) (codes.Code, error) {
	if name == "" {
		return codes.OK, nil
	}
	var code codes.Code
	if err := code.UnmarshalJSON([]byte(`"` + name + `"`)); err != nil || code == codes.OK {
		return codes.OK, fmt.Errorf("code: %q is no gRPC code; write one such as UNAVAILABLE", name)
	}
	return code, nil
}

// Check returns what is wrong with an effect, all of it.
func (e *Effect) Check() error {
	var errs []error
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if _, err := parseCode(e.Code); err != nil {
		errs = append(errs, err)
	}
	if _, known := storagepb.StorageError_StorageErrorCode_value[e.StorageError]; e.StorageError != "" && !known {
		report("storage_error: %q is no code of the Storage Write API's; write one such as TABLE_NOT_FOUND", e.StorageError)
	}
	if e.Code == "" && (e.StorageError != "" || e.Message != "" || e.EndConnection) {
		report("code: it is missing; message, storage_error and end_connection go with it")
	}
	if !slices.Contains([]string{"", "before", "after"}, e.Cut) {
		report("cut: %q is neither before nor after", e.Cut)
	}
	if slices.ContainsFunc(e.RejectRows, func(row int) bool { return row < 0 }) {
		report("reject_rows: a position is negative; the first row's is 0")
	}
	if e.RejectMessage != "" && len(e.RejectRows) == 0 {
		report("reject_rows: it is missing; reject_message goes with it")
	}
	for name, d := range map[string]time.Duration{"delay": e.Delay, "hide_new": e.HideNew} {
		if d < 0 {
			report("%s: it is negative", name)
		}
	}
	if e.Throttle < 0 {
		report("bytes_per_second: it is negative")
	}
	answers := 0
	for _, set := range []bool{e.Code != "", e.Cut != "", e.LoseResponse, len(e.RejectRows) > 0, e.Throttle > 0} {
		if set {
			answers++
		}
	}
	if answers > 1 {
		report("only one of code, cut, lose_response, reject_rows and bytes_per_second can happen to a call")
	}
	return errors.Join(errs...)
}

// Check returns what is wrong with a fault, all of it. Methods are the names of those
// that there are: a fault for another would never happen, and nobody would be told.
func (f *Fault) Check(methods []string) error {
	errs := []error{f.Effect.Check()}
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if f.IsZero() {
		report("nothing goes wrong; give one of delay, code, cut, lose_response, reject_rows, bytes_per_second, hide_new")
	}
	for name, pattern := range map[string]string{"method": f.Method, "table": f.Table} {
		if _, err := path.Match(pattern, ""); err != nil {
			report("%s: %q is no pattern", name, pattern)
		}
	}
	if !slices.ContainsFunc(methods, f.matchMethod) {
		report("method: %q is none of %s", f.Method, strings.Join(methods, ", "))
	}
	for name, set := range map[string]bool{"lose_response": f.LoseResponse, "reject_rows": len(f.RejectRows) > 0, "bytes_per_second": f.Throttle > 0} {
		if set && !f.matchMethod(appendRows) {
			report("%s: it is for AppendRows alone, not for method %q", name, f.Method)
		}
	}
	if parts := strings.Count(f.Table, ".") + 1; f.Table != "" && parts != 2 && parts != 3 {
		report("table: %q is neither dataset.table nor project.dataset.table", f.Table)
	}
	for name, n := range map[string]int{"skip": f.Skip, "every": f.Every, "times": f.Times} {
		if n < 0 {
			report("%s: it is negative", name)
		}
	}
	for name, d := range map[string]time.Duration{"from": f.From, "for": f.For} {
		if d < 0 {
			report("%s: it is negative", name)
		}
	}
	if f.Chance < 0 || f.Chance > 1 {
		report("chance: it is not between 0 and 1")
	}
	return errors.Join(errs...)
}
