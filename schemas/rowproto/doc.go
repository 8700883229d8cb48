// Package rowproto encodes changes as rows of BigQuery's Storage Write API.
//
// Compile turns a table's schema into a Plan: a protobuf descriptor and, for
// each column, how a value becomes bytes. AppendUpsert and AppendDelete then
// write protobuf's wire format straight from change.Values: no message is built.
package rowproto
