// Package table describes destination tables: their columns, primary key and
// options, the rules by which a source table finds its destination, and the DDL
// that creates one. It is pure: who asks BigQuery is transforms/catalog.
package table
