// Package engine keeps BigQuery's datasets and tables in DuckDB, and applies changes
// to them. It knows the types, the forms of values and the rules of CDC; it knows
// neither gRPC and protocol buffers nor HTTP: packages writeapi and rest serve it.
//
// Errors that a client is to see are an *Error, in BigQuery's words.
package engine
