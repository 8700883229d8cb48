// Package googlesql translates the everyday part of GoogleSQL, BigQuery's SQL, to
// DuckDB's. It is pure: text comes in, structures and DuckDB's text go out, and tables are
// what a Resolver says.
//
//	statements, err := googlesql.Parse("SELECT id FROM ds.t WHERE DATE(ts) = '2025-03-09'")
//	query := statements[0].(*googlesql.Query)
//	translation, err := query.Translate(googlesql.Options{Resolver: …, Now: time.Now()})
//	rows, err := conn.QueryContext(ctx, translation.SQL) // conn's database has Register's functions
//
// The lexer is memefish's; the parser is a recursive descent over BigQuery's grammar, and
// the translator knows the type of each expression, so that what DuckDB would do in
// another way than BigQuery (NULL's place in an order, division, casts, the parts of
// dates, NaN, LIKE's escapes) is written out, or is one of the functions bq_…, which are
// Go's. What isn't understood is an error that names it and its place.
//
// Statements: queries; INSERT, UPDATE, DELETE and MERGE; CREATE, ALTER and DROP of tables,
// views and schemas; TRUNCATE TABLE; CREATE and DROP SEARCH INDEX; CREATE RESERVATION and
// ASSIGNMENT; EXPORT DATA. Scripts, procedures, functions and models are refused by name.
//
// Queries: WITH [RECURSIVE], set operations, joins, UNNEST, subqueries of all kinds,
// GROUP BY with ROLLUP and ALL, HAVING, QUALIFY, WINDOW, SELECT AS STRUCT and VALUE,
// * EXCEPT and REPLACE, FOR SYSTEM_TIME AS OF, wildcard tables, APPENDS and CHANGES,
// parameters by name and by position. PIVOT, UNPIVOT, TABLESAMPLE, GROUPING SETS, CUBE,
// NATURAL JOIN, COLLATE, lambdas and pipe syntax are refused by name.
//
// Functions: those of function_tables.go, function_special.go, function_aggregate.go and
// function_window.go.
package googlesql
