// Package rowproto encodes changes as rows of BigQuery's Storage Write API.
//
// Compile turns a table's schema into a Plan: a protobuf descriptor and, for
// each column, how a value becomes bytes. AppendUpsert and AppendDelete then
// write protobuf's wire format straight from change.Values: no message, no map
// and no reflection lies between, and nothing is allocated but what dst grows by.
// AppendKey writes the primary key's change.Key. A Plan is safe for any number of
// goroutines; an Encoder, which a Plan makes, is for one.
//
// # How a column is written
//
//	BOOL       bool      INT64      int64    FLOAT64   double
//	DATE       int32, days since 1970-01-01
//	TIMESTAMP  int64, microseconds since 1970-01-01 00:00:00 UTC
//	BYTES      bytes     STRING, NUMERIC, BIGNUMERIC, DATETIME, TIME, INTERVAL, JSON, GEOGRAPHY  string
//	RANGE      message of start and end, written as their element is; an unset bound is unbounded
//	STRUCT     message   REPEATED   repeated, packed where protobuf can
//
// The descriptor is proto2. Every field that isn't repeated is optional, that of
// a REQUIRED column too, so that a DELETE can be its key alone. A field's number
// is its column's position plus one; the pseudo-columns have 2046 and 2047, so
// that a new column moves nothing. A column whose name is no identifier is named
// by the column_name option.
//
// # What a value becomes
//
// A value reaches BigQuery exactly, or by a policy that the user chose, or is
// refused (invariant 5). What it means, its message says, else the column's From,
// at any magnitude, else the one reading that the column's type allows; else it
// is a bad value, whose error names the setting that would decide. The functions
// below say what they take, and docs/types.md shows it, for every kind of value
// and every type: it is written by this package's tests.
//
// Of what is no bad value, two things are worth knowing. Nanoseconds are cut
// downwards to microseconds, the one loss that needs no setting. And a number with
// a point or an exponent is to a FLOAT64 and to a JSON document the nearest double.
//
// # Policies
//
// A column's BadValues decides about a bad value, as table.Policy.Effect says. A
// bad field makes its STRUCT bad unless the field's own policy helps, and a bad
// element its array. No policy applies to the primary key (NULL is no key, and
// clamping would make two rows one), to an unavailable value, or to columns that
// are unknown, ambiguous or missing. RowOptions.Adjusted tells what policies did:
// each value that one replaced, once.
package rowproto
