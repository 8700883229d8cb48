// Package query runs GoogleSQL statements on an engine: it finds the tables that a
// statement names, has package googlesql translate it, and gives the engine what
// comes of that. It also keeps the jobs that ran, and shows what there is in
// INFORMATION_SCHEMA.
package query
